package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/attention"
	"github.com/lathe-agent/lathe/tui/home"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/sidebar"
	"github.com/lathe-agent/lathe/tui/status"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/whichkey"
)

// screen is the last frame.
type screen struct {
	dirty bool // the screen may have changed
	last  tea.View
	lines []style.Line // of the last frame, for selecting with the mouse
}

// frame holds the positions of the regions on the screen.
type frame struct {
	chatWidth, chatHeight int
	sideX                 int // 0 without the sidebar
	promptX, promptY      int // of the area below the conversation
	inputY                int // of the prompt box
	promptWidth           int
	promptHeight          int
	popupY, popupRows     int
	searchX               int // column of the cursor in the line below the prompt; 0 without a search
}

// onSide reports whether a cell belongs to the sidebar, which may cover the conversation.
func (f *frame) onSide(x, y int) bool {
	return f.sideX > 0 && x >= f.sideX && (f.chatWidth == f.sideX || y < f.chatHeight)
}

// View draws the screen, unless it would be the same again.
func (p *program) View() tea.View {
	p.frameRate.wake()
	if !p.dirty && p.last.Content != "" {
		return p.last
	}
	p.dirty = false
	lines, cursor := p.draw()
	p.lines = lines
	if lines = p.selection.Highlight(lines); p.o.Look.Access.NoColor {
		lines = style.Monochrome(p.look.theme(), lines)
	}
	v := tea.NewView(style.Render(lines))
	v.AltScreen, v.ReportFocus = true, true
	if p.o.Look.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.Cursor = p.o.Look.Cursor.apply(cursor)
	if v.Cursor != nil && p.overlays.current == nil && p.showsPrompt() {
		p.prompt.shapeCursor(v.Cursor)
	}
	if p.look.prefs.TerminalTitle && !p.o.Look.NoTitle {
		v.WindowTitle = attention.Title(p.state)
	}
	v.ProgressBar = p.o.Look.Attention.Progress(p.state)
	p.last = v
	return v
}

// apply sets the shape of a cursor.
func (c Cursor) apply(at *tea.Cursor) *tea.Cursor {
	if at == nil {
		return nil
	}
	switch {
	case c.Line:
		at.Shape = tea.CursorBar
	case c.Underline:
		at.Shape = tea.CursorUnderline
	}
	at.Blink = !c.NoBlink
	return at
}

// draw renders the screen and returns the cursor.
func (p *program) draw() (lines []style.Line, cursor *tea.Cursor) {
	th := p.look.theme()
	if p.width < 1 || p.height < 1 {
		return nil, nil
	}
	switch {
	case p.reviewer.view != nil:
		lines = style.Block(p.reviewer.view.View(th, p.width, p.height), p.width, p.height, th.Background)
	case p.state.Current == "":
		lines, cursor = p.drawHome(th)
	default:
		lines, cursor = p.drawSession(th)
	}
	if p.panel.Shown(p.afterLeader()) {
		lines = p.drawKeyPanel(th, lines)
	}
	p.layOutToasts(th)
	if p.overlays.current != nil {
		lines, cursor = p.overlays.draw(th, lines, p.look.animationFrame())
	}
	if len(p.help.groups) > 0 {
		lines, cursor = p.help.draw(th, lines), nil
	}
	lines = drawOver(lines, p.notes, p.notesX, p.notesY)
	if p.width < 20 { // too narrow for the regions
		for i, l := range lines {
			lines[i] = l.Cut(0, p.width)
		}
	}
	return lines, cursor
}

// drawHome renders the home screen.
func (p *program) drawHome(th *style.Theme) ([]style.Line, *tea.Cursor) {
	f := frame{chatWidth: p.width, chatHeight: p.height, promptWidth: home.PromptWidth(p.width, p.o.Look.PromptMaxWidth)}
	var prompt []style.Line
	if p.setup.isShown() {
		prompt = p.setup.options.panel.View(th, f.promptWidth)
	} else {
		prompt = p.prompt.draw(th, f.promptWidth, p.overlays.current == nil && !p.afterLeader())
		f.promptHeight = len(prompt)
		prompt = append(prompt, p.prompt.lineBelow(th, &f, p.statusBar.values()))
	}
	info := p.state.Info
	v := home.Values{Dir: p.state.Tilde(info.Directory), Branch: info.Branch, Version: info.Version}
	v.Servers, v.Broken = p.state.ServerCounts()
	switch {
	case p.engine == nil:
		v.Note = "Opening …"
	case len(p.look.warnings) > 0:
		v.Note, v.Failed = strings.Join(p.look.warnings, "\n"), true
	case configNotice(info) != "":
		v.Note = configNotice(info)
	case !p.look.prefs.TipsHidden:
		v.Tip = home.Tip(p.tip, p.keys.Label)
	}
	lines, x, y := home.View(th, v, p.width, p.height, prompt, f.promptWidth)
	f.promptX, f.promptY, f.inputY = x, y, y
	lines = p.prompt.drawPopup(th, &f, lines)
	p.at = f
	if p.setup.isShown() {
		return lines, nil
	}
	return lines, p.prompt.cursor(f)
}

// drawSession renders a session: the conversation, the bottom area and the sidebar.
func (p *program) drawSession(th *style.Theme) ([]style.Line, *tea.Cursor) {
	f := frame{chatWidth: p.width}
	if p.column.visible() {
		f.sideX = max(0, p.width-sidebar.Width)
		if p.width > 120 {
			f.chatWidth = f.sideX
		}
	}
	f.promptWidth = f.chatWidth
	bottom, cursor := p.drawBottom(th, &f)
	f.promptY = max(0, p.height-len(bottom))
	f.chatHeight, f.inputY = f.promptY, f.promptY+f.inputY
	if p.asks.current != nil {
		f.chatHeight = max(0, f.chatHeight-1) // an empty row between the conversation and the request
	}
	p.at = f
	var said []style.Line
	if o := p.state.Shown(); o != nil {
		said = p.conversation.chat().View(o.Transcript, p.conversation.env())
		if p.showsPrompt() { // the scroll position is known now
			v := p.statusBar.values()
			v.MoreBelow = !p.conversation.chat().AtEnd()
			bottom[f.inputY-f.promptY-1] = status.Activity(th, v, f.promptWidth, p.now())
		} else if p.asks.current == nil && p.scroller.active() && !p.conversation.chat().AtEnd() {
			bottom[0] = style.Of("  ↓ more below", style.Fg(th.TextMuted))
		}
	} else {
		said = []style.Line{nil, style.Of("  Loading the session …", style.Fg(th.TextMuted))}
	}
	lines := style.Block(said, f.chatWidth, f.promptY, th.Background)
	p.conversation.drawScrollbar(th, f, lines)
	lines = append(lines, style.Block(bottom, f.chatWidth, len(bottom), th.Background)...)
	if p.showsPrompt() {
		lines = p.prompt.drawPopup(th, &f, lines)
	}
	if f.sideX > 0 || p.column.visible() {
		lines = p.column.draw(th, f, lines)
	}
	p.at = f
	if cursor != nil {
		cursor.Y += f.promptY
	} else if p.showsPrompt() {
		cursor = p.prompt.cursor(f)
	}
	return lines[:min(len(lines), p.height)], cursor
}

// showsPrompt reports whether the prompt is on the screen of a session, and no request or footer in its place.
func (p *program) showsPrompt() bool {
	return p.asks.current == nil && !p.state.IsChild() && !p.scroller.active()
}

// drawBottom renders the area below the conversation: a request, the prompt, or the subagent footer.
func (p *program) drawBottom(th *style.Theme, f *frame) (rows []style.Line, cursor *tea.Cursor) {
	if p.asks.current != nil {
		rows = p.asks.current.view(th, f.promptWidth, max(3, p.height-2), p.height)
		f.promptHeight = len(rows)
		if x, y, ok := p.asks.current.Cursor(); ok {
			cursor = tea.NewCursor(x, y)
		}
		return rows, cursor
	}
	if p.scroller.active() {
		rows, cursor = p.scroller.draw(th, f.promptWidth)
		f.promptHeight = len(rows)
		return rows, cursor
	}
	if p.state.IsChild() {
		rows = append([]style.Line{p.asks.parentNotice(th)}, status.Footer(th, p.statusBar.childValues(), f.promptWidth)...)
		f.promptHeight = 1
		return rows, nil
	}
	v := p.statusBar.values()
	if p.isTall() || v.Busy { // else the row of the activity is empty
		rows = append(rows, nil)
	}
	rows = append(rows, nil) // the activity is drawn when the conversation is
	f.inputY = len(rows)
	rows = append(rows, p.prompt.draw(th, f.promptWidth, p.overlays.current == nil && !p.afterLeader())...)
	f.promptHeight = len(rows)
	rows = append(rows, p.prompt.lineBelow(th, f, v))
	if p.isTall() {
		rows = append(rows, nil)
	}
	return rows, nil
}

// drawOver draws rows over others at a position.
func drawOver(lines, rows []style.Line, x, y int) []style.Line {
	for i, r := range rows {
		if at := y + i; at >= 0 && at < len(lines) {
			lines[at] = lines[at].Over(x, r)
		}
	}
	return lines
}

// drawKeyPanel draws the available keys over the bottom.
func (p *program) drawKeyPanel(th *style.Theme, lines []style.Line) []style.Line {
	now := whichkey.Context{AfterLeader: p.afterLeader()}
	if now.AfterLeader {
		now.Title = p.keys.Label(key.Leader)
	}
	for _, a := range p.menu.actions {
		if a.name != "" && a.isAvailable(p.state) {
			now.Names = append(now.Names, a.name)
		}
	}
	rows := p.panel.View(th, p.keys, now, p.width, p.height/2)
	p.panelY = p.height - len(rows)
	return drawOver(lines, rows, 0, p.panelY)
}
