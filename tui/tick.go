package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/toast"
)

// tick is a time that has come.
type tick int

// What times are for.
const (
	tickBeat    tick = iota // something moves
	tickToast               // a note has been there for long enough
	tickLeader              // the leader is forgotten
	tickEscape              // the first escape is forgotten
	tickTip                 // another tip
	tickServers             // servers of tools have had time to connect
)

// beatTime is how often what moves does.
const beatTime = 100 * time.Millisecond

// after makes a tick come. Nothing ticks while nothing needs to.
func (p *program) after(d time.Duration, what tick) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return what })
}

func (p *program) ticked(t tick) tea.Cmd {
	switch t {
	case tickBeat:
		p.beating = false
		p.beat++
		return p.animate()
	case tickToast:
		p.toasting = false
		p.toasts.Expire(p.now())
		return p.toastTick()
	case tickLeader:
		if !p.afterLeader() {
			p.leader = time.Time{}
		}
	case tickEscape:
	case tickTip:
	case tickServers:
		return p.lookAtServers()
	}
	return nil
}

// animate keeps what moves moving, as long as something does.
func (p *program) animate() tea.Cmd {
	if p.beating || !p.moves() {
		return nil
	}
	p.beating = true
	return p.after(beatTime, tickBeat)
}

// moves reports whether something on the screen moves.
func (p *program) moves() bool {
	if p.over != nil && p.over.spins != nil && p.over.spins() {
		return true
	}
	if p.state.Current == "" {
		return p.engine == nil
	}
	return p.state.Shown() == nil || p.state.Lost == nil && p.state.AnyBusy(p.state.Current)
}

// say shows a note at the top right.
func (p *program) say(v toast.Variant, text string) tea.Cmd {
	p.toasts.Add(toast.Note{Variant: v, Text: text}, p.now())
	return p.toastTick()
}

// sayFor shows a note of somebody else. Paths in it are shown from the directory.
func (p *program) sayFor(t *lathe.TUIToast) tea.Cmd {
	n := toast.Note{Title: t.Title, Text: t.Message, For: time.Duration(t.Duration) * time.Millisecond}
	if dir := p.state.Info.Directory; dir != "" {
		n.Text = strings.ReplaceAll(n.Text, dir+"/", "")
	}
	switch t.Variant {
	case "success":
		n.Variant = toast.Success
	case "warning":
		n.Variant = toast.Warning
	case "error":
		n.Variant = toast.Error
	}
	p.toasts.Add(n, p.now())
	return p.toastTick()
}

// toastTick comes back when a note is to go.
func (p *program) toastTick() tea.Cmd {
	next, ok := p.toasts.Next()
	if !ok || p.toasting {
		return nil
	}
	p.toasting = true
	return p.after(max(next.Sub(p.now()), 50*time.Millisecond), tickToast)
}
