package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// tick is a timer message.
type tick int

// The timers.
const (
	tickFrame     tick = iota // next animation frame
	tickToast                 // a toast expires
	tickLeader                // the leader key times out
	tickEscape                // the first escape times out
	tickServers               // check the MCP servers again
	tickLanguages             // read the language servers
)

// animation counts the frames of animations.
type animation struct {
	frameCount int // counts while something is animated
	ticking    bool
	isMoving   func() bool
}

// toasts shows the toasts at the top right.
type toasts struct {
	stack           toast.Stack
	expiryScheduled bool // a timer for the next expiry runs
	notes           []style.Line
	notesX, notesY  int // where they were drawn
}

// animationInterval is the time between animation frames.
const animationInterval = 100 * time.Millisecond

// after starts a timer. None runs while idle.
func (sv *services) after(d time.Duration, what tick) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return what })
}

// handleTick handles a timer.
func (p *program) handleTick(t tick) tea.Cmd {
	switch t {
	case tickFrame:
		p.ticking = false
		p.frameCount++
		return p.animate()
	case tickToast:
		p.expiryScheduled = false
		p.stack.Expire(p.now())
		return p.expireToasts()
	case tickLeader:
		if !p.afterLeader() {
			p.leader = time.Time{}
		}
	case tickEscape:
	case tickServers:
		return p.catalog.recheckServers()
	case tickLanguages:
		return p.catalog.loadLanguages()
	}
	return nil
}

// animate schedules the next frame while something is animated.
func (sv *services) animate() tea.Cmd {
	if sv.ticking || !sv.isMoving() {
		return nil
	}
	sv.ticking = true
	return sv.after(animationInterval, tickFrame)
}

// hasMotion reports whether something on the screen is animated.
func (p *program) hasMotion() bool {
	if p.overlays.current != nil && p.overlays.current.isAnimated != nil && p.overlays.current.isAnimated() {
		return true
	}
	if p.state.Current == "" {
		return p.engine == nil
	}
	return p.state.Shown() == nil || p.state.ConnectionError == nil && p.state.AnyBusy(p.state.Current)
}

// notify shows a toast.
func (sv *services) notify(v toast.Variant, text string) tea.Cmd {
	sv.stack.Add(toast.Note{Variant: v, Text: text}, sv.now())
	return sv.expireToasts()
}

// showToast shows a toast from the engine, with paths relative to the directory.
func (sv *services) showToast(t *lathe.TUIToast) tea.Cmd {
	n := toast.Note{Title: t.Title, Text: t.Message, For: time.Duration(t.Duration) * time.Millisecond}
	if dir := sv.state.Info.Directory; dir != "" {
		n.Text = strings.ReplaceAll(n.Text, dir+"/", "")
	}
	n.Variant = map[string]toast.Variant{"success": toast.Success, "warning": toast.Warning, "error": toast.Error}[t.Variant] // anything else is info
	sv.stack.Add(n, sv.now())
	return sv.expireToasts()
}

// expireToasts schedules the expiry of the next toast.
func (sv *services) expireToasts() tea.Cmd {
	next, ok := sv.stack.Next()
	if !ok || sv.expiryScheduled {
		return nil
	}
	sv.expiryScheduled = true
	return sv.after(max(next.Sub(sv.now()), 50*time.Millisecond), tickToast)
}

// layOutToasts draws the toasts for the free area at the top: beside the sidebar, above the prompt, and above an open
// dialog, which moves below them. So they cover no border.
func (p *program) layOutToasts(th *style.Theme) {
	width, rows := p.width, p.at.promptY
	switch {
	case p.reviewer.view != nil:
		rows = p.height - 1
	case p.overlays.current != nil:
		rows = p.height / 3
	case p.at.popupRows > 0 && p.at.popupY < p.at.promptY:
		rows = p.at.popupY
	case p.panel.Shown(p.afterLeader()):
		rows = min(rows, p.panelY)
	}
	if p.at.sideX > 0 && p.at.chatWidth == p.at.sideX {
		width = p.at.sideX
	}
	p.notes = p.stack.View(th, width, rows)
	if p.notesX, p.notesY = width, 0; len(p.notes) > 0 {
		p.notesX -= p.notes[0].Width()
		p.notesY = min(1, rows-len(p.notes))
	}
}
