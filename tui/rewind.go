package tui

import (
	"context"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// rewind lists the steps of the session. A step opens a dry run with the choice of what to rewind.
func (sd *sessionDialogs) rewind() tea.Cmd { return sd.rewindBefore(0) }

// rewindBefore lists the steps before one; 0 the newest.
func (sd *sessionDialogs) rewindBefore(before int) tea.Cmd {
	id := sd.state.Current
	if sd.state.Busy(id) {
		return sd.notify(toast.Info, "A turn is running: interrupt it first")
	}
	return sd.call("list the steps", func(ctx context.Context, e Engine) (then, error) {
		list, err := e.Steps(ctx, id, lathe.StepQuery{Before: before})
		return onSuccess(err, func() tea.Cmd {
			box := dialog.NewRewind(sd.keys, sd.state.Info.Directory, list, sd.now())
			return sd.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
				switch c.ID {
				case dialog.RewindRedo:
					return sd.rewindTo(id, lathe.Rewind{Redo: true})
				case dialog.RewindEarlier:
					return sd.rewindBefore(list.Steps[0].Number)
				}
				step, err := strconv.Atoi(c.ID)
				if err != nil {
					return nil
				}
				return sd.previewRewind(id, step)
			})})
		})
	})
}

// previewRewind shows what a rewind would do, and asks what to rewind.
func (sd *sessionDialogs) previewRewind(id lathe.SessionID, step int) tea.Cmd {
	return sd.call("preview the rewind", func(ctx context.Context, e Engine) (then, error) {
		plan, err := e.Rewind(ctx, id, lathe.Rewind{Step: step, DryRun: true})
		return onSuccess(err, func() tea.Cmd {
			box := dialog.NewRewindActions(sd.keys, plan)
			return sd.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
				switch c.ID {
				case dialog.RewindFork:
					return sd.sessions.forkStep(id, step)
				case dialog.RewindWorktree:
					return sd.forkWorktree(id, step)
				case dialog.RewindBoth, dialog.RewindCode, dialog.RewindConversation:
					return sd.rewindTo(id, lathe.Rewind{Step: step, Scope: lathe.RewindScope(c.ID)})
				}
				return sd.previewRewind(id, step) // a file was chosen
			})})
		})
	})
}

// rewindTo rewinds after the choice, and reports the files. Those that were left alone the engine lists in a toast.
func (sd *sessionDialogs) rewindTo(id lathe.SessionID, in lathe.Rewind) tea.Cmd {
	return sd.call("rewind the session", func(ctx context.Context, e Engine) (then, error) {
		done, err := e.Rewind(ctx, id, in)
		return onSuccess(err, func() tea.Cmd {
			what := "Rewound to step " + strconv.Itoa(done.Step)
			if in.Redo {
				what = "Redone"
			}
			return sd.turns.reportUndo(what, lathe.Undone{Session: done.Session, Files: done.Files})
		})
	})
}

// forkWorktree makes a copy of the session and of the checkout at a step, and shows the session.
func (sd *sessionDialogs) forkWorktree(id lathe.SessionID, step int) tea.Cmd {
	return sd.longCall("fork into a worktree", func(ctx context.Context, e Engine) (then, error) {
		t, err := e.ForkWorktree(ctx, id, step, "")
		return onSuccess(err, func() tea.Cmd {
			text := "Forked into the worktree " + t.Name
			if n := len(t.Left); n > 0 {
				text += ": " + style.Plural(n, "file") + " that you changed stay as they are"
			}
			return tea.Batch(sd.sessions.open(t.Session), sd.notify(toast.Success, text))
		})
	})
}
