// Package tool defines the Tool interface and the handling of every call.
//
// It owns the description of a tool for a model (a schema made from a Go type), the check of
// arguments, the repair of names, the limit on output, and the list of tools that a set of
// rules leaves visible. It neither decides on permissions nor writes to a session: a tool
// reaches the engine through its [Call].
//
// A Tool and a Set are safe for use by many goroutines; a Call belongs to one run.
//
// Start reading here, then define.go and set.go.
package tool

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Tool is something a model may call.
type Tool interface {
	// Spec describes the tool; it does not change.
	Spec() Spec
	// Run does it. A failure the model should know of is made by [Failf]; any other error
	// is a cancellation, a refusal of [Call.Ask], or a bug.
	Run(ctx context.Context, c *Call) (Result, error)
}

// Spec is how a tool presents itself.
type Spec struct {
	Name        string
	Description string          // for the model
	Schema      json.RawMessage // of the input, an object
	// Permission is the name under which rules hide the tool; "" is its own name.
	Permission string
	// Hidden tools are run when called and never shown to a model.
	Hidden bool
	// Tail keeps the end of a long output instead of its beginning.
	Tail bool
	// Agent says that a call is the work of a whole agent, and may take as long as one.
	Agent bool
	// Child says that only sessions with a parent have it.
	Child bool
	// Freeform says that models trained for it may write the input as plain text.
	Freeform *Freeform
	// Anywhere says that a call may change any file, not only those it names to Changing.
	Anywhere bool
}

// Freeform is an input that is one plain text: the member Argument of the JSON input.
type Freeform struct {
	Argument string
	Grammar  string // in Lark's notation
}

// Result is the result of a call.
type Result struct {
	Title       string
	Output      string          // for the model
	Metadata    json.RawMessage // an object, for clients; nil is {}
	Attachments []*lathe.File
}

// Call is one call of a tool, and its way back to the session.
type Call struct {
	Session lathe.SessionID
	Message lathe.MessageID
	ID      string // the call's, as the model knows it
	Agent   string
	Model   lathe.ModelRef
	Dir     string // the session's directory; relative paths start here
	Root    string // the top of the checkout, "/" if there is none
	Input   json.RawMessage
	// Mentioned says that the user named a subagent in the prompt: it may be called unasked.
	Mentioned bool
	// External describes the machine outside of Dir and Root; nil means unknown.
	External *External

	Host Host
}

// Host has the engine's operations for a running tool.
type Host interface {
	// Ask returns when the call may continue. People see several requests as one question. A refusal is an error, which
	// the tool returns.
	Ask(ctx context.Context, all ...Permission) error
	// Allowed reports whether Ask would return at once, without a question and without an error.
	Allowed(p Permission) bool
	// AskUser asks the user and returns the answers, one list for each question.
	AskUser(ctx context.Context, qs []lathe.Question) ([][]string, error)
	// Progress shows what the call is doing: "" and nil leave title and metadata as they are.
	Progress(title string, metadata json.RawMessage)
	// SetTodos replaces the session's list.
	SetTodos(ctx context.Context, list []lathe.Todo) error
	// BeginChange is called right before files are written or removed, by their real paths, so
	// that it can be undone, and done when they are, or when that failed. After an error
	// nothing must be changed.
	BeginChange(ctx context.Context, paths ...string) (done func(), err error)
	// PlanFile is the path of the session's plan, as users see it.
	PlanFile() string
	// SwitchAgent continues the session with another agent after this step, with this text as its prompt.
	SwitchAgent(ctx context.Context, agent, text string) error
	// Delegate has another agent work in its own session and returns its report, or at once if
	// that works in the background. An error belongs to the call; the report has the agent's
	// own error.
	Delegate(ctx context.Context, a Assignment) (Report, error)
	// AskParent asks the session that delegated work to this one, and returns what the model reads as the result.
	AskParent(ctx context.Context, question string) (string, error)
	// Background lets the call continue after its result; nil where it cannot.
	Background() Background
	// Publish publishes an event, such as a changed file.
	Publish(f lathe.Fact)
	// History returns the conversation as this step saw it. It must not be changed.
	History() []lathe.Message
}

// NoSession is the part of a Host that a call outside of a session cannot have. Embed it, and add Ask and Allowed.
type NoSession struct{}

// AskUser fails: no user can answer.
func (NoSession) AskUser(context.Context, []lathe.Question) ([][]string, error) {
	return nil, Failf("No user is available to answer.")
}

// Progress shows nothing.
func (NoSession) Progress(string, json.RawMessage) {}

// SetTodos keeps no list.
func (NoSession) SetTodos(context.Context, []lathe.Todo) error { return nil }

// BeginChange keeps nothing for an undo.
func (NoSession) BeginChange(context.Context, ...string) (func(), error) { return func() {}, nil }

// PlanFile is none.
func (NoSession) PlanFile() string { return "" }

// SwitchAgent fails: no session continues.
func (NoSession) SwitchAgent(context.Context, string, string) error {
	return Failf("No session to continue.")
}

// Delegate fails: no session waits for a report.
func (NoSession) Delegate(context.Context, Assignment) (Report, error) {
	return Report{}, Failf("No session to delegate from.")
}

// AskParent fails: no session has delegated anything.
func (NoSession) AskParent(context.Context, string) (string, error) {
	return "", Failf("No parent session to ask.")
}

// Background is nil: no session is told the end.
func (NoSession) Background() Background { return nil }

// Publish publishes nothing.
func (NoSession) Publish(lathe.Fact) {}

// History is empty.
func (NoSession) History() []lathe.Message { return nil }

// Permission is a permission request of a tool.
type Permission struct {
	Name     string
	Patterns []string
	Always   []string        // patterns that "always" would allow from then on
	Metadata json.RawMessage // shown with the question; nil is {}

	// Also are other spellings of the same. They need no rule that allows them, but one that
	// denies one of them denies the request.
	Also []string
	// Maybe are patterns that have * where something is not known. What a rule could deny or
	// ask about in them is asked.
	Maybe []string
	// Written are, for each of the patterns, other ways in which it is written that rules may
	// allow or ask about: a later rule for one of them counts before one for the pattern.
	Written [][]string
	// RequiredPrefix are, for each of the patterns, how it begins in a rule that may allow it, without
	// wildcards; "" is any way. A rule for everything, "*", allows it all the same.
	RequiredPrefix []string
	// ExplicitOnly says that rules for everything, "*", do not speak of it: only what a rule names is
	// asked about or denied.
	ExplicitOnly bool
	// Server is how the names of tools of the same MCP server begin, and Servers how those of all of
	// them do, without the last _. A rule that names another server does not allow the request.
	Server  string
	Servers []string
	// Unparsed says that the effect of the request is unknown: no rule allows it.
	Unparsed bool
}

// External is the tools' view of the machine outside of a project. A nil one knows nothing.
type External struct {
	// Readable returns the folders and files that are read unasked, by real paths: toolchains and
	// packages, which are the same for everyone.
	Readable func() []string
	// Secret says why a real path is never read without a question.
	Secret func(path string) (why string, ok bool)
	// Temp returns the folder that commands of a call have as /tmp: one of the session, or the
	// machine's own where commands have that. "" means that /tmp is like any other folder.
	Temp func(c *Call) string
	// RealTemp are folders below /tmp that stay what they are, such as the user's own.
	RealTemp []string
	// Locked reports whether a real path may not be changed during a run, whatever rules allow; nil locks none.
	Locked func(path string) bool
	// Hidden reports whether a real path is not read during a run, whatever rules allow; nil hides none. Secret has it, too.
	Hidden func(path string) bool
}
