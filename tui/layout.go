package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/home"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/sidebar"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/whichkey"
)

// screen is what the root itself knows of the terminal and of what is shown.
type screen struct {
	width, height int
	dirty         bool // something may look different
	last          tea.View
	lines         []style.Line // of the last frame, for selecting with the mouse
	at            frame
	selection     selection
	wheelAt       time.Time // of the last notch
	wheelRun      int       // how many came shortly behind each other

	beat     int // counts while something moves
	beating  bool
	toasting bool
	blurred  bool
	panel    whichkey.Panel
	panelY   int
	side     sidebar.Sidebar
	wants    chat.Show
	themes   themes
	tip      int

	trouble    []string // what is wrong with settings
	allActions []action
}

// frame is where regions are on the screen.
type frame struct {
	chatWidth, chatHeight int
	sideX                 int // 0 without the column
	promptX, promptY      int
	promptWidth           int
	promptHeight          int
	statusY               int
	popupY, popupRows     int
}

// onSide reports whether a cell is of the column at the right, which may lie over the conversation.
func (f *frame) onSide(x, y int) bool {
	return f.sideX > 0 && x >= f.sideX && (f.chatWidth == f.sideX || y < f.chatHeight)
}

// frame is that of the last view; before the first it is guessed.
func (p *program) frame() frame {
	if p.at.chatWidth == 0 {
		return frame{chatWidth: max(1, p.width), chatHeight: max(1, p.height-5)}
	}
	return p.at
}

// View draws the screen, unless it would be the same again.
func (p *program) View() tea.View {
	p.pace.wake()
	if !p.dirty && p.last.Content != "" {
		return p.last
	}
	p.dirty = false
	lines, cursor := p.draw()
	p.lines = lines
	v := tea.NewView(style.Render(p.selection.over(p.theme(), lines)))
	v.AltScreen, v.ReportFocus = true, true
	if p.o.Look.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.Cursor = p.o.Look.Cursor.on(cursor)
	if p.kv.TerminalTitle && !p.o.Look.NoTitle {
		v.WindowTitle = p.windowTitle()
	}
	p.last = v
	return v
}

// on gives a cursor its looks.
func (c Cursor) on(at *tea.Cursor) *tea.Cursor {
	if at == nil {
		return nil
	}
	switch {
	case c.Line:
		at.Shape = tea.CursorBar
	case c.Underline:
		at.Shape = tea.CursorUnderline
	}
	at.Blink = !c.Still
	return at
}

func (p *program) windowTitle() string {
	s, ok := p.state.Session(p.state.Current)
	if !ok || s.Title == "" {
		return "lathe"
	}
	return "lathe | " + style.Plain(s.Title).Truncate(40).Text()
}

// draw makes the rows of the screen and says where the cursor is.
func (p *program) draw() (lines []style.Line, cursor *tea.Cursor) {
	th := p.theme()
	if p.width < 1 || p.height < 1 {
		return nil, nil
	}
	switch {
	case p.review != nil:
		lines = style.Block(p.review.View(th, p.width, p.height), p.width, p.height, th.Background)
	case p.state.Current == "":
		lines, cursor = p.drawHome(th)
	default:
		lines, cursor = p.drawSession(th)
	}
	if p.panel.Shown(p.afterLeader()) {
		lines = p.layKeys(th, lines)
	}
	if p.over != nil {
		lines, cursor = p.layOver(th, lines, p.motion())
	}
	lines = p.layToasts(th, lines)
	if p.width < 20 { // which regions do not know
		for i, l := range lines {
			lines[i] = l.Cut(0, p.width)
		}
	}
	return lines, cursor
}

// drawHome is the screen without a session.
func (p *program) drawHome(th *style.Theme) ([]style.Line, *tea.Cursor) {
	f := frame{chatWidth: p.width, chatHeight: p.height, promptWidth: home.PromptWidth(p.width, p.o.Look.PromptMaxWidth)}
	var prompt []style.Line
	if p.offering() {
		prompt = p.offers.setup.View(th, f.promptWidth)
	} else {
		prompt = p.drawPrompt(th, f.promptWidth, p.over == nil && !p.afterLeader())
		f.promptHeight = len(prompt)
		prompt = append(prompt, p.statusLines(th, f.promptWidth)...)
	}
	info := p.state.Info
	v := home.Values{Dir: p.state.Tilde(info.Directory), Branch: info.Branch, Version: info.Version}
	v.Servers, v.Broken = p.state.ServerCounts()
	switch {
	case p.engine == nil:
		v.Note = "Opening …"
	case len(p.trouble) > 0:
		v.Note, v.Failed = strings.Join(p.trouble, "\n"), true
	case uncounted(info) != "":
		v.Note = uncounted(info)
	case !p.kv.TipsHidden:
		v.Tip = home.Tip(p.tip, p.keys.Label)
	}
	lines, x, y := home.View(th, v, p.width, p.height, prompt, f.promptWidth)
	f.promptX, f.promptY, f.statusY = x, y, y+f.promptHeight
	lines = p.layPopup(th, &f, lines)
	p.at = f
	return lines, p.promptCursor(f)
}

// drawSession is the screen of a session: the conversation, what stands below it, the column at the right.
func (p *program) drawSession(th *style.Theme) ([]style.Line, *tea.Cursor) {
	f := frame{chatWidth: p.width}
	if p.hasSide() {
		f.sideX = max(0, p.width-sidebar.Width)
		if p.width > 120 {
			f.chatWidth = f.sideX
		}
	}
	f.promptWidth = f.chatWidth
	bottom, cursor := p.drawBottom(th, &f)
	f.promptY = max(0, p.height-len(bottom))
	f.chatHeight, f.statusY = f.promptY, f.promptY+f.promptHeight
	if p.asking != nil {
		f.chatHeight = max(0, f.chatHeight-1) // an empty row between what is said and what is asked
	}
	p.at = f
	var said []style.Line
	if o := p.state.Shown(); o != nil {
		said = p.chat().View(o.Transcript, p.env())
		if p.hasBelow() && len(bottom) > 0 && bottom[0] == nil {
			bottom[0] = style.Of("  ↓ more below", style.Fg(th.TextMuted))
		}
	} else {
		said = []style.Line{nil, style.Of("  Reading the session …", style.Fg(th.TextMuted))}
	}
	lines := style.Block(said, f.chatWidth, f.promptY, th.Background)
	p.layScrollbar(th, f, lines)
	lines = append(lines, style.Block(bottom, f.chatWidth, len(bottom), th.Background)...)
	lines = p.layPopup(th, &f, lines)
	if f.sideX > 0 || p.hasSide() {
		lines = p.laySide(th, f, lines)
	}
	p.at = f
	if cursor != nil {
		cursor.Y += f.promptY
	}
	return lines[:min(len(lines), p.height)], cursor
}

// hasBelow reports whether the end of the conversation is out of sight, where there is a row to say so: the one
// above the prompt.
func (p *program) hasBelow() bool {
	return p.asking == nil && p.state.Shown() != nil && !p.chat().AtEnd()
}

// drawBottom is what stands below the conversation: something to answer, the prompt, or a way back.
func (p *program) drawBottom(th *style.Theme, f *frame) (rows []style.Line, cursor *tea.Cursor) {
	if p.asking != nil {
		rows = p.asking.view(th, f.promptWidth, max(3, p.height-2), p.height)
		f.promptHeight = len(rows)
		if x, y, ok := p.asking.cursor(); ok {
			cursor = tea.NewCursor(x, y)
		}
		return rows, cursor
	}
	if p.state.IsChild() {
		rows = append([]style.Line{p.wantedAbove(th)}, p.childFooter(th, f.promptWidth)...)
		f.promptHeight = 1
		return rows, nil
	}
	below := p.statusLines(th, f.promptWidth)
	rows = append([]style.Line{p.retryReason(th, f.promptWidth, below)}, p.drawPrompt(th, f.promptWidth, p.over == nil && !p.afterLeader())...)
	f.promptHeight = len(rows)
	rows = append(rows, below...)
	if x, y, ok := p.edit.Cursor(); ok {
		cursor = tea.NewCursor(x, y+1)
	}
	return rows, cursor
}

func (p *program) drawPrompt(th *style.Theme, width int, focused bool) []style.Line {
	look := editor.Look{Bar: p.agentColor(p.choice.agent), Focused: focused}
	switch {
	case p.edit.InShell():
		look.Bar, look.Placeholder = th.Warning, "A command to run, in your shell"
	case p.state.Current == "":
		look.Placeholder = "What do you want to do?"
	case p.state.Busy(p.state.Current):
		look.Placeholder = "Add something while it works"
	case p.state.HasPausedPrompts():
		look.Placeholder = "What you sent waits: /go goes on with it"
	case p.state.Cut[p.state.Current]:
		look.Placeholder = "This turn was cut off: /go goes on with it"
	}
	return p.edit.View(th, look, width, p.promptMax())
}

// promptMax is how high the prompt may grow.
func (p *program) promptMax() int {
	if n := p.o.Look.PromptMaxHeight; n > 0 {
		return n
	}
	return max(min(6, p.height-4), p.height/3)
}

func (p *program) promptCursor(f frame) *tea.Cursor {
	x, y, ok := p.edit.Cursor()
	if !ok || p.offering() {
		return nil
	}
	return tea.NewCursor(x+f.promptX, y+f.promptY)
}

// layPopup lays what is suggested over what is above the prompt, or below it where there is more room.
func (p *program) layPopup(th *style.Theme, f *frame, lines []style.Line) []style.Line {
	if !p.edit.Suggesting() || p.asking != nil || p.state.IsChild() {
		return lines
	}
	rows := p.edit.Popup(th, f.promptWidth)
	f.popupRows = len(rows)
	f.popupY = f.promptY - len(rows)
	if p.state.Current != "" {
		f.popupY++ // the row above the prompt is empty there
	}
	if f.popupY < 0 {
		f.popupY = f.promptY + f.promptHeight
	}
	return lay(lines, rows, f.promptX, f.popupY)
}

// lay puts rows over others.
func lay(lines, rows []style.Line, x, y int) []style.Line {
	for i, r := range rows {
		if at := y + i; at >= 0 && at < len(lines) {
			lines[at] = lines[at].Over(x, r)
		}
	}
	return lines
}

// layScrollbar shows at the right edge where in the session one is. It counts messages: nobody knows how many
// rows there are.
func (p *program) layScrollbar(th *style.Theme, f frame, lines []style.Line) {
	o := p.state.Shown()
	if !p.kv.Scrollbar || o == nil || len(lines) == 0 {
		return
	}
	first, last, count := p.chat().Extent(o.Transcript)
	if count == 0 {
		return
	}
	n := len(lines)
	from, to := first*n/count, max(first*n/count+1, (last+1)*n/count)
	for y := range lines {
		bar := style.Of("│", style.Fg(th.BorderSubtle))
		if y >= from && y < to {
			bar = style.Of("┃", style.Fg(th.BorderActive))
		}
		lines[y] = lines[y].Over(f.chatWidth-1, bar.On(th.Background))
	}
}

// layOver puts a dialog over the screen, which recedes.
func (p *program) layOver(th *style.Theme, lines []style.Line, frame int) ([]style.Line, *tea.Cursor) {
	o := p.over
	if m, ok := o.box.(interface{ SetFrame(n int) }); ok {
		m.SetFrame(max(0, frame))
	}
	rows := o.box.View(th, p.width, max(1, p.height-2))
	w := 0
	for _, r := range rows {
		w = max(w, r.Width())
	}
	o.width = w
	o.x, o.y = max(0, (p.width-w)/2), max(0, min((p.height-len(rows))/3, p.height-len(rows)))
	for i, l := range lines {
		if !o.clear {
			lines[i] = th.Dim(l)
		}
	}
	lines = lay(lines, rows, o.x, o.y)
	if x, y, ok := o.box.Cursor(); ok {
		return lines, tea.NewCursor(x+o.x, y+o.y)
	}
	return lines, nil
}

func (p *program) layToasts(th *style.Theme, lines []style.Line) []style.Line {
	rows := p.toasts.View(th, p.width)
	if len(rows) == 0 {
		return lines
	}
	return lay(lines, rows, max(0, p.width-rows[0].Width()), 1)
}

// layKeys lays the keys that can come next over the bottom.
func (p *program) layKeys(th *style.Theme, lines []style.Line) []style.Line {
	now := whichkey.Now{AfterLeader: p.afterLeader()}
	if now.AfterLeader {
		now.Title = p.keys.Label(key.Leader)
	}
	for i := range p.allActions {
		if a := &p.allActions[i]; a.name != "" && a.fits(p.state) {
			now.Names = append(now.Names, a.name)
		}
	}
	rows := p.panel.View(th, p.keys, now, p.width, p.height/2)
	p.panelY = p.height - len(rows)
	return lay(lines, rows, 0, p.panelY)
}

// hasSide reports whether the column at the right shows.
func (p *program) hasSide() bool {
	switch p.kv.Sidebar {
	case hidden:
		return false
	case shown:
		return p.width >= 30
	default:
		return p.width > 120
	}
}

func (p *program) laySide(th *style.Theme, f frame, lines []style.Line) []style.Line {
	height := p.height
	if f.chatWidth == p.width { // it lies over the conversation, never over the prompt
		height = f.chatHeight
	}
	rows := p.side.View(th, p.sideValues(), min(p.width, sidebar.Width), height)
	return lay(lines, rows, f.sideX, 0)
}

func (p *program) sideValues() sidebar.Values {
	info := p.state.Info
	v := sidebar.Values{Directory: p.state.Tilde(info.Directory), Branch: info.Branch, Version: info.Version, Servers: p.state.Servers}
	if p.state.Loaded && len(p.state.Providers.Connected) == 0 {
		v.Hint = "No provider is connected: /connect"
	}
	o := p.state.Shown()
	if o == nil {
		return v
	}
	s := o.Transcript.Session()
	if s.Parent == "" {
		v.Title = s.Title
	}
	if s.Share != nil {
		v.Share = s.Share.URL
	}
	v.Todos, v.Files = openTodos(o.Transcript.Todos()), o.Transcript.Diff()
	v.Tokens, v.Window, v.Cost = p.state.Usage(o.Transcript)
	return v
}

// openTodos shows a list only while something of it is open.
func openTodos(all []lathe.Todo) []lathe.Todo {
	for _, t := range all {
		if t.Status != "completed" && t.Status != "cancelled" {
			return all
		}
	}
	return nil
}
