// Package api has the interface between front ends and an engine: engine.Engine implements its
// operations in this process, client.Client over HTTP. `lathe run`, the session commands,
// `lathe mcp serve` and the terminal UI use it and work with either.
//
// It holds interfaces and no behavior; their types are those of package lathe. All calls take a context that
// ends them and are safe for use by many goroutines. A directory is a path on the engine's machine; "" is the
// one that a client was made for.
//
// Start with Engine.
package api

import (
	"context"
	"io"
	"iter"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
)

// Engine is everything that can be done with sessions.
type Engine interface {
	Sessions
	Histories
	Turns
	Asks
	Catalog
	Background
}

// Background is work beside the turns of sessions, and the overview of all sessions.
type Background interface {
	// Tasks lists the background tasks of a session and of those below it, newest first; with "" those of all sessions,
	// and the sessions at work.
	Tasks(ctx context.Context, session lathe.SessionID) ([]lathe.BackgroundTask, error)
	// TaskOutput returns the end of a task's output, at most limit bytes. The ID may be the beginning of one.
	TaskOutput(ctx context.Context, id lathe.TaskID, limit int) (lathe.TaskOutput, error)
	// StopTask ends a running task.
	StopTask(ctx context.Context, id lathe.TaskID) error
	// MoveToBackground lets the running commands and subagents of a session continue in the background, and returns
	// how many there were.
	MoveToBackground(ctx context.Context, session lathe.SessionID) (int, error)
	// Board returns what sessions of all projects are doing, by their last change, newest first.
	Board(ctx context.Context, q lathe.BoardQuery) ([]lathe.BoardEntry, error)
}

// Sessions are the records of sessions.
type Sessions interface {
	Create(ctx context.Context, dir string, in lathe.NewSession) (lathe.Session, error)
	Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	// List returns sessions by their last change, newest first.
	List(ctx context.Context, q lathe.Query) ([]lathe.Session, error)
	// Children returns the sessions whose parent is id.
	Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error)
	// Update changes single members of a record. Over HTTP that is title, metadata, archive and further rules.
	Update(ctx context.Context, id lathe.SessionID, edit lathe.Edit) (lathe.Session, error)
	Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error)
	// Archive takes a session off the list; nil brings it back.
	Archive(ctx context.Context, id lathe.SessionID, at *lathe.Time) (lathe.Session, error)
	// Fork copies the messages before one of them, or all, into a new session of dir, or with "" of the directory
	// of the original. A server knows only the latter.
	Fork(ctx context.Context, dir string, id lathe.SessionID, before lathe.MessageID) (lathe.Session, error)
	// ForkStep copies the messages up to the end of a step, as Fork does.
	ForkStep(ctx context.Context, dir string, id lathe.SessionID, step int) (lathe.Session, error)
	// Remove deletes a session and all below it.
	Remove(ctx context.Context, id lathe.SessionID) error
	// Location returns the project of a directory.
	Location(ctx context.Context, dir string) (lathe.Location, error)
}

// Histories reads the messages and changes of sessions.
type Histories interface {
	// Messages returns the newest messages before a place, at most limit, oldest first. 0 has no limit.
	Messages(ctx context.Context, id lathe.SessionID, before lathe.Position, limit int) (lathe.Page, error)
	Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (lathe.Message, error)
	Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error)
	// Steps lists the newest steps before a number, oldest first.
	Steps(ctx context.Context, id lathe.SessionID, q lathe.StepQuery) (lathe.StepList, error)
	// Diff is what a session changed, or the exchange that a prompt began.
	Diff(ctx context.Context, id lathe.SessionID, prompt lathe.MessageID) ([]lathe.FileDiff, error)
	// Search finds places in the sessions of all projects, newest first.
	Search(ctx context.Context, q lathe.SearchQuery) (lathe.SearchResult, error)
	// Export writes a session as JSON; change may change the record and each message on the way.
	Export(ctx context.Context, id lathe.SessionID, to io.Writer, change func(*lathe.Session, *lathe.Message)) error
	// Statuses returns the status of each session in scope that is not idle.
	Statuses(ctx context.Context, scope lathe.Scope) (map[lathe.SessionID]lathe.Status, error)
	// Interrupted lists the sessions with an interrupted turn.
	Interrupted(ctx context.Context) ([]lathe.SessionID, error)
	// Events streams what happens in scope, after a cursor if one is set, beginning with server.connected. An
	// error is the end of it, but for a *Broken.
	Events(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error]
	// Feed is the word that names the database in cursors; "" until a server's stream has sent
	// it.
	Feed() string
}

// Turns are sessions at work.
type Turns interface {
	// Submit sends a prompt. It is safe when Submit returns; the session answers it in its time.
	Submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error)
	// Prompt is Submit that waits until the session is idle and returns the newest answer.
	Prompt(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error)
	Wait(ctx context.Context, id lathe.SessionID) (lathe.Message, error)
	// SubmitCommand runs a slash command as a prompt, which it returns; Command waits for the answer.
	SubmitCommand(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error)
	Command(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error)
	// Shell runs a shell command of the user and returns when it has ended.
	Shell(ctx context.Context, id lathe.SessionID, in lathe.ShellCommand) (lathe.Message, error)
	// Compact summarizes the history and returns when that is done.
	Compact(ctx context.Context, id lathe.SessionID, req lathe.CompactRequest) error
	// Cancel ends the turn of a session and of all below it.
	Cancel(ctx context.Context, id lathe.SessionID) error
	// Resume continues an interrupted turn.
	Resume(ctx context.Context, id lathe.SessionID) error
	// Undo reverts messages and file changes of a session; Redo restores them.
	Undo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error)
	Redo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error)
	// Rewind brings files, conversation or both to the end of a step, or back to the present.
	Rewind(ctx context.Context, id lathe.SessionID, in lathe.Rewind) (lathe.Rewound, error)
}

// Asks are requests that wait for a person.
type Asks interface {
	// Asks returns the PermissionAsked and QuestionAsked facts in scope.
	Asks(ctx context.Context, scope lathe.Scope) ([]lathe.Fact, error)
	Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error
	Answer(ctx context.Context, id lathe.AskID, answers [][]string) error
	// Dismiss refuses to answer questions.
	Dismiss(ctx context.Context, id lathe.AskID) error
	Grants
}

// Grants are answers to permission requests that are saved for a session or a project.
type Grants interface {
	// Grant allows a request and saves patterns: those given, or without any those that the request proposes.
	Grant(ctx context.Context, id lathe.AskID, scope grant.Scope, patterns []string) error
	// ListGrants returns the grants of the project of a directory and of a session; without one, of all its sessions.
	ListGrants(ctx context.Context, dir string, session lathe.SessionID) ([]grant.Grant, error)
	AddGrant(ctx context.Context, dir string, g grant.Grant) error
	RevokeGrant(ctx context.Context, dir string, g grant.Grant) error
}

// Catalog lists the agents, commands and models of a directory.
type Catalog interface {
	Agents(ctx context.Context, dir string) ([]lathe.Agent, error)
	Commands(ctx context.Context, dir string) ([]lathe.Command, error)
	Skills(ctx context.Context, dir string) ([]lathe.Skill, error)
}

// Local has the operations that only an engine in this process has: it ends with the program,
// which must wait for background work or recover it at the next start. A server does so by
// itself.
type Local interface {
	// BackgroundTasks lists the background tasks of a session that run or have yet to report.
	BackgroundTasks(ctx context.Context, parent lathe.SessionID) ([]lathe.Session, error)
	// RecoverTasks recovers the background tasks of a session whose process died: with resume
	// they continue, otherwise their parent is notified.
	RecoverTasks(ctx context.Context, parent lathe.SessionID, resume bool) error
	// HasMore reports whether a session that reported idle still has work to do.
	HasMore(ctx context.Context, id lathe.SessionID) (bool, error)
	// Drain waits until no session is at work.
	Drain(ctx context.Context) error
	// Accounts returns the spending of a session and of its parents, with their limits.
	Accounts(ctx context.Context, id lathe.SessionID, b lathe.Budget) ([]lathe.Account, error)
}
