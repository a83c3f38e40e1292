package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/toast"
)

// chooseMode asks for a permission mode, on the first start. Who closes the dialog takes the default and is
// not asked again.
func (ct *catalog) chooseMode() tea.Cmd {
	usual := lathe.SandboxMode
	if !ct.state.Info.Confined {
		usual = lathe.AskMode
	}
	set := func(m lathe.Mode) tea.Cmd {
		ct.state.Info.ChooseMode = false
		return tea.Batch(ct.setMode(m), ct.prompt.sendFirst())
	}
	return ct.overlays.show(&overlay{
		box: dialog.NewFirstMode(ct.keys, usual, ct.state.Info.Confined), closed: func() tea.Cmd { return set(usual) },
		on: chosen(func(c dialog.Chosen) tea.Cmd { return set(lathe.Mode(c.ID)) }),
	})
}

// modesDialog changes the permission mode.
func (ct *catalog) modesDialog() tea.Cmd {
	box := dialog.NewModes(ct.keys, ct.state.Info.Mode, ct.state.Info.Confined)
	return ct.overlays.show(&overlay{box: box, on: chosen(func(c dialog.Chosen) tea.Cmd { return ct.setMode(lathe.Mode(c.ID)) })})
}

// cycleMode goes to the next permission mode.
func (ct *catalog) cycleMode() tea.Cmd {
	if !ct.state.Placed { // nobody has told yet
		return nil
	}
	all := []lathe.Mode{lathe.AskMode, lathe.SandboxMode, lathe.ReadOnlyMode}
	return ct.setMode(all[(slices.Index(all, ct.state.Info.Mode)+1)%len(all)])
}

// setMode changes the permission mode. It counts from the next tool call on.
func (ct *catalog) setMode(m lathe.Mode) tea.Cmd {
	ct.state.Info.Mode = m // a second press goes on from here
	return ct.call("change the permission mode", func(ctx context.Context, e Engine) (then, error) {
		is, err := e.SetMode(ctx, ct.dir(), m)
		if err != nil {
			return ct.readPlace, err
		}
		return func() tea.Cmd {
			if is == m {
				return nil
			}
			ct.state.Info.Mode = is
			return ct.say(toast.Warning, "A project or LATHE_CONFIG_CONTENT sets the mode here: it stays "+dialog.ModeTitle(is))
		}, nil
	})
}
