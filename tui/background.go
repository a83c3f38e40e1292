package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// moveToBackground lets the running calls of the session on the screen continue in the background.
func (sd *sessionDialogs) moveToBackground() tea.Cmd {
	id := sd.state.Current
	return sd.call("move the command to the background", func(ctx context.Context, e Engine) (then, error) {
		n, err := e.MoveToBackground(ctx, id)
		return onSuccess(err, func() tea.Cmd {
			return sd.notify(toast.Info, fmt.Sprintf("Moved %d to the background: /tasks lists them", n))
		})
	})
}

// tasks lists the background tasks of the session on the screen, or of all sessions.
func (sd *sessionDialogs) tasks() tea.Cmd {
	var found []lathe.BackgroundTask
	root := lathe.SessionID("")
	if sd.state.Current != "" {
		root = sd.state.Root(sd.state.Current).ID
	}
	list := dialog.NewTasks(sd.keys, nil, sd.now())
	list.SetLoading(true)
	o := &overlay{box: list, keepOpen: true, refill: func() { list.SetItems(dialog.TaskItems(found, sd.now())) }}
	load := func() tea.Cmd {
		return sd.call("list the background tasks", func(ctx context.Context, e Engine) (then, error) {
			all, err := e.Tasks(ctx, root)
			return onSuccess(err, func() tea.Cmd {
				found = all
				list.SetLoading(false)
				o.refill()
				return nil
			})
		})
	}
	o.onResult = onChosen(func(c dialog.Chosen) tea.Cmd {
		i := slices.IndexFunc(found, func(t lathe.BackgroundTask) bool { return string(t.ID) == c.ID })
		switch {
		case i < 0:
			return nil
		case c.Key == key.SessionDelete:
			return sd.call("stop the task", func(ctx context.Context, e Engine) (then, error) {
				return onSuccess(e.StopTask(ctx, found[i].ID), func() tea.Cmd { return tea.Batch(sd.notify(toast.Info, "Stopped"), load()) })
			})
		case found[i].Kind == lathe.ShellTask:
			return sd.taskOutput(found[i])
		default:
			sd.overlays.current = nil
			return sd.sessions.open(lathe.SessionID(found[i].ID))
		}
	})
	return tea.Batch(sd.overlays.show(o), load(), sd.repeat(o, load))
}

// taskOutput follows the output of a command, and returns to the list.
func (sd *sessionDialogs) taskOutput(t lathe.BackgroundTask) tea.Cmd {
	const shown = 64 << 10
	text := ""
	box := dialog.NewTail(sd.keys, t.Title, func(th *style.Theme) (lines []style.Line) {
		for line := range strings.Lines(text) {
			lines = append(lines, style.Of(strings.TrimRight(line, "\r\n"), style.Fg(th.Text)))
		}
		return lines
	})
	o := &overlay{box: box, onClose: sd.tasks}
	load := func() tea.Cmd {
		return sd.call("read the output", func(ctx context.Context, e Engine) (then, error) {
			out, err := e.TaskOutput(ctx, t.ID, shown)
			return onSuccess(err, func() tea.Cmd {
				if out.Text != text {
					text = out.Text
					box.Refresh()
				}
				return nil
			})
		})
	}
	return tea.Batch(sd.overlays.show(o), load(), sd.repeat(o, load))
}

// repeat runs load every second while a dialog is open.
func (sd *sessionDialogs) repeat(o *overlay, load func() tea.Cmd) tea.Cmd {
	return sd.background("wait", func(ctx context.Context) (then, error) {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(time.Second):
		}
		return func() tea.Cmd {
			if sd.overlays.current != o {
				return nil
			}
			return tea.Batch(load(), sd.repeat(o, load))
		}, nil
	})
}
