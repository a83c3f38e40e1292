package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/review"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// program is the root: it holds the regions and routes between them, the engine and the terminal.
type program struct {
	o      Options
	ctx    context.Context // of the program's whole life; calls end with it
	calls  calls
	pace   pace
	engine host.Engine // nil until it is open
	feed   *feed
	keys   *key.Map
	memory *memory.Memory
	state  *state.State
	ids    *lathe.IDs

	screen
	chats     map[lathe.SessionID]*chat.Chat
	drafts    map[lathe.SessionID]editor.Draft
	edit      *editor.Editor
	over      *overlay // what lies over the rest
	asking    *asking  // what waits for an answer on this screen
	review    *review.Review
	reviewing source
	reviewAt  string // the file to begin with
	toasts    toast.Stack
	choice    choice
	kv        kv
	used      memory.Models
	pins      []lathe.SessionID
	mentions  memory.Mentions
	history   []editor.Draft
	offers    offers

	approved map[lathe.AskID]bool // given without asking, where the user has said so

	leader     time.Time      // when the leader was pressed; zero when it was not
	interrupt  time.Time      // when interrupting was asked for the first time
	beginning  bool           // the beginning of the session is wanted, and not read yet
	carry      bool           // what is typed goes along to the session that comes: it is meant for that one
	early      *editor.Submit // sent before there was anybody to answer
	leaving    time.Time      // when leaving was asked for the first time while a turn was under way
	lastBatch  time.Time
	serverWait time.Duration // until servers of tools are looked at again
	broughtUp  string        // what an undo put into the prompt
	offer      string
	deaf       bool // the terminal took nothing at the end
	fatalError error
}

// newProgram makes the program without looking at anything outside of it: the first frame must come at once.
func newProgram(ctx context.Context, o Options) *program {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &program{
		o: o, ctx: ctx, feed: newFeed(), ids: lathe.NewIDs(), state: state.New(), memory: memory.Open(o.State),
		chats: map[lathe.SessionID]*chat.Chat{}, drafts: map[lathe.SessionID]editor.Draft{},
	}
	p.state.Info = host.Info{Directory: o.Dir, Version: o.Version}
	var err error
	if p.keys, err = key.New(o.Keys); err != nil {
		p.trouble = append(p.trouble, err.Error())
	}
	p.edit = editor.New(p.keys)
	p.begin()
	return p
}

// Init opens the engine behind the first frame.
func (p *program) Init() tea.Cmd {
	return tea.Batch(tea.Raw(ansi.SetModeLightDark), tea.RequestBackgroundColor, tea.RequestForegroundColor, p.openEngine(), p.recall())
}

// Update takes what happened to who has to do with it.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	p.dirty = true
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p, p.pressed(msg)
	case batch:
		return p, p.told(msg)
	case answered:
		return p, p.answer(msg)
	case tea.PasteMsg:
		return p, p.pasted(msg.Content)
	case tea.ClipboardMsg:
		return p, p.pasted(msg.Content)
	case tea.MouseMsg:
		return p, p.mouse(msg)
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
	case tea.FocusMsg:
		p.blurred = false
		return p, tea.RequestBackgroundColor // it may have gone from light to dark meanwhile
	case tea.BlurMsg:
		p.blurred = true
	case tea.BackgroundColorMsg:
		p.sawBackground(msg.Color, msg.IsDark())
	case tea.ForegroundColorMsg:
		p.sawForeground(msg.Color)
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		return p, tea.RequestBackgroundColor // which tells the colour, too
	case tick:
		return p, p.ticked(msg)
	default:
		p.dirty = false
	}
	return p, nil
}

// now is the time as the program has it.
func (p *program) now() time.Time { return p.o.Now() }

// chat is the view of the session on the screen.
func (p *program) chat() *chat.Chat {
	c := p.chats[p.state.Current]
	if c == nil {
		c = chat.New()
		p.chats[p.state.Current] = c
	}
	return c
}
