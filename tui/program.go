package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/worktree"
)

// program is the root model: it routes messages to the regions of the screen, and lays them out.
type program struct {
	*services
	screen
	keyboard
	pointer
	regions
	features

	feed       *feed
	frameRate  frameRate
	lastBatch  time.Time
	ttyBlocked bool // the terminal accepted no output at the end
	fatalError error
}

// regions are the parts of the screen: each draws itself and handles its keys.
type regions struct {
	overlays     *overlays
	conversation *conversation
	scroller     *scroller
	prompt       *prompt
	asks         *asks
	reviewer     *reviewer
	setup        *setup
	help         *keyHelp
	column       *sidebarView
	statusBar    *statusBar
}

// features are shared by regions and actions, and have no area of the screen.
type features struct {
	look      *look
	choice    *choice
	drafts    *drafts
	sessions  *sessions
	turns     *turns
	catalog   *catalog
	menu      *menu
	dialogs   *sessionDialogs
	export    *exporter
	reports   *reports
	worktrees *worktree.Controller
}

// newProgram makes the program without any I/O, so that the first frame appears at once.
func newProgram(ctx context.Context, o Options) *program {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &services{o: o, ctx: ctx, state: state.New(), memory: memory.Open(o.State)}
	s.state.Info = api.Info{Directory: o.Dir, Version: o.Version}
	p := &program{services: s, feed: newFeed()}
	s.isMoving = p.hasMotion
	var err error
	s.keys, err = key.New(o.Keys)
	p.wireParts()
	if err != nil {
		p.look.warnings = append(p.look.warnings, err.Error())
	}
	p.drafts.edit.SetDir(o.Dir)
	p.menu.actions = slices.Concat(sessionActions(p), messageActions(p), modelActions(p), promptActions(p), viewActions(p), appActions(p))
	p.menu.setCommands(nil)
	p.look.apply()
	p.tip = int(p.now().Unix() / 60)
	return p
}

// wireParts makes the regions and features, and connects them.
func (p *program) wireParts() {
	s, f, r := p.services, &p.features, &p.regions
	f.drafts = &drafts{services: s, edit: editor.New(s.keys), saved: map[lathe.SessionID]editor.Draft{}}
	r.overlays = &overlays{services: s, drafts: f.drafts}
	f.look = &look{services: s, drafts: f.drafts, overlays: r.overlays, prefs: memory.Defaults(), themes: themes{dark: true}}
	f.choice = &choice{services: s, look: f.look, overlays: r.overlays, connect: func() tea.Cmd { return r.setup.providersDialog() }}
	r.conversation = &conversation{services: s, look: f.look, overlays: r.overlays, chats: map[lathe.SessionID]*chat.Chat{}}
	r.scroller = &scroller{services: s, conversation: r.conversation}
	r.conversation.onOlder = r.scroller.searchOn
	r.asks = &asks{services: s, drafts: f.drafts, look: f.look}
	r.reviewer = &reviewer{services: s, look: f.look}
	r.column = &sidebarView{services: s, look: f.look}
	f.turns = &turns{services: s, choice: f.choice, conversation: r.conversation, drafts: f.drafts, look: f.look, overlays: r.overlays}
	r.statusBar = &statusBar{services: s, choice: f.choice, drafts: f.drafts, look: f.look, turns: f.turns}
	f.menu = &menu{services: s, choice: f.choice, drafts: f.drafts, look: f.look, overlays: r.overlays}
	r.setup = &setup{services: s, choice: f.choice, overlays: r.overlays, reloadCatalog: func() tea.Cmd { return f.catalog.load() }}
	r.prompt = &prompt{
		services: s, choice: f.choice, conversation: r.conversation, drafts: f.drafts, look: f.look, menu: f.menu, overlays: r.overlays,
		setup: r.setup, ids: lathe.NewIDs(), feed: p.feed,
	}
	f.catalog = &catalog{
		services: s, asks: r.asks, choice: f.choice, drafts: f.drafts, menu: f.menu, overlays: r.overlays, prompt: r.prompt, setup: r.setup,
	}
	f.catalog.permit = newPermit(f.catalog)

	f.sessions = &sessions{
		services: s, asks: r.asks, catalog: f.catalog, choice: f.choice, conversation: r.conversation, drafts: f.drafts, menu: f.menu,
		prompt: r.prompt, turns: f.turns,
	}
	r.help = &keyHelp{services: s, drafts: f.drafts, on: r}
	f.reports = &reports{services: s, drafts: f.drafts, overlays: r.overlays}
	r.prompt.remember = f.reports.remember
	f.worktrees = newWorktrees(s, f, r)
	f.export = &exporter{services: s, look: f.look, overlays: r.overlays}
	f.turns.editEarlier = func() tea.Cmd { return f.dialogs.editEarlier() }
	f.turns.returnToMain = f.sessions.openParent
	f.dialogs = &sessionDialogs{
		services: s, conversation: r.conversation, export: f.export, look: f.look, overlays: r.overlays, sessions: f.sessions, turns: f.turns,
	}
}

// Init opens the engine after the first frame.
func (p *program) Init() tea.Cmd {
	return tea.Batch(tea.Raw(ansi.SetModeLightDark), tea.RequestBackgroundColor, tea.RequestForegroundColor, p.openEngine(), p.loadPrefs())
}

// Update routes a message to its handler.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	p.dirty = true
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		p.watch.Touch(p.now())
		return p, p.handleKey(msg)
	case batch:
		return p, p.applyEvents(msg)
	case answered:
		return p, p.handleAnswer(msg)
	case tea.PasteMsg:
		return p, p.paste(msg.Content)
	case tea.ClipboardMsg:
		return p, p.paste(msg.Content)
	case tea.MouseMsg:
		p.watch.Touch(p.now())
		return p, p.mouse(msg)
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
		p.watch.Touch(p.now())
	case tea.FocusMsg:
		p.watch.SetFocus(true)
		return p, tea.RequestBackgroundColor // it may have changed between light and dark
	case tea.BlurMsg:
		p.watch.SetFocus(false)
	case tea.BackgroundColorMsg:
		p.look.setBackground(msg.Color, msg.IsDark())
	case tea.ForegroundColorMsg:
		p.look.themes.text, p.look.themes.theme = fromImage(msg.Color), nil
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		return p, tea.RequestBackgroundColor // which reports the color, too
	case tick:
		return p, p.handleTick(msg)
	case searchStep:
		return p, p.scroller.searchOn()
	default:
		p.dirty = false
	}
	return p, nil
}
