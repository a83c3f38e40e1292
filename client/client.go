// Package client calls a lathe server over HTTP with the methods of the engine.
//
// It owns the address, the password, time and size limits of responses, the meaning of wire errors, and event streams
// that reconnect by themselves. It keeps no state of sessions: [lathe.Transcript] folds events into one. For features
// that OpenCode's API lacks (an undo that names its files, rejected prompts, interrupted turns) it uses the routes
// under /lathe, which only lathe servers have.
//
// A Client is safe for use by many goroutines. Background requests (background.go) outlive their call and end with
// Close.
//
// Start reading at New and Client.call, then events.go.
package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/netaddr"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// Options configures a client. All fields are optional.
type Options struct {
	// Directory is the default directory of requests, as a path on the server; "" means the server's own.
	Directory        string
	Username         string // "" is opencode
	Password         string
	TLS              *tls.Config                           // of https addresses
	Proxy            func(*http.Request) (*url.URL, error) // nil uses none
	Timeout          time.Duration                         // for an answer; 0 is a minute. Prompts and streams have none
	IdleTimeout      time.Duration                         // after which a silent stream is dead; 0 is 45 seconds
	ReconnectTimeout time.Duration                         // how long a stream tries to reconnect; 0 is two minutes
	MaxBody          int64                                 // bytes of an answer; 0 is 256 MiB
	// Persistent makes event streams report lost connections and reconnect forever.
	Persistent bool
}

const (
	usualTimeout  = time.Minute
	usualSilence  = 45 * time.Second // four heartbeats and a half
	usualPatience = 2 * time.Minute
	usualBody     = 256 << 20
	dialTime      = 10 * time.Second
)

var (
	_ api.Engine = (*Client)(nil)
	_ api.Host   = (*Client)(nil)
)

// Client calls one server.
type Client struct {
	reports
	background
	grants
	worktrees
	untils
	options Options
	base    string // without a slash at its end
	where   string // for people, without a password
	local   bool
	http    *http.Client
	feed    atomic.Pointer[string] // the word of the last cursor that was seen
	tasks   tasks                  // requests that run on
	ids     *lathe.IDs
}

// New returns a client for an address: http://, https://, or unix:// and the path of a socket. User name and password
// in it win over the options. New sends no request.
func New(address string, o Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "this is not a server address; use http://127.0.0.1:4096 or unix:///path/to/socket")
	}
	if name := u.User.Username(); u.User != nil {
		if word, ok := u.User.Password(); ok {
			o.Password = word
		}
		if name != "" {
			o.Username = name
		}
		u.User = nil
	}
	u.RawQuery, u.Fragment = "", ""
	o.fill()
	c := &Client{options: o, ids: lathe.NewIDs(), where: u.String()}
	c.grants = grants{c.call}
	dialer := &net.Dialer{Timeout: dialTime}
	wire := &http.Transport{
		Proxy: o.Proxy, DialContext: dialer.DialContext, TLSClientConfig: o.TLS, TLSHandshakeTimeout: dialTime,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
	}
	switch {
	case u.Scheme == "unix" && u.Host == "" && u.Path != "":
		path := u.Path
		wire.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "unix", path) }
		c.base, c.local = "http://localhost", true
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		c.base, c.local = strings.TrimRight(u.String(), "/"), netaddr.IsLoopback(u.Hostname())
	default:
		return nil, lathe.Errorf(lathe.Invalid, "%q is not a server address; use http://127.0.0.1:4096 or unix:///path/to/socket", phrase.Shorten(c.where, 100))
	}
	c.http = newHTTP(wire)
	c.reports, c.background, c.worktrees = reports{c.call}, background{c.call}, worktrees{c.call}
	c.untils = untils{c}
	return c, nil
}

// newHTTP returns an HTTP client without redirects, because another host would get the password.
func newHTTP(over http.RoundTripper) *http.Client {
	return &http.Client{Transport: over, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (o *Options) fill() {
	o.Username = cmp.Or(o.Username, "opencode")
	o.Timeout = cmp.Or(max(o.Timeout, 0), usualTimeout)
	o.IdleTimeout = cmp.Or(max(o.IdleTimeout, 0), usualSilence)
	o.ReconnectTimeout = cmp.Or(max(o.ReconnectTimeout, 0), usualPatience)
	o.MaxBody = cmp.Or(max(o.MaxBody, 0), usualBody)
}

// IsLocal reports whether the server is on this machine, so that paths mean the same to both.
func (c *Client) IsLocal() bool { return c.local }

// Address is where the server is, without a password.
func (c *Client) Address() string { return c.where }

// Close ends background requests and closes idle connections.
func (c *Client) Close() error {
	c.tasks.close()
	c.http.CloseIdleConnections()
	return nil
}

// request is one question.
type request struct {
	method, path string
	query        url.Values
	directory    string // "" is the one of the options
	body         any    // a struct of this package; nil means none
	to           any    // where the answer goes; nil drops it
	endless      bool   // an answer may take as long as it takes
	header       *http.Header
	unattended   bool // a rejection that no person gave
}

var errSlow = errors.New("the request timed out")

// call sends a request and reads the response.
func (c *Client) call(ctx context.Context, r request) error {
	if !r.endless {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.options.Timeout, errSlow)
		defer stop()
	}
	req, err := c.prepare(ctx, r)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, c.options.MaxBody+1))
	switch {
	case err != nil:
		return c.unreachable(ctx, err)
	case int64(len(data)) > c.options.MaxBody:
		return lathe.Errorf(lathe.Overflow, "the response of %s to %s %s is longer than %d bytes; request less", c.where, r.method, r.path, c.options.MaxBody)
	case res.StatusCode < 200 || res.StatusCode > 299:
		return c.readError(res, data)
	}
	if r.header != nil {
		*r.header = res.Header
	}
	return c.decode(r, data)
}

// unreachable returns the error for a server that could not be reached or did not finish its response.
func (c *Client) unreachable(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSlow):
		return lathe.Errorf(lathe.Unavailable, "the server at %s did not answer within %s; is it overloaded?", c.where, c.options.Timeout)
	case cause != nil:
		return cause
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // its text repeats the address
	}
	return lathe.Errorf(lathe.Unavailable, "the server at %s cannot be reached: %w; start it with `lathe serve`, or check the address", c.where, err)
}
