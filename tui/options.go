package tui

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// Engine is what the program speaks with: an engine in this process, or a server.
type Engine interface {
	api.Engine
	api.Host
}

// Options are what the program begins with. The zero value of most is a good choice.
type Options struct {
	// Open gives the engine. It is called once, after the first frame is on the screen.
	Open func(ctx context.Context) (Engine, error)

	Version string
	Dir     string // shown until the engine says more
	Remote  bool   // the engine goes on when the program ends
	Start   Start
	Look    Look

	Keys  map[string]json.RawMessage // by name, over the defaults
	State string                     // folder for what is remembered between runs; "" remembers nothing
	// Editor is the command that edits a prompt outside, as words; empty has none.
	Editor []string
	// ReleaseTTY is called when that command gets the terminal, and back when it has ended. It may be nil.
	ReleaseTTY func() (back func())
	// FindSetupOptions looks for what someone without a provider could use. It may take a moment.
	FindSetupOptions func(ctx context.Context) []SetupOption
	// ReadFile reads an attachment from this machine, up to a size that is sensible.
	ReadFile func(path string) ([]byte, error)
	// Copy puts a text on the clipboard of this machine by its own means, beside what the terminal does. It may be nil.
	Copy func(text string) error
	// Clipboard reads a picture or a text from the clipboard of this machine; nil data says that there is none. It may
	// be nil.
	Clipboard func(ctx context.Context) (mime string, data []byte)
	// Browse opens a page in the user's browser. It may be nil.
	Browse func(url string) error
	// OnQuit is called when the user wants to leave. It may be nil.
	OnQuit func()
	// Log writes a line where the user does not see it. It may be nil.
	Log func(format string, args ...any)

	In, Out *os.File
	Env     []string // TERM, COLORTERM, NO_COLOR and their like
	Now     func() time.Time
}

// Start says what to show first.
type Start struct {
	Session  lathe.SessionID // this one
	Continue bool            // the last one of the directory
	Fork     bool            // a copy of it
	Prompt   string          // sent when a model is ready
	Agent    string
	Model    string // as provider/model
	Auto     bool   // every permission is given, once each
}

// Look is what settings say of the screen.
type Look struct {
	Theme           string
	ThemeDirs       []string // folders with theme files, nearest first
	Mouse           bool
	ScrollSpeed     float64       // lines a notch; 0 is 3
	Stacked         bool          // diffs never side by side
	LeaderTimeout   time.Duration // 0 is two seconds
	PromptMaxHeight int           // 0 is a third of the screen, 6 at least
	PromptMaxWidth  int           // on the home screen; 0 is 75, below 0 is a share of the screen
	Cursor          Cursor
	Acceleration    bool // a wheel that is turned on and on scrolls faster
	NoTitle         bool // the window keeps its own
	Attention       bool // tell when the terminal is not looked at
	Bell            bool // and ring
}

// Cursor is how the cursor looks.
type Cursor struct {
	Line, Underline bool // instead of a block
	NoBlink         bool // it does not blink
}

// SetupOption is something that somebody without a provider can do.
type SetupOption struct {
	ID, Title, Detail string
	// Do makes it so; afterwards the providers are read again. Nil ends the program with this offer as its end.
	Do func(ctx context.Context) error
	// Login opens the dialog of providers instead.
	Login bool
}

// Result says how the program ended.
type Result struct {
	Session         lathe.SessionID // the one on the screen, if any
	Title           string
	SetupOption     string // the id of an offer that ends the program
	TurnInterrupted bool   // its turn was under way, and ended with the program
	// TTYBlocked says that the terminal takes nothing: whoever writes to it waits, and what puts it in order is not written.
	TTYBlocked bool
}
