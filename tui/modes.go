package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/toast"
)

// chooseMode asks for a permission mode, on the first start. Who closes the dialog takes the default and is
// not asked again.
func (p *program) chooseMode() tea.Cmd {
	usual := host.SandboxMode
	if !p.state.Info.Confined {
		usual = host.AskMode
	}
	set := func(m host.Mode) tea.Cmd {
		p.state.Info.ChooseMode = false
		return tea.Batch(p.setMode(m), p.sendFirst())
	}
	return p.show(&overlay{
		box: dialog.NewFirstMode(p.keys, usual, p.state.Info.Confined), closed: func() tea.Cmd { return set(usual) },
		on: chosen(func(c dialog.Chosen) tea.Cmd { return set(host.Mode(c.ID)) }),
	})
}

// modesDialog changes the permission mode.
func (p *program) modesDialog() tea.Cmd {
	box := dialog.NewModes(p.keys, p.state.Info.Mode, p.state.Info.Confined)
	return p.show(&overlay{box: box, on: chosen(func(c dialog.Chosen) tea.Cmd { return p.setMode(host.Mode(c.ID)) })})
}

// cycleMode goes to the next permission mode.
func (p *program) cycleMode() tea.Cmd {
	if !p.state.Placed { // nobody has told yet
		return nil
	}
	all := []host.Mode{host.AskMode, host.SandboxMode, host.ReadOnlyMode}
	return p.setMode(all[(slices.Index(all, p.state.Info.Mode)+1)%len(all)])
}

// setMode changes the permission mode. It counts from the next tool call on.
func (p *program) setMode(m host.Mode) tea.Cmd {
	p.state.Info.Mode = m // a second press goes on from here
	return p.call("change the permission mode", func(ctx context.Context, e host.Engine) (then, error) {
		is, err := e.SetMode(ctx, m)
		if err != nil {
			return p.learnPlace, err
		}
		return func() tea.Cmd {
			if is == m {
				return nil
			}
			p.state.Info.Mode = is
			return p.say(toast.Warning, "A project or LATHE_CONFIG_CONTENT sets the mode here: it stays "+dialog.ModeTitle(is))
		}, nil
	})
}
