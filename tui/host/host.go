// Package host is what the terminal program needs of those who run sessions, in its own words: an engine in
// this process or a server elsewhere, it cannot tell which. It holds the roles and the few types that the
// vocabulary of lathe does not have, and no behaviour.
//
// All calls take a context that ends them and are safe to use from many goroutines. Start with Engine.
package host

import (
	"context"
	"iter"

	"github.com/lathe-agent/lathe"
)

// Engine is everything together, for one directory.
type Engine interface {
	Sessions
	Histories
	Turns
	Asks
	Catalogue
	Logins
	Place
}

// Sessions are the records.
type Sessions interface {
	Create(ctx context.Context, in NewSession) (lathe.Session, error)
	Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	// List returns those of the directory, newest first, or of all directories.
	List(ctx context.Context, q SessionQuery) ([]lathe.Session, error)
	Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error)
	Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error)
	Remove(ctx context.Context, id lathe.SessionID) error
	// Fork copies what was said before a message, or everything.
	Fork(ctx context.Context, id lathe.SessionID, before lathe.MessageID) (lathe.Session, error)
	Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
}

// NewSession is what a session begins with.
type NewSession struct {
	Title string
	Agent string
}

// SessionQuery chooses sessions.
type SessionQuery struct {
	Search string // part of the title
	All    bool   // of all directories of the project
	Limit  int
}

// Histories are what was said and done.
type Histories interface {
	// Messages returns a page, newest last, and what to ask for the one before it, "" when there is none.
	Messages(ctx context.Context, id lathe.SessionID, before string, limit int) (page []lathe.Message, older string, err error)
	Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error)
	// Diff is what a session changed, or the exchange that a prompt began.
	Diff(ctx context.Context, id lathe.SessionID, prompt lathe.MessageID) ([]lathe.FileDiff, error)
	// Statuses are those of the sessions that do something.
	Statuses(ctx context.Context) (map[lathe.SessionID]lathe.Status, error)
	// Interrupted lists the sessions whose turn was cut off.
	Interrupted(ctx context.Context) ([]lathe.SessionID, error)
	// Events go on for ever, from now or from a cursor, over lost connections too. Those are told as a *Broken; every
	// other error is the end.
	Events(ctx context.Context, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error]
}

// Broken says that the connection to the engine is lost, and is being sought; without Err, that it was found.
type Broken struct{ Err error }

// Error says so.
func (b *Broken) Error() string {
	if b.Err == nil {
		return "the connection was found again"
	}
	return "the connection is lost: " + b.Err.Error()
}

// Unwrap is what broke it.
func (b *Broken) Unwrap() error { return b.Err }

// Turns are things to do. All but Shell return when what was asked is written down, not when it is done.
type Turns interface {
	Submit(ctx context.Context, id lathe.SessionID, p Prompt) error
	Command(ctx context.Context, id lathe.SessionID, c Command) error
	Shell(ctx context.Context, id lathe.SessionID, s Shell) error
	Cancel(ctx context.Context, id lathe.SessionID) error
	Resume(ctx context.Context, id lathe.SessionID) error
	Compact(ctx context.Context, id lathe.SessionID, by lathe.ModelRef) error
	// Undo takes back a message and everything behind it, in words and in files. The text of the prompt
	// comes back, and the files that were left alone because somebody else changed them.
	Undo(ctx context.Context, id lathe.SessionID, message lathe.MessageID) (Undone, error)
	Redo(ctx context.Context, id lathe.SessionID) (Undone, error)
}

// Prompt is what a person said.
type Prompt struct {
	ID      lathe.MessageID // made by the caller, so that sending again changes nothing; "" makes one
	Agent   string
	Model   *lathe.ModelRef
	Variant string
	Steer   bool         // into the turn that runs, before its next step, instead of behind it
	Parts   []lathe.Part // texts, files and agents; their ids may be left out
}

// Command is a call of a slash command.
type Command struct {
	Name, Arguments string
	Agent           string
	Model           *lathe.ModelRef
	Variant         string
	Parts           []lathe.Part // files
}

// Shell is a command that a person runs in a session.
type Shell struct {
	Line  string
	Agent string
	Model *lathe.ModelRef
}

// Undone says what became of files.
type Undone struct {
	Session   lathe.Session
	Changed   []string // files that are as they were
	Conflicts []string // files that were left alone
}

// Asks are what waits for a person.
type Asks interface {
	// Asks returns PermissionAsked and QuestionAsked facts, oldest first.
	Asks(ctx context.Context) ([]lathe.Fact, error)
	Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error
	Answer(ctx context.Context, id lathe.AskID, answers [][]string) error
	Dismiss(ctx context.Context, id lathe.AskID) error
}

// Catalogue is what there is to choose from in the directory.
type Catalogue interface {
	Agents(ctx context.Context) ([]lathe.Agent, error)
	Commands(ctx context.Context) ([]lathe.Command, error)
	Skills(ctx context.Context) ([]lathe.Skill, error)
	Providers(ctx context.Context) (Providers, error)
	ToolServers(ctx context.Context) ([]ToolServer, error)
	// ConnectTools switches a server of tools on or off.
	ConnectTools(ctx context.Context, name string, on bool) error
}

// Providers are who serves models.
type Providers struct {
	Connected []Provider        // those that can be used
	All       []Provider        // those that are known, without their models
	Default   map[string]string // the best model of each
	Model     *lathe.ModelRef   // the one that settings name
}

// Provider is one who serves models.
type Provider struct {
	ID, Name string
	Env      []string // variables that hold its key
	Models   []Model
}

// Model is one that can be chosen.
type Model struct {
	Ref             lathe.ModelRef
	Name            string
	Released        string  // a date
	Status          string  // "deprecated", "beta" …, or ""
	Reasoning       bool    // thinks before it answers
	Images          bool    // reads pictures
	Context, Output int     // in tokens; 0 is not known
	In, Out         float64 // dollars for a million tokens; both 0 may be free or not known
	CacheRead       float64
	Variants        []string // levels of reasoning
}

// IsPriced reports whether it is known what the model costs by tokens: the wire has no word for what it does not know,
// for a plan that is paid otherwise, and for a machine of one's own.
func (m Model) IsPriced() bool { return m.In != 0 || m.Out != 0 }

// IsFree reports whether the model costs nothing. Only of this provider a price of nothing says so.
func (m Model) IsFree() bool { return !m.IsPriced() && m.Ref.Provider == "opencode" }

// ToolServer is a server of tools and how it is.
type ToolServer struct {
	Name   string
	Status string // connected, disabled, failed, needs_auth …
	Error  string
	Tools  int
}

// Logins are the ways to get at a provider.
type Logins interface {
	// Methods are the ways to log in, by provider. One that is not named takes a key.
	Methods(ctx context.Context) (map[string][]LoginMethod, error)
	SetKey(ctx context.Context, provider, key string) error
	// Authorize begins a login of the given method.
	Authorize(ctx context.Context, provider string, method int) (Authorization, error)
	// Complete waits for its end; code is what the page showed, if it did.
	Complete(ctx context.Context, provider string, method int, code string) error
}

// LoginMethod is a way to log in.
type LoginMethod struct {
	Browser bool // with a page to open; otherwise with a key
	Label   string
}

// Authorization is what a person must do.
type Authorization struct {
	URL, Instructions string
	WantsCode         bool // a code is to be typed; otherwise the end is noticed
}

// Place is the directory and what is around it.
type Place interface {
	Info(ctx context.Context) (Info, error)
	// SetMode changes the permission mode of the user, and returns the one that counts in the directory.
	SetMode(ctx context.Context, m Mode) (Mode, error)
	// Find returns files and folders (with a slash at their end) whose path fits a query, best first.
	Find(ctx context.Context, query string, limit int) ([]string, error)
	// Changes is what version control has to say.
	Changes(ctx context.Context, from Source) ([]lathe.FileDiff, error)
}

// Mode is a permission mode: what is allowed where no rule of the user says otherwise.
type Mode string

// The permission modes.
const (
	AskMode      Mode = "ask"
	SandboxMode  Mode = "sandbox"
	ReadOnlyMode Mode = "read-only"
)

// Source says against what files are compared.
type Source int

// The sources of changes.
const (
	Uncommitted Source = iota // against the last commit
	Branch                    // against where the branch began
)

// Info is where we are.
type Info struct {
	Directory string // as the engine knows it
	Home      string // of the user there, for ~
	Branch    string
	Version   string
	Trusted   bool   // whether settings of the project count
	Broken    string // a sentence about settings files of the project that were left out; "" is that none was
	Remote    bool   // whether the directory is on another machine, so that its files cannot be opened here

	Mode       Mode // "" is not known
	Confined   bool // whether a kernel sandbox holds commands, as far as it is known
	ChooseMode bool // whether this is the first start and the user is to choose a mode
}
