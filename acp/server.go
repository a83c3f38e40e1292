package acp

import (
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// The codes of errors that the protocol names beside those of JSON-RPC.
const (
	codeAuthRequired = -32000
	codeNotFound     = -32002
)

// greetingTime is how long a request waits for initialize.
const greetingTime = time.Second

// server answers one client.
type server struct {
	Options
	ctx       context.Context // of the whole conversation
	conn      *jsonrpc.Conn
	connected chan struct{} // closed when conn is set
	opening   sync.WaitGroup
	open      func() (*loop, error) // once
	seed      maphash.Seed
	greeted   chan struct{} // closed when initialize is answered
	greet     func()

	mu        sync.Mutex // guards the fields below
	client    wire.ClientCapabilities
	loggedOut bool
	loop      *loop // nil until the backend is open
}

// newServer makes a server that has not been asked for anything. Its backend opens with the first request that needs it, so
// that an editor that only asks for capabilities leaves no files.
func newServer(ctx context.Context, o Options) *server {
	s := &server{Options: o, ctx: ctx, connected: make(chan struct{}), seed: maphash.MakeSeed(), greeted: make(chan struct{})}
	s.open = sync.OnceValues(s.openLoop)
	s.greet = sync.OnceFunc(func() { close(s.greeted) })
	return s
}

// openLoop opens the backend and starts to follow its events.
func (s *server) openLoop() (*loop, error) {
	b, err := s.Open(s.ctx, s)
	if err != nil {
		return nil, err
	}
	l := newLoop(s, b)
	if err := l.start(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loop = l
	return l, nil
}

// close waits for the loop and closes the backend.
func (s *server) close() error {
	s.opening.Wait()
	s.mu.Lock()
	l := s.loop
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.close()
}

// capabilities returns what the client can do.
func (s *server) capabilities() wire.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// handler answers one method.
type handler func(s *server, ctx context.Context, params json.RawMessage) (any, error)

// methods are the requests that a client may send.
func methods() map[string]handler {
	return map[string]handler{
		"initialize":                method((*server).initialize),
		"authenticate":              method((*server).authenticate),
		"logout":                    method((*server).logout),
		"session/new":               method((*server).newSession),
		"session/load":              method((*server).loadSession),
		"session/resume":            method((*server).resumeSession),
		"session/list":              method((*server).listSessions),
		"session/close":             method((*server).closeSession),
		"session/delete":            method((*server).deleteSession),
		"session/prompt":            method((*server).prompt),
		"session/set_mode":          method((*server).setMode),
		"session/set_config_option": method((*server).setConfigOption),

		// Not in the stable schema; initialize names their capabilities.
		"auth/status":       method((*server).authStatus),
		"session/fork":      method((*server).forkSession),
		"session/archive":   method((*server).archiveSession),
		"session/unarchive": method((*server).unarchiveSession),
		"session/set_title": method((*server).setTitle),
		"session/status":    method((*server).sessionStatus),
	}
}

// method decodes the parameters of a request.
func method[P, R any](f func(*server, context.Context, P) (R, error)) handler {
	return func(s *server, ctx context.Context, params json.RawMessage) (any, error) {
		var p P
		if len(params) == 0 {
			params = json.RawMessage("{}")
		}
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid parameters: " + err.Error()}
		}
		return f(s, ctx, p)
	}
}

// handle answers a request.
func (s *server) handle(ctx context.Context, name string, params json.RawMessage) (json.RawMessage, error) {
	<-s.connected
	h := methods()[name]
	if h == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown method: " + name}
	}
	if err := s.waitGreeting(ctx, name); err != nil {
		return nil, err
	}
	result, err := h(s, ctx, params)
	if err != nil {
		s.Log.Info("acp: request failed", "method", name, "error", err)
		return nil, asError(err)
	}
	return json.Marshal(result)
}

// waitGreeting waits until initialize is answered, which a client need not wait for before it sends more.
func (s *server) waitGreeting(ctx context.Context, name string) error {
	if name == "initialize" {
		return nil
	}
	select {
	case <-s.greeted:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(greetingTime):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "send initialize before " + name}
	}
}

// notify hears a notification. It must not wait.
func (s *server) notify(name string, params json.RawMessage) {
	<-s.connected
	if name != "session/cancel" {
		s.Log.Debug("acp: unknown notification", "method", name)
		return
	}
	var p wire.CancelNotification
	if err := json.Unmarshal(params, &p); err != nil {
		s.Log.Debug("acp: invalid notification", "method", name, "error", err)
		return
	}
	s.mu.Lock()
	l := s.loop
	s.mu.Unlock()
	if l != nil {
		id, number := lathe.SessionID(p.SessionID), s.conn.Received()
		l.cancels.begin(id, number)
		l.work.Go(func() {
			defer l.cancels.end(id)
			l.cancelTurn(id, number)
		})
	}
}

// asError gives an error of ours the code that clients know.
func asError(err error) error {
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return err
	}
	code := jsonrpc.CodeInternal
	switch lathe.CodeOf(err) {
	case lathe.Unauthorized:
		code = codeAuthRequired
	case lathe.NotFound:
		code = codeNotFound
	case lathe.Invalid:
		code = jsonrpc.CodeInvalidParams
	case lathe.Conflict:
		code = jsonrpc.CodeInvalidRequest
	default:
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// invalidf reports a mistake of the client, which gets the code for invalid parameters.
func invalidf(format string, args ...any) error {
	return lathe.Errorf(lathe.Invalid, format, args...)
}

// call asks the client and decodes its answer.
func (s *server) call(ctx context.Context, name string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer, err := s.conn.Call(ctx, name, data)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(answer, result)
}

// update sends a session update.
func (s *server) update(id lathe.SessionID, u wire.SessionUpdate) {
	data, err := json.Marshal(wire.SessionNotification{SessionID: wire.SessionID(id), Update: u})
	if err == nil {
		err = s.conn.Notify(s.ctx, "session/update", data)
	}
	if err != nil && s.ctx.Err() == nil {
		s.Log.Debug("acp: update not sent", "session", id, "error", err)
	}
}
