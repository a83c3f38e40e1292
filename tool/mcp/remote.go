package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// streamTime is how long a server may take to begin the stream of its own messages. One that
	// does not begin it has none.
	streamTime = 2 * time.Second
	// farewellTime limits the request that ends a session.
	farewellTime = time.Second
	// mostRefusal is how much is read of an answer that refuses.
	mostRefusal = 1 << 20
)

// openRemote greets a server over HTTP: the streamable transport, and for servers that do not know
// it the older one.
func (l *conn) openRemote() error {
	home, err := url.Parse(l.p.def.URL)
	if err != nil { // check has read it before
		return errors.New("its address cannot be read")
	}
	l.transport = newAuthTransport(l.p, home, l.fail)
	client := &http.Client{Transport: l.transport, CheckRedirect: redirected}
	err = l.greet(func() (sdk.Transport, error) {
		return &sdk.StreamableClientTransport{Endpoint: l.p.def.URL, HTTPClient: client, MaxEventSize: mostMessage}, nil
	})
	if err == nil {
		return nil
	}
	if status := l.transport.passed(nil).status; l.transport.denial() == nil && l.ctx.Err() == nil && status >= 400 && status < 500 && status != http.StatusForbidden {
		l.transport.passed(func(p *passed) { p.legacy = true })
		older := l.greet(func() (sdk.Transport, error) {
			return &sdk.SSEClientTransport{Endpoint: l.p.def.URL, HTTPClient: client, MaxEventSize: mostMessage}, nil
		})
		if older == nil {
			return nil
		}
	}
	if l.transport.denial() != nil {
		return oauth{l.p}.denied(l.ctx, l.transport.passed(nil).www)
	}
	if status := l.transport.passed(nil).status; status >= 300 {
		err = fmt.Errorf("the server answered %d %s", status, http.StatusText(status))
	}
	return err
}

// redirected stops redirects that give up what the address promised.
func redirected(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 10:
		return errors.New("the server redirects without end")
	case via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
		return errors.New("the server redirects from https to an address that is not")
	}
	return nil
}

// plainTransport is one for remote servers, with deadlines for what is no call.
func plainTransport() http.RoundTripper {
	return &http.Transport{
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 4, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// authTransport sends requests to one remote server: it names them, adds headers and tokens where they
// belong and nowhere else, renews tokens, and bounds what comes back.
type authTransport struct {
	p       *serverEntry
	base    http.RoundTripper
	home    *url.URL
	headers http.Header
	fail    func(error)
	ctx     context.Context // of all requests
	cancel  context.CancelFunc

	mu   sync.Mutex
	last passed
}

// passed is the state of requests so far.
type passed struct {
	status int    // of the last answer to a message
	www    string // the login challenge of a refusal
	barred bool   // a login is needed
	legacy bool   // the older transport is tried
}

func newAuthTransport(p *serverEntry, home *url.URL, fail func(error)) *authTransport {
	r := &authTransport{p: p, base: p.hub.o.Transport, home: home, headers: http.Header{}, fail: fail}
	for name, value := range p.def.Headers {
		r.headers.Set(name, value)
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(p.hub.ctx))
	return r
}

// close gives running requests a moment to end and returns a function that cuts them off.
func (r *authTransport) close() func() {
	limit := time.AfterFunc(farewellTime, r.cancel)
	return func() {
		limit.Stop()
		r.cancel()
	}
}

// passed returns what has come of requests, changed where there is something to change.
func (r *authTransport) passed(change func(*passed)) passed {
	r.mu.Lock()
	defer r.mu.Unlock()
	if change != nil {
		change(&r.last)
	}
	return r.last
}

// denial says that a login is needed, or nil.
func (r *authTransport) denial() error {
	if r.passed(nil).barred {
		return &deniedError{NeedsAuth, errors.New("the server wants a login")}
	}
	return nil
}

// deniedError says that the user must act before the server can be used.
type deniedError struct {
	state State
	err   error
}

func (e *deniedError) Error() string { return e.err.Error() }
func (e *deniedError) Unwrap() error { return e.err }

// RoundTrip sends one request.
func (r *authTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	unbind := context.AfterFunc(r.ctx, cancel)
	release := func() { unbind(); cancel() }
	stream := req.Method == http.MethodGet && !r.passed(nil).legacy
	var limit *time.Timer
	if stream {
		limit = time.AfterFunc(streamTime, cancel)
	}
	resp, err := r.deliver(ctx, req)
	late := limit != nil && !limit.Stop()
	if err != nil || late {
		if resp != nil {
			_ = resp.Body.Close()
		}
		release()
		if late && req.Context().Err() == nil && r.ctx.Err() == nil {
			return &http.Response{
				Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
				Header: http.Header{}, Body: http.NoBody, Request: req,
			}, nil
		}
		return nil, err
	}
	b := &boundedBody{from: resp.Body, left: mostMessage, release: release, fail: r.fail}
	switch kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); {
	case resp.StatusCode >= 400:
		b.left, b.fail = mostRefusal, func(error) {}
	case strings.TrimSpace(kind) == "text/event-stream":
		b.lines = true
	}
	resp.Body = b
	return resp, nil
}

// deliver sends a request with what belongs to it, again if its token was old.
func (r *authTransport) deliver(ctx context.Context, req *http.Request) (*http.Response, error) {
	home := r.isHome(req.URL)
	token := ""
	if home && r.usesLogin() {
		var err error
		if token, err = (oauth{r.p}).token(ctx, ""); err != nil {
			return nil, err
		}
	}
	resp, err := r.send(ctx, req, home, token)
	if err != nil || !home {
		return resp, err
	}
	if resp.StatusCode == http.StatusUnauthorized && token != "" {
		fresh, err := oauth{r.p}.token(ctx, token)
		if err == nil && fresh != "" {
			_ = resp.Body.Close() // its content is known
			if resp, err = r.send(ctx, req, home, fresh); err != nil {
				return nil, err
			}
		}
	}
	if req.Method != http.MethodDelete {
		r.passed(func(p *passed) {
			p.status = resp.StatusCode
			if p.barred = resp.StatusCode == http.StatusUnauthorized && r.usesLogin(); p.barred {
				p.www = resp.Header.Get("WWW-Authenticate")
			}
		})
	}
	return resp, nil
}

// isHome reports whether an address is the server's own, also where that leads from http to https.
func (r *authTransport) isHome(u *url.URL) bool {
	safer := u.Scheme == "https" && r.home.Scheme == "http" && u.Port() == "" && r.home.Port() == ""
	return u.Host == r.home.Host && (u.Scheme == r.home.Scheme || safer)
}

// usesLogin reports whether tokens are for this server: not where the settings give the header.
func (r *authTransport) usesLogin() bool {
	return r.p.hub.o.Tokens != nil && !r.p.def.OAuth.Off && r.headers.Get("Authorization") == ""
}

// send sends a request once.
func (r *authTransport) send(ctx context.Context, req *http.Request, home bool, token string) (*http.Response, error) {
	out := req.Clone(ctx)
	if err := rename(out, req); err != nil {
		return nil, err
	}
	out.Header.Set("User-Agent", "lathe/"+r.p.hub.o.Version)
	if home {
		maps.Copy(out.Header, r.headers)
		if token != "" {
			out.Header.Set("Authorization", "Bearer "+token)
		}
	} else {
		for _, name := range []string{"Authorization", "Cookie", "Mcp-Session-Id"} {
			out.Header.Del(name)
		}
	}
	return r.base.RoundTrip(out)
}

// rename gives the message in a request its real name; see ownPrefix.
func rename(out, req *http.Request) error {
	if req.GetBody == nil || req.Method != http.MethodPost {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if msg, err := jsonrpc.DecodeMessage(data); err == nil {
		if named := outgoing(msg); named != msg {
			if data, err = jsonrpc.EncodeMessage(named); err != nil {
				return err
			}
			label(out.Header, named)
		}
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return nil
}

// label repeats the name in the headers that newer versions of the protocol want.
func label(h http.Header, msg jsonrpc.Message) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || h.Get("Mcp-Method") == "" {
		return
	}
	h.Set("Mcp-Method", req.Method)
	m, _ := membersOf(req.Params)
	for _, p := range m {
		if value := textOf(p.value); (p.name == "name" || p.name == "uri") && value != "" && !strings.ContainsFunc(value, func(c rune) bool { return c < 0x20 || c > 0x7e }) {
			h.Set("Mcp-Name", value)
		}
	}
}

// boundedBody is an answer of bounded size: as a whole, or each line of a stream.
type boundedBody struct {
	from    io.ReadCloser
	left    int
	lines   bool
	run     int // bytes of the line that is being read
	release func()
	fail    func(error)
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.lines {
		if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
			b.run = n - i - 1
		} else {
			b.run += n
		}
		if b.run <= mostMessage {
			return n, err
		}
	} else if b.left -= n; b.left >= 0 {
		return n, err
	}
	b.fail(errLarge)
	_ = b.from.Close() // nothing more of it is wanted
	return 0, errLarge
}

func (b *boundedBody) Close() error {
	defer b.release()
	return b.from.Close()
}
