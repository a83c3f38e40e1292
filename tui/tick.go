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
	tickFrame   tick = iota // next animation frame
	tickToast               // a toast expires
	tickLeader              // the leader key times out
	tickEscape              // the first escape times out
	tickServers             // check the MCP servers again
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

// sendAttention notifies the user while the terminal has no focus, if configured.
func (sv *services) sendAttention(text string) tea.Cmd {
	if !sv.blurred {
		return nil
	}
	bell := ""
	if sv.o.Look.Bell {
		bell = "\a"
	}
	if !sv.o.Look.Attention {
		if bell == "" {
			return nil
		}
		return tea.Raw(bell)
	}
	if s, ok := sv.state.Session(sv.state.Current); ok && s.Title != "" {
		text += ": " + s.Title
	}
	text = strings.ReplaceAll(style.Plain(text).Truncate(120).Text(), ";", ",")
	// Terminals understand one of these and ignore the others.
	return tea.Raw(bell + "\x1b]9;" + text + "\x07\x1b]777;notify;lathe;" + text + "\x07")
}

// drawToasts draws the toasts over the screen.
func (sv *services) drawToasts(th *style.Theme, lines []style.Line) []style.Line {
	rows := sv.stack.View(th, sv.width)
	if len(rows) == 0 {
		return lines
	}
	return drawOver(lines, rows, max(0, sv.width-rows[0].Width()), 1)
}
