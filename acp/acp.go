// Package acp implements the Agent Client Protocol, with which editors use lathe as their agent.
//
// A Server answers one client over a pair of pipes, one JSON message in each line. It translates between the
// operations of package api and the protocol: an engine in this process or a server behind it are the same to it. It
// keeps no state that matters. All of a session is in the store, so a client can load it after a crash, and other
// front ends can use it at the same time.
//
// One goroutine, the loop, owns all sessions of the client and sends all updates, in the order of the event stream.
// Each request has its own goroutine, and so has each permission request or question that waits for the user. What
// the client has been sent is in a view: it makes updates of events and drops what was sent before, so that live,
// repeated and replayed events give the same result.
//
// Start reading at Serve, then loop.go and view.go. Files named after a thing (diff.go, tool.go, content.go) hold pure
// translations. The types of messages are in package wire.
package acp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// Engine is the backend of a Server.
type Engine interface {
	api.Engine
	api.Host
}

// Backend is an engine with the operations that only the opener of it has.
type Backend struct {
	Engine
	// AddServers connects MCP servers for one session and the sessions below it, until RemoveServers. Both are nil if
	// the engine cannot do that.
	AddServers    func(ctx context.Context, id lathe.SessionID, dir string, servers []wire.MCPServer) error
	RemoveServers func(id lathe.SessionID)
	Close         func() error
}

// Options configure a Server.
type Options struct {
	// Open opens the backend. It is called once, after the first answer. The buffers are the unsaved files of the editor.
	Open    func(ctx context.Context, unsaved Buffers) (Backend, error)
	Version string
	// Dir replaces the directory of every session, for a server on another machine; "" takes the client's.
	Dir   string
	Start string // the directory of the program, for requests without a session
	// Remote says that the engine cannot reach the editor's buffers.
	Remote bool
	// Terminal is the command that shows a file as it grows, for terminals of the client; empty for none.
	Terminal []string
	Temp     string // folder for the output that terminals show; "" is the system's
	Log      *slog.Logger
	Now      func() time.Time
}

// Buffers gives tools access to files that are open in the editor, with changes that are not saved.
type Buffers interface {
	// ReadBuffer returns the text that the editor has for a file. It is not ok if the session has no editor or the
	// editor does not know the file.
	ReadBuffer(ctx context.Context, id lathe.SessionID, path string) (text string, ok bool)
	// CanWriteBuffer reports whether the editor can write files.
	CanWriteBuffer(id lathe.SessionID) bool
	// WriteBuffer has the editor change and save a file.
	WriteBuffer(ctx context.Context, id lathe.SessionID, path, text string) error
}

const (
	maxMessage = 64 << 20 // bytes; images come in messages
	maxPending = 64       // requests of the client at once
	drainTime  = time.Second
	closeTime  = 10 * time.Second
)

// Serve answers a client until it closes its end, or until the context ends.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := newServer(ctx, o)
	s.conn = jsonrpc.Open(in, out, jsonrpc.Config{
		MaxMessage: maxMessage, Concurrent: maxPending, BusyCode: jsonrpc.CodeInternal, Drain: drainTime, AnswerInvalid: true,
		CancelMethod: "$/cancel_request", CancelMember: "requestId",
		Handle: s.handle, Notify: s.notify,
		Skipped: func(why error) { o.Log.Debug("acp: message skipped", "reason", why) },
	})
	close(s.connected)
	select {
	case <-s.conn.Done():
		stop(errClientGone)
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	err := errors.Join(s.conn.Close(), s.close())
	if !errors.Is(cause, errClientGone) {
		return errors.Join(cause, err)
	}
	if why := s.conn.Err(); !errors.Is(why, jsonrpc.ErrClosed) {
		return errors.Join(why, err)
	}
	return err
}

var errClientGone = errors.New("the client closed the connection")
