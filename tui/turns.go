package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// turns holds the actions on the session on the screen: interrupt, resume, undo, compact, share.
type turns struct {
	*services
	choice       *choice
	conversation *conversation
	drafts       *drafts
	look         *look
	overlays     *overlays

	escapedAt    time.Time // when the interrupt key was first pressed
	editAskedAt  time.Time // when it was first pressed with nothing to interrupt
	editEarlier  func() tea.Cmd
	returnToMain func() tea.Cmd
}

// escapeTime is how long the first press counts. One that edits an earlier prompt counts for less: nobody asked for a
// dialog with two presses far apart.
const (
	escapeTime = 5 * time.Second
	editTime   = 2 * time.Second
)

// escape leaves a subagent, or interrupts the turn at the second press. With nothing to interrupt, it edits an earlier
// prompt in place of an empty one.
func (t *turns) escape() tea.Cmd {
	switch {
	case t.state.IsChild(): // it works on
		return t.returnToMain()
	case t.state.Busy(t.state.Current):
		t.editAskedAt = time.Time{}
		return t.interrupt()
	case !t.drafts.edit.IsEmpty() || len(t.state.Prompts()) == 0:
		return nil
	case t.now().Sub(t.editAskedAt) > editTime:
		t.editAskedAt = t.now()
		t.stack.Add(toast.Note{Text: "Press " + t.keys.Label(key.SessionInterrupt) + " again to edit an earlier prompt", For: editTime}, t.now())
		return t.expireToasts()
	}
	t.editAskedAt = time.Time{}
	return t.editEarlier()
}

// interrupt ends the turn at the second press.
func (t *turns) interrupt() tea.Cmd {
	if t.now().Sub(t.escapedAt) > escapeTime {
		t.escapedAt = t.now()
		return t.after(escapeTime, tickEscape)
	}
	return t.cancel()
}

// cancel ends the turn of the session on the screen.
func (t *turns) cancel() tea.Cmd {
	id := t.state.Current
	t.escapedAt = time.Time{}
	return t.send("interrupt the turn", func(ctx context.Context, e Engine) error { return e.Cancel(ctx, id) })
}

// turnEnded notifies the user of a long turn, and of one that failed.
func (t *turns) turnEnded(id lathe.SessionID) tea.Cmd {
	delete(t.state.Interrupted, id)
	says := t.watch.Ended(t.o.Look.Attention, t.state, id, t.now())
	if s, ok := t.state.Session(id); !ok || s.Parent != "" {
		return nil
	}
	t.escapedAt = time.Time{}
	return tea.Raw(says)
}

// resume continues an interrupted turn, or sends the paused prompts.
func (t *turns) resume() tea.Cmd {
	id, waits := t.state.Current, t.state.HasPausedPrompts()
	if t.state.Busy(id) {
		return t.notify(toast.Info, "A turn is already running")
	}
	return t.call("resume the turn", func(ctx context.Context, e Engine) (then, error) {
		if cut, err := e.Interrupted(ctx); err == nil && !waits && !slices.Contains(cut, id) {
			return func() tea.Cmd { return t.notify(toast.Info, "Nothing to resume: send a new prompt") }, nil
		}
		return nil, e.Resume(ctx, id)
	})
}

// compact summarizes the session with the selected model.
func (t *turns) compact() tea.Cmd {
	m, ok := t.choice.model()
	if !ok {
		return t.notify(toast.Warning, "No model to write the summary: /connect")
	}
	id := t.state.Current
	return t.longCall("compact the session", func(ctx context.Context, e Engine) (then, error) {
		return nil, e.Compact(ctx, id, lathe.CompactRequest{Model: &m.Ref})
	})
}

// undo reverts the last prompt that is still there, and its changes.
func (t *turns) undo() tea.Cmd {
	o := t.state.Shown()
	if o == nil {
		return nil
	}
	last := o.Transcript.Count()
	if r := o.Transcript.Session().Revert; r != nil {
		if i := o.Transcript.Find(r.Message); i >= 0 {
			last = i
		}
	}
	for i := last - 1; i >= 0; i-- {
		h := o.Transcript.View(i)
		if _, user := h.Data().(*lathe.User); user && state.IsUserWritten(h) {
			return t.undoTo(h.ID())
		}
	}
	return t.notify(toast.Info, "Nothing to undo")
}

// undoTo reverts a message and everything after it. Its text returns to the prompt.
func (t *turns) undoTo(id lathe.MessageID) tea.Cmd {
	o := t.state.Shown()
	i := o.Transcript.Find(id)
	if i < 0 {
		return nil
	}
	draft := t.drafts.draftOf(o.Transcript.View(i))
	session := t.state.Current
	stop := t.state.Busy(session)
	return t.call("undo the message", func(ctx context.Context, e Engine) (then, error) {
		if stop {
			if err := e.Cancel(ctx, session); err != nil {
				return nil, err
			}
		}
		done, err := e.Undo(ctx, session, lathe.Undo{Message: id})
		return onSuccess(err, func() tea.Cmd {
			t.conversation.chat().ToEnd()
			t.drafts.restoreReverted(draft)
			return t.reportUndo("Undone", done)
		})
	})
}

// redo restores the messages and changes of the last undo. Only the engine knows whether the files alone were rewound.
func (t *turns) redo() tea.Cmd {
	session := t.state.Current
	nothing := func() tea.Cmd { return t.notify(toast.Info, "Nothing to redo") }
	if t.state.Shown() == nil {
		return nothing()
	}
	return t.call("redo the message", func(ctx context.Context, e Engine) (then, error) {
		done, err := e.Redo(ctx, session, lathe.Undo{})
		if lathe.CodeOf(err) == lathe.NotFound {
			return nothing, nil
		}
		return onSuccess(err, func() tea.Cmd {
			t.drafts.restoreNextReverted(done.Session)
			return t.reportUndo("Redone", done)
		})
	})
}

// reportUndo counts the restored files. The engine lists the skipped ones in a toast of its own.
func (t *turns) reportUndo(what string, u lathe.Undone) tea.Cmd {
	conflicts := 0
	for _, f := range u.Files {
		if f.Conflict != "" {
			conflicts++
		}
	}
	n := len(u.Files) - conflicts
	if conflicts > 0 {
		return t.notify(toast.Warning, fmt.Sprintf("%s; files changed: %d, left unchanged: %d", what, n, conflicts))
	}
	if n > 0 {
		return t.notify(toast.Success, fmt.Sprintf("%s; files changed: %d", what, n))
	}
	return t.notify(toast.Success, what)
}

// share publishes a session after the user has agreed once. Without a server it says how to start one.
func (t *turns) share() tea.Cmd {
	if !t.o.Remote {
		return t.notify(toast.Warning, "Sharing needs a server. Run lathe serve, open the session with lathe attach, and share it there")
	}
	if !t.look.prefs.ShareConsent {
		return t.overlays.show(&overlay{box: dialog.NewShareConsent(t.keys), onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
			if c.ID != dialog.Yes {
				return nil
			}
			return tea.Batch(t.look.set(func(prefs *memory.Settings) { prefs.ShareConsent = true }), t.shareNow())
		})})
	}
	return t.shareNow()
}

// shareNow publishes the session and copies its link.
func (t *turns) shareNow() tea.Cmd {
	id := t.state.Current
	return t.call("share the session", func(ctx context.Context, e Engine) (then, error) {
		s, err := e.Share(ctx, id)
		return onSuccess(err, func() tea.Cmd {
			if s.Share == nil {
				return nil
			}
			return tea.Batch(t.copySilently(s.Share.URL), t.notify(toast.Success, "Shared, link copied: "+s.Share.URL))
		})
	})
}

func (t *turns) unshare() tea.Cmd {
	id := t.state.Current
	if o := t.state.Shown(); o != nil && o.Transcript.Session().Share == nil {
		return t.notify(toast.Info, "This session is not shared")
	}
	return t.call("stop sharing", func(ctx context.Context, e Engine) (then, error) {
		_, err := e.Unshare(ctx, id)
		return onSuccess(err, func() tea.Cmd { return t.notify(toast.Success, "No longer shared") })
	})
}
