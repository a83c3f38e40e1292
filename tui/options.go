package tui

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/attention"
)

// Engine is the backend of the TUI: an engine in this process, or a server.
type Engine interface {
	api.Engine
	api.Host
}

// Options configure Run. The zero value of most is a good default.
type Options struct {
	// Open returns the engine. It is called once, after the first frame.
	Open func(ctx context.Context) (Engine, error)

	Version string
	Dir     string // shown until the engine reports its directory
	Remote  bool   // the engine keeps running when the TUI exits
	Start   Start
	Look    Look

	Keys  map[string]json.RawMessage // keybinds by name, over the defaults
	State string                     // directory for state kept between runs; "" saves nothing
	// Editor is the command of the external editor, as words; empty for none.
	Editor []string
	// ReleaseTTY is called before the editor takes over the terminal, and back after it exits. It may be nil.
	ReleaseTTY func() (back func())
	// FindSetupOptions finds ways to get started without a provider. It may take a moment.
	FindSetupOptions func(ctx context.Context) []SetupOption
	// ReadFile reads a local attachment, up to a size limit.
	ReadFile func(path string) ([]byte, error)
	// Copy puts a text on the local clipboard, in addition to the escape sequence of the terminal. It may be nil.
	Copy func(text string) error
	// Clipboard reads an image or a text from the local clipboard; nil data means it is empty. It may
	// be nil.
	Clipboard func(ctx context.Context) (mime string, data []byte)
	// Browse opens a page in the user's browser. It may be nil.
	Browse func(url string) error
	// OnQuit is called when the user exits. It may be nil.
	OnQuit func()
	// Log writes a line to the log file. It may be nil.
	Log func(format string, args ...any)

	In, Out *os.File
	Env     []string // TERM, COLORTERM, NO_COLOR and their like
	Now     func() time.Time
}

// Start says which session to open and what to send first.
type Start struct {
	Session  lathe.SessionID // open this session
	Continue bool            // open the last session of the directory
	Fork     bool            // open a fork of it
	Prompt   string          // sent when a model is ready
	Agent    string
	Model    string // as provider/model
	Auto     bool   // auto-approve every permission request
}

// Look is the display config.
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
	Vim             bool // the prompt has the keys of vi
	Acceleration    bool // the wheel accelerates
	NoTitle         bool // do not set the window title
	Attention       attention.Settings
	Access          Access
}

// Access is for people and terminals that cannot use motion or color.
type Access struct {
	Still   bool // no animation, whatever the preferences say
	NoColor bool // attributes instead of colors
	Sixteen bool // the terminal has 16 colors: its own are used, whatever the theme
}

// Cursor is the shape of the cursor.
type Cursor struct {
	Line, Underline bool // instead of a block
	NoBlink         bool // it does not blink
}

// SetupOption is a way to get started without a provider.
type SetupOption struct {
	ID, Title, Detail string
	// Do sets it up; the providers are loaded again afterwards. Nil exits the TUI with this option as the result.
	Do func(ctx context.Context) error
	// Login opens the provider list instead.
	Login bool
}

// Result says how the TUI ended.
type Result struct {
	Session         lathe.SessionID // the one on the screen, if any
	Title           string
	SetupOption     string // the id of an option that exits the TUI
	TurnInterrupted bool   // its turn was running and was interrupted
	// TTYBlocked says that the terminal accepts no output: writers block, and the reset sequence is not written.
	TTYBlocked bool
}
