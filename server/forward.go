package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/workspace"
)

// A node of a cluster answers everything that is in the database, for the sessions of all places. Files, terminals and
// repositories are only where the directory is, so requests about them go to a node that has it.

// locality is which nodes can answer the requests of a route.
type locality int

const (
	unspecified locality = iota // anywhere, unless the family of the route says otherwise
	global                      // about no directory, so every node
	anywhere                    // every node: the answer is in the database
	atPlace                     // a node that has the directory
	atPlaceOr                   // the same, or any while none runs
	atTerminal                  // the one node that has the terminals of the directory
	atTicket                    // the same; a device gets its ticket where it is paired, so that it can be revoked there
)

// at sets the locality of the rows of a family.
func at(l locality, rows []row) []row {
	for i := range rows {
		if rows[i].locality == unspecified {
			rows[i].locality = l
		}
	}
	return rows
}

// readable sets the locality of a family of which something can be read while no node with the directory runs: what
// every project has in common.
func readable(rows []row) []row {
	for i := range rows {
		if r := &rows[i]; r.locality == unspecified && r.method == http.MethodGet {
			r.locality = atPlaceOr
		}
	}
	return at(atPlace, rows)
}

// in sets the locality of one row.
func in(l locality) trait { return func(r *row) { r.locality = l } }

// forwardedHeader marks a request that comes from another node, and goes no further.
const forwardedHeader = "X-Lathe-Forwarded"

// node returns the URL of the node that answers requests about a directory, "" for this one.
func (c *call) node(dir string, l locality) (string, error) {
	find := c.server.node.Find
	if find == nil || l <= anywhere || c.Header.Get(forwardedHeader) != "" {
		return "", nil
	}
	to, err := find(c.Context(), dir, l >= atTerminal)
	if l == atPlaceOr && lathe.CodeOf(err) == lathe.Unavailable {
		return "", nil
	}
	return to, err
}

// subject is the directory that a request is about: that of its session, if the path names one.
func (c *call) subject() (string, error) {
	if c.PathValue("sessionID") == "" {
		return c.directory()
	}
	rec, err := c.session()
	return rec.Directory, err
}

// elsewhere returns the URL of the node that answers this request, "" for this one.
func (c *call) elsewhere() (string, error) {
	if c.server.node.Find == nil || c.row.locality <= anywhere || c.row.locality == atTicket && c.device.ID != "" {
		return "", nil
	}
	dir, err := c.subject()
	if err != nil {
		return "", nil // the handler reports it
	}
	return c.node(dir, c.row.locality)
}

// storedPlace is what the database knows of a directory that other nodes have. ok is false if this one has it.
func (c *call) storedPlace(dir string) (at workspace.Place, p lathe.Project, ok bool, err error) {
	to, err := c.node(dir, atPlace)
	if away := lathe.CodeOf(err) == lathe.Unavailable; !away && (err != nil || to == "") {
		return at, p, false, err
	}
	at = workspace.Place{Directory: dir, Worktree: dir}
	some, err := c.server.engine.List(c.Context(), lathe.Query{Directory: dir, Limit: 1, Archived: lathe.WithArchived})
	if err != nil || len(some) == 0 {
		return at, p, true, err
	}
	at.ProjectID = some[0].Project
	all, err := c.server.engine.Projects(c.Context())
	for _, one := range all {
		if one.ID == at.ProjectID {
			p, at.Worktree = one, one.Worktree
		}
	}
	return at, p, true, err
}

// forward sends the request to another node and its answer to the client. The client has been identified, and has the
// right to it, so the other node gets the password that all nodes share.
func (c *call) forward(address string) error {
	to, err := url.Parse(address)
	if err != nil {
		return lathe.Errorf(lathe.Internal, "the node with this directory has a bad address: %w", err)
	}
	data, err := c.bytes() // as every handler reads it: whole, within limits of size and time
	if err != nil {
		return err
	}
	c.Body, c.ContentLength = http.NoBody, int64(len(data))
	if len(data) > 0 {
		c.Body = io.NopCloser(bytes.NewReader(data))
	}
	c.w.plain = true
	var failed error
	proxy := httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { c.rewrite(r, to) },
		Transport:      c.server.peers,
		FlushInterval:  -1, // of terminals and long answers
		ErrorLog:       slog.NewLogLogger(c.server.options.Log.Handler(), slog.LevelDebug),
		ModifyResponse: c.checkPeerReply,
		ErrorHandler:   func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err },
	}
	proxy.ServeHTTP(c.w, c.Request)
	if failed != nil {
		c.server.options.Log.Warn("another node did not answer", "request", c.w.id, "error", failed)
		return c.lostNode(failed)
	}
	return nil
}

// rewrite addresses a request to a node. What the guard of this one has judged, it does not judge again.
func (c *call) rewrite(r *httputil.ProxyRequest, to *url.URL) {
	r.SetURL(to)
	h := r.Out.Header
	for _, name := range []string{"Origin", "Cookie", "Authorization", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Sec-Fetch-User"} {
		h.Del(name)
	}
	q := r.Out.URL.Query()
	q.Del("auth_token")
	if c.right > anyone {
		q.Del("ticket") // of this node
	}
	r.Out.URL.RawQuery = q.Encode()
	h.Set(forwardedHeader, "1")
	if parent := otlp.Traceparent(r.In.Context()); parent != "" {
		h.Set("Traceparent", parent)
	}
	c.vouch(r.Out)
}

// vouch adds the password that all nodes share to a request for another node, if the client was identified.
func (c *call) vouch(r *http.Request) {
	if g := c.server.guard; c.right > anyone && !g.open {
		r.SetBasicAuth(g.user, c.server.options.Password)
	}
}

// errPeerPassword is the answer of a node that has another password.
var errPeerPassword = errors.New("the other node rejected the password of this one")

// checkPeerReply refuses an answer that is not about the client, and drops headers that this node has set: those that
// are.
func (c *call) checkPeerReply(res *http.Response) error {
	if res.StatusCode == http.StatusUnauthorized && c.right > anyone {
		return errPeerPassword
	}
	for name := range c.w.Header() {
		res.Header.Del(name)
	}
	return nil
}

// submitAt sends a prompt to another node and returns once it is stored. Only that is up to the other node: the answer is
// awaited here, so it comes even if that node dies.
func (c *call) submitAt(address string, id lathe.SessionID, in promptBody) (m lathe.Message, err error) {
	body, err := encode(in)
	if err != nil {
		return m, err
	}
	r, err := http.NewRequestWithContext(c.Context(), http.MethodPost, address+"/lathe/session/"+url.PathEscape(string(id))+"/prompt", bytes.NewReader(body))
	if err != nil {
		return m, lathe.Errorf(lathe.Internal, "the node with this directory has a bad address: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(forwardedHeader, "1")
	if parent := otlp.Traceparent(c.Context()); parent != "" {
		r.Header.Set("Traceparent", parent)
	}
	c.vouch(r)
	res, err := c.server.peers.RoundTrip(r)
	if err != nil {
		return m, c.lostNode(err)
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if err := c.checkPeerReply(res); err != nil {
		return m, c.lostNode(err)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, mostReply))
	if err != nil {
		return m, c.lostNode(err)
	}
	if res.StatusCode != http.StatusOK {
		return m, &problem{status: res.StatusCode, body: json.RawMessage(data)}
	}
	return m, json.Unmarshal(data, &m)
}

// mostReply is how much another node may answer about a prompt, which can hold attachments.
const mostReply = 256 << 20

// lostNode is the error if another node gave no answer. It says whether the request may have taken effect.
func (c *call) lostNode(err error) error {
	if c.Context().Err() != nil {
		return context.Cause(c.Context())
	}
	if errors.Is(err, errPeerPassword) {
		return badStatus(http.StatusBadGateway, string(lathe.Unavailable), "The node with this directory has another password. Set the same LATHE_SERVER_PASSWORD on all nodes.", err)
	}
	text := "The node with this directory did not answer. Try again."
	if c.Method != http.MethodGet && c.Method != http.MethodHead {
		text = "The node with this directory did not answer. The request may have taken effect: look at the session before you repeat it."
	}
	return badStatus(http.StatusBadGateway, string(lathe.Unavailable), text, err)
}

// newPeerTransport returns the connections to other nodes. A node that cannot be reached is given up soon; a turn takes as
// long as it takes.
func newPeerTransport() *http.Transport {
	d := &net.Dialer{Timeout: peerDialTime, KeepAlive: 5 * time.Second}
	return &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: peerDialTime}
}

// peerDialTime is how long a connection to another node may take.
const peerDialTime = 3 * time.Second
