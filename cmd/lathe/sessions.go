package main

import (
	"context"
	"io"
	"iter"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
)

// sessions are what the commands work on: those of an engine in this process, or those
// of a server (attach.go).
type sessions interface {
	records
	histories
	undos
}

// records are sessions as a whole.
type records interface {
	Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	List(ctx context.Context, q lathe.Query) ([]lathe.Session, error)
	Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error)
	Fork(ctx context.Context, dir string, id lathe.SessionID, before lathe.MessageID) (lathe.Session, error)
	Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error)
	Archive(ctx context.Context, id lathe.SessionID, at *lathe.Time) (lathe.Session, error)
	Remove(ctx context.Context, id lathe.SessionID) error
	Locate(ctx context.Context, dir string) (workspace.Place, error)
}

// histories are what was said and done in them.
type histories interface {
	Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (lathe.Message, error)
	Messages(ctx context.Context, id lathe.SessionID, before lathe.Place, limit int) (store.Page, error)
	Diff(ctx context.Context, id lathe.SessionID, prompt lathe.MessageID) ([]lathe.FileDiff, error)
	Export(ctx context.Context, id lathe.SessionID, to io.Writer, change func(*lathe.Session, *lathe.Message)) error
}

// undos are what can be taken back, gone on with and counted.
type undos interface {
	Undo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error)
	Redo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error)
	Interrupted(ctx context.Context) ([]lathe.SessionID, error)
	accounts(ctx context.Context, s lathe.Session) ([]lathe.Account, error)
}

// turns are sessions that can be given something to do.
type turns interface {
	sessions
	Create(ctx context.Context, dir string, in lathe.NewSession) (lathe.Session, error)
	Events(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error]
	Submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error)
	Resume(ctx context.Context, id lathe.SessionID) error
	Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error
	Dismiss(ctx context.Context, id lathe.AskID) error
	companies
	runEnds
}

// companies are those who work for a session, and commands.
type companies interface {
	SubmitCommand(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error)
	// Backgrounds lists the tasks of a session that run in the background, and Collect looks
	// after those whose process has died.
	Backgrounds(ctx context.Context, parent lathe.SessionID) ([]lathe.Session, error)
	Collect(ctx context.Context, parent lathe.SessionID, resume bool) error
	// GoesOn reports whether a session that was told to rest has something to do all the same.
	GoesOn(ctx context.Context, id lathe.SessionID) (bool, error)
}

// runEnds are how a program leaves a turn.
type runEnds interface {
	// wasCut reports whether the session's turn was cut off by the end of a process.
	wasCut(ctx context.Context, id lathe.SessionID) (bool, error)
	// Drain lets work beside the turn come to its end.
	Drain(ctx context.Context) error
	// quit is called when the user wants no more of a turn.
	quit(ctx context.Context, id lathe.SessionID) error
}

// local is an engine of this process.
type local struct {
	*engine.Engine
	app *hostEnv
}

// onSessions runs f on the sessions of this machine, or of the server that --attach names.
func (a *app) onSessions(ctx context.Context, f func(sessions) error) error {
	if a.attach != "" {
		r, err := a.dial()
		if err != nil {
			return err
		}
		return closing(r, f(r))
	}
	return a.with(ctx, func(e *engine.Engine) error { return f(local{e, &a.hostEnv}) })
}

func (l local) wasCut(ctx context.Context, id lathe.SessionID) (bool, error) {
	left, err := l.Store().Interruptions(ctx, id)
	return len(left) > 0, err
}

func (l local) accounts(ctx context.Context, s lathe.Session) ([]lathe.Account, error) {
	return l.app.accounts(ctx, l.Engine, s)
}

// quit leaves the turn to the engine, which settles it when it closes.
func (l local) quit(context.Context, lathe.SessionID) error { return nil }
