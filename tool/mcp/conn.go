package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostMessage is the largest message that is read from a server, in bytes.
const mostMessage = 32 << 20

// The SDK reads answers into types of its own: one odd tool fails a whole list, and the order of a
// schema's members is lost. So requests whose answers come from hostile or careless hands are sent
// under names of our own, for which the SDK hands us the bytes; on the way out (outgoing) they get
// their real names back.
const ownPrefix = "lathe/"

var ownMethods = []string{
	"tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
}

// question holds the parameters of any of these requests.
type question struct {
	sdk.ParamsBase
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Cursor    string          `json:"cursor,omitempty"`
	URI       string          `json:"uri,omitempty"`
}

// answer is the bytes of a result.
type answer struct {
	sdk.ResultBase
	raw json.RawMessage
}

func (a *answer) UnmarshalJSON(b []byte) error {
	a.raw = append(a.raw[:0], b...)
	return nil
}

// outgoing gives a message its real name.
func outgoing(msg jsonrpc.Message) jsonrpc.Message {
	if req, ok := msg.(*jsonrpc.Request); ok {
		if name, ours := strings.CutPrefix(req.Method, ownPrefix); ours {
			named := *req
			named.Method = name
			return &named
		}
	}
	return msg
}

// conn is one connection to a server.
type conn struct {
	confined  bool // its program is; set before it starts
	p         *serverEntry
	ctx       context.Context // ends when the link is closed or given up
	cancel    context.CancelFunc
	session   *sdk.ClientSession
	service   *sandbox.Service // of a local server
	transport *authTransport   // to a remote one
	stale     chan struct{}    // a list has changed
	gone      chan struct{}    // closed when the connection is over

	mu     sync.Mutex
	reason error // why it ended, where we know better than the SDK
	calls  map[string]chan progress
	next   int
}

// progress is a server's progress report for a call.
type progress struct {
	done, total float64
	text        string
}

// dial connects to the server; all of it within its deadline.
func (p *serverEntry) dial(ctx context.Context) (*conn, error) {
	if err := p.def.check(); err != nil {
		return nil, err
	}
	l := &conn{p: p, stale: make(chan struct{}, 1), gone: make(chan struct{}), calls: map[string]chan progress{}}
	l.ctx, l.cancel = context.WithCancel(ctx)
	limit := time.AfterFunc(p.timeout(), func() {
		l.fail(p.slow("to connect"))
		l.cancel()
	})
	open := l.openRemote
	if p.def.local() {
		open = l.openLocal
	}
	err := open()
	if err == nil {
		go func() { // close waits for it
			l.fail(ending(l.session.Wait()))
			close(l.gone)
		}()
	}
	if !limit.Stop() && err == nil {
		err = l.ctx.Err()
	}
	if err != nil {
		err = l.because(tidyError{err})
		l.close()
		return nil, err
	}
	return l, nil
}

// ending is the message for the end of a connection.
func ending(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errEnded
	}
	return tidyError{err}
}

// errEnded says that a server ended the connection without a word.
var errEnded = errors.New("the server closed the connection")

// client makes the client of one connection.
func (l *conn) client() (*sdk.Client, error) {
	changed := func() {
		select {
		case l.stale <- struct{}{}:
		default: // it is known already
		}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "lathe", Version: l.p.hub.o.Version}, &sdk.ClientOptions{
		Logger: slog.New(slog.DiscardHandler), // it would print what servers send
		//lint:ignore SA1019 servers of today ask for roots, those of tomorrow will not
		Capabilities:               &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}},
		MultiRoundTrip:             &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { changed() },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { changed() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { changed() },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if r.Params != nil {
				l.progress(r.Params)
			}
		},
	})
	//lint:ignore SA1019 as above
	c.AddRoots(&sdk.Root{URI: fileURL(l.p.hub.o.Dir), Name: filepath.Base(l.p.hub.o.Dir)})
	for _, m := range ownMethods {
		if err := sdk.AddSendingCustomMethod[*question, *answer](c, ownPrefix+m); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// handshakes are the versions to begin with: that of today's servers, which older ones answer with
// theirs, and for those that refuse it the newest, which asks first and greets after.
var handshakes = []string{"2025-11-25", ""}

// greet begins the session over a transport, which is made for each attempt.
func (l *conn) greet(transport func() (sdk.Transport, error)) error {
	c, err := l.client()
	if err != nil {
		return err
	}
	for _, version := range handshakes {
		var t sdk.Transport
		if t, err = transport(); err != nil {
			return err
		}
		l.session, err = c.Connect(l.ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: version})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeMethodNotFound && wire.Code != sdk.CodeUnsupportedProtocolVersion {
			break
		}
	}
	if err != nil {
		l.session = nil
	}
	return err
}

// ask sends a request and returns the bytes of its result.
func (l *conn) ask(ctx context.Context, method string, q *question) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.ctx, func() { cancel(errLost) })()
	a, err := sdk.CallCustomMethod[*question, *answer](ctx, l.session, ownPrefix+method, q)
	switch {
	case err == nil:
		return a.raw, nil
	case errors.Is(context.Cause(ctx), errLost):
		return nil, &callError{lost, l.because(errLost)}
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && !fromTransport(wire.Code) {
		return nil, &serverError{code: wire.Code, text: clean(phrase.Shorten(wire.Message, mostError))}
	}
	if l.transport != nil {
		if denied := l.transport.denial(); denied != nil {
			l.cancel() // the connection is useless without a login
			return nil, denied
		}
	}
	missing := errors.Is(err, sdk.ErrSessionMissing)
	if missing || l.service != nil {
		defer l.cancel() // it must not be handed out again
	}
	if missing {
		return nil, &callError{unsent, errors.New("the server has forgotten the session")}
	}
	return nil, &callError{lost, l.because(tidyError{err})}
}

// tidyError is an error of the SDK as others may read it: without the names we gave to methods and
// the id of the session, which is a key to it.
type tidyError struct{ err error }

func (e tidyError) Error() string {
	text := strings.ReplaceAll(e.err.Error(), ownPrefix, "")
	for {
		_, rest, ok := strings.Cut(text, `": `)
		if !ok || !strings.HasPrefix(text, `calling "`) && !strings.HasPrefix(text, `sending "`) {
			break
		}
		text = strings.TrimPrefix(rest, "rejected by transport: ")
	}
	if before, rest, ok := strings.Cut(text, " (session ID: "); ok {
		_, after, _ := strings.Cut(rest, ")")
		text = before + after
	}
	return text
}

func (e tidyError) Unwrap() error { return e.err }

// fromTransport reports whether the SDK made an error itself: closing, closed, not delivered.
func fromTransport(code int64) bool { return code <= -32003 && code >= -32005 }

// errLost says that a link was closed by us.
var errLost = errors.New("the connection was closed")

// serverError is an error that a server returned.
type serverError struct {
	code int64
	text string
}

func (e *serverError) Error() string {
	if e.code == 0 { // which is none
		return e.text
	}
	return fmt.Sprintf("%s (code %d)", e.text, e.code)
}

// watch has the progress of a call sent to a channel of one place, the newest last.
func (l *conn) watch() (token string, news <-chan progress, forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	token = strconv.Itoa(l.next)
	c := make(chan progress, 1)
	l.calls[token] = c
	return token, c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.calls, token)
	}
}

func (l *conn) progress(n *sdk.ProgressNotificationParams) {
	l.mu.Lock()
	c := l.calls[fmt.Sprint(n.ProgressToken)]
	l.mu.Unlock()
	if c == nil {
		return
	}
	select {
	case <-c: // only the newest counts
	default:
	}
	select {
	case c <- progress{n.Progress, n.Total, line(n.Message, 200)}:
	default:
	}
}

// fail notes why the connection ends; the first reason counts.
func (l *conn) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason == nil {
		l.reason = err
	}
}

// why is the reason of an end.
func (l *conn) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reason
}

// because is the best reason there is for an error.
func (l *conn) because(err error) error {
	if why := l.why(); why != nil {
		err = why
	}
	var refused *deniedError
	if l.transport != nil && !errors.As(err, &refused) {
		if denied := l.transport.denial(); denied != nil {
			return denied
		}
	}
	if l.service != nil {
		return l.last(err)
	}
	return err
}

func (l *conn) ended() bool {
	select {
	case <-l.gone:
		return true
	default:
		return l.ctx.Err() != nil
	}
}

// close ends the connection and whatever is behind it, and waits for that.
func (l *conn) close() {
	l.cancel()
	if l.service != nil {
		_, _ = l.service.Stop() // how it ended is known, or was our doing
	}
	if l.transport != nil {
		defer l.transport.close()()
	}
	if l.session != nil {
		_ = l.session.Close() // no caller needs the error
		<-l.gone
	}
}
