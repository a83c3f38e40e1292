package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// tick is a time that has come.
type tick int

// What times are for.
const (
	tickFrame   tick = iota // something moves
	tickToast               // a note has been there for long enough
	tickLeader              // the leader is forgotten
	tickEscape              // the first escape is forgotten
	tickServers             // servers of tools have had time to connect
)

// animation moves what moves.
type animation struct {
	frameCount int // counts while something moves
	ticking    bool
	isMoving   func() bool
}

// toasts are what is said at the top right.
type toasts struct {
	stack           toast.Stack
	expiryScheduled bool // a tick comes when one is to go
}

// animationInterval is how often what moves does.
const animationInterval = 100 * time.Millisecond

// after makes a tick come. Nothing ticks while nothing needs to.
func (sv *services) after(d time.Duration, what tick) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return what })
}

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

// animate keeps what moves moving, as long as something does.
func (sv *services) animate() tea.Cmd {
	if sv.ticking || !sv.isMoving() {
		return nil
	}
	sv.ticking = true
	return sv.after(animationInterval, tickFrame)
}

// hasMotion reports whether something on the screen moves.
func (p *program) hasMotion() bool {
	if p.overlays.current != nil && p.overlays.current.isAnimated != nil && p.overlays.current.isAnimated() {
		return true
	}
	if p.state.Current == "" {
		return p.engine == nil
	}
	return p.state.Shown() == nil || p.state.ConnectionError == nil && p.state.AnyBusy(p.state.Current)
}

// notify shows a note at the top right.
func (sv *services) notify(v toast.Variant, text string) tea.Cmd {
	sv.stack.Add(toast.Note{Variant: v, Text: text}, sv.now())
	return sv.expireToasts()
}

// showToast shows a note of somebody else. Paths in it are shown from the directory.
func (sv *services) showToast(t *lathe.TUIToast) tea.Cmd {
	n := toast.Note{Title: t.Title, Text: t.Message, For: time.Duration(t.Duration) * time.Millisecond}
	if dir := sv.state.Info.Directory; dir != "" {
		n.Text = strings.ReplaceAll(n.Text, dir+"/", "")
	}
	n.Variant = map[string]toast.Variant{"success": toast.Success, "warning": toast.Warning, "error": toast.Error}[t.Variant] // others inform
	sv.stack.Add(n, sv.now())
	return sv.expireToasts()
}

// expireToasts comes back when a note is to go.
func (sv *services) expireToasts() tea.Cmd {
	next, ok := sv.stack.Next()
	if !ok || sv.expiryScheduled {
		return nil
	}
	sv.expiryScheduled = true
	return sv.after(max(next.Sub(sv.now()), 50*time.Millisecond), tickToast)
}

// sendAttention tells of something while nobody looks at the terminal, where the user wants that.
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

// drawToasts lays notes over the rest.
func (sv *services) drawToasts(th *style.Theme, lines []style.Line) []style.Line {
	rows := sv.stack.View(th, sv.width)
	if len(rows) == 0 {
		return lines
	}
	return drawOver(lines, rows, max(0, sv.width-rows[0].Width()), 1)
}
