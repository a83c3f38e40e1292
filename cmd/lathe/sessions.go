package main

import (
	"context"
	"io"
	"iter"
	"path/filepath"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/server"
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
	Undo(ctx context.Context, id lathe.SessionID, u server.Undo) (server.Undone, error)
	Redo(ctx context.Context, id lathe.SessionID, u server.Undo) (server.Undone, error)
	Interrupted(ctx context.Context) ([]lathe.SessionID, error)
	accounts(ctx context.Context, s lathe.Session) ([]lathe.Account, error)
}

// turns are sessions that can be given something to do.
type turns interface {
	sessions
	Create(ctx context.Context, dir string, in engine.New) (lathe.Session, error)
	Events(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error]
	Submit(ctx context.Context, id lathe.SessionID, p engine.Prompt) (lathe.Message, error)
	Resume(ctx context.Context, id lathe.SessionID) error
	Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error
	Dismiss(ctx context.Context, id lathe.AskID) error
	companies
	runEnds
}

// companies are those who work for a session, and commands.
type companies interface {
	SubmitCommand(ctx context.Context, id lathe.SessionID, call engine.CommandCall) (lathe.Message, error)
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

// Interrupted lists the sessions whose turn was cut off.
func (l local) Interrupted(ctx context.Context) (ids []lathe.SessionID, err error) {
	all, err := l.Interruptions(ctx)
	for _, i := range all {
		ids = append(ids, i.Session)
	}
	return ids, err
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

// Undo takes back the last exchange that stands, or from the point that is named on.
func (l local) Undo(ctx context.Context, id lathe.SessionID, in server.Undo) (server.Undone, error) {
	s, u, err := l.target(ctx, id, in)
	if err != nil {
		return server.Undone{}, err
	}
	if u.Message == "" {
		prompts, err := promptsOf(ctx, l, id)
		if err != nil {
			return server.Undone{}, err
		}
		if at := undonePlace(prompts, s.Revert); at > 0 {
			u.Message = prompts[at-1]
		}
	}
	if u.Message == "" {
		return server.Undone{}, lathe.Errorf(lathe.NotFound, "there is nothing to undo in %s", id)
	}
	done, err := l.Revert(ctx, id, u)
	return undoneOf(u, done), err
}

// Redo brings back the first exchange that is undone, all before a point, or everything.
func (l local) Redo(ctx context.Context, id lathe.SessionID, in server.Undo) (server.Undone, error) {
	s, u, err := l.target(ctx, id, in)
	if err != nil {
		return server.Undone{}, err
	}
	if s.Revert == nil {
		return server.Undone{}, lathe.Errorf(lathe.NotFound, "nothing is undone in %s", id)
	}
	if u.Message == "" && !in.All {
		prompts, err := promptsOf(ctx, l, id)
		if err != nil {
			return server.Undone{}, err
		}
		at := undonePlace(prompts, s.Revert)
		if s.Revert.Part == "" {
			at++
		}
		if at < len(prompts) {
			u.Message = prompts[at]
		}
	}
	if u.Message == "" {
		done, err := l.Unrevert(ctx, id, engine.Redo{DryRun: in.DryRun})
		return undoneOf(engine.Undo{}, done), err
	}
	done, err := l.Revert(ctx, id, u)
	return undoneOf(u, done), err
}

// target is the point that is named. The engine passes over one that does not exist.
func (l local) target(ctx context.Context, id lathe.SessionID, in server.Undo) (s lathe.Session, u engine.Undo, err error) {
	u = engine.Undo{Message: in.Message, Part: in.Part, DryRun: in.DryRun}
	if s, err = l.Get(ctx, id); err != nil || u.Message == "" && u.Part == "" {
		return s, u, err
	}
	if u.Part == "" {
		_, err := l.Message(ctx, id, u.Message)
		return s, u, err
	}
	found := false
	err = history(ctx, l, id, func(messages []lathe.Message) error {
		for _, m := range messages {
			for _, p := range m.Parts {
				if p.ID == u.Part && (u.Message == "" || u.Message == m.ID) {
					u.Message, found = m.ID, true
				}
			}
		}
		return nil
	})
	if err == nil && !found {
		err = lathe.Errorf(lathe.NotFound, "Part not found: %s; `lathe session show --json` prints their ids", termtext.Plain(string(in.Part)))
	}
	return s, u, err
}

// undoneOf is what an engine did with the files, as clients are told.
func undoneOf(u engine.Undo, done engine.Undone) server.Undone {
	from := u.Message
	if r := done.Session.Revert; r != nil && from != "" && !u.DryRun {
		from = r.Message // an answer goes with the prompt it answers
	}
	out := server.Undone{Message: from, Session: done.Session, Files: []server.UndoneFile{}}
	for _, c := range done.Changes {
		out.Files = append(out.Files, server.UndoneFile{File: filepath.ToSlash(c.Path), Action: action(c), Conflict: c.Conflict, Note: c.Note})
	}
	return out
}
