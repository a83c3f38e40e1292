package tui

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/toast"
)

// drafts holds the prompt editor, a draft for each session, the history and the stash.
type drafts struct {
	*services
	edit         *editor.Editor
	saved        map[lathe.SessionID]editor.Draft // of sessions that are not on the screen
	pending      *editor.Submit                   // submitted before a model was ready
	revertedText string                           // text that an undo put into the prompt
	carryOver    bool                             // the draft moves to the session that opens next
	history      []editor.Draft
	mentions     memory.Mentions
}

// saveUnsent saves an unsent draft in the history and the stash.
func (dr *drafts) saveUnsent(ctx context.Context, d editor.Draft, at lathe.Time) error {
	if d.IsEmpty() {
		return nil
	}
	return errors.Join(dr.memory.SaveHistory(ctx, d), dr.memory.SaveStash(ctx, d, at))
}

// addHistory saves a prompt in the history.
func (dr *drafts) addHistory(d editor.Draft) tea.Cmd {
	if !dr.addRecent(d) {
		return nil
	}
	cmds := []tea.Cmd{dr.save("save the prompt history", func(ctx context.Context) error { return dr.memory.SaveHistory(ctx, d) })}
	for _, path := range d.Files() {
		cmds = append(cmds, dr.countMention(dr.fileKey(path)))
	}
	return tea.Batch(cmds...)
}

// countMention remembers the use of a file or a command.
func (dr *drafts) countMention(name string) tea.Cmd {
	dr.mentions = dr.mentions.Add(name, lathe.Time(dr.now().UnixMilli()))
	known := dr.mentions
	return dr.save("save a mention", func(ctx context.Context) error { return dr.memory.SaveMention(ctx, known, name) })
}

// addRecent puts a prompt into the history of this run; false if it is the last one again.
func (dr *drafts) addRecent(d editor.Draft) bool {
	if n := len(dr.history); n > 0 && dr.history[n-1].Input == d.Input {
		return false
	}
	dr.history = append(dr.history, d)
	if n := len(dr.history); n > editor.MaxHistory {
		dr.history = dr.history[n-editor.MaxHistory:]
	}
	dr.edit.SetHistory(dr.history)
	return true
}

// fileKey identifies a file across projects, which have files of the same name.
func (dr *drafts) fileKey(path string) string { return dr.state.Info.Directory + "/" + path }

// stash moves the prompt to the stash.
func (dr *drafts) stash() tea.Cmd {
	d, ok := dr.edit.Stash()
	if !ok {
		return dr.notify(toast.Info, "Nothing to stash")
	}
	return dr.saveStash(d)
}

func (dr *drafts) saveStash(d editor.Draft) tea.Cmd {
	at := lathe.Time(dr.now().UnixMilli())
	return tea.Batch(dr.notify(toast.Info, "Stashed"), dr.save("stash the prompt", func(ctx context.Context) error { return dr.memory.SaveStash(ctx, d, at) }))
}

// saveAside saves an unsent draft in the history and the stash, and says so.
func (dr *drafts) saveAside(d editor.Draft, note string) tea.Cmd {
	dr.addRecent(d)
	at := lathe.Time(dr.now().UnixMilli())
	return tea.Batch(dr.notify(toast.Info, note), dr.save("save the draft", func(ctx context.Context) error { return dr.saveUnsent(ctx, d, at) }))
}

// saveTyped saves text that was typed into a dialog that closed.
func (dr *drafts) saveTyped(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	return dr.saveAside(editor.Draft{Input: text}, "Your text was saved: /stash")
}

// unstash pops the last stashed prompt.
func (dr *drafts) unstash() tea.Cmd {
	return dr.background("pop the stash", func(ctx context.Context) (then, error) {
		s, ok, err := dr.memory.PopStash(ctx)
		return func() tea.Cmd {
			if !ok {
				return dr.notify(toast.Info, "The stash is empty")
			}
			return dr.swapIn(s.Draft)
		}, err
	})
}

// swapIn puts a draft into the prompt and stashes the previous text.
func (dr *drafts) swapIn(d editor.Draft) tea.Cmd {
	var cmd tea.Cmd
	if was, ok := dr.edit.Stash(); ok {
		cmd = dr.saveStash(was)
	}
	dr.edit.Restore(d)
	return cmd
}

// restoreOnError restores a draft that could not be sent.
func (dr *drafts) restoreOnError(d editor.Draft) then {
	return func() tea.Cmd {
		dr.carryOver = false
		if dr.edit.IsEmpty() {
			dr.edit.Restore(d)
		}
		return nil
	}
}

// storeCurrent stores the draft of the session on the screen.
func (dr *drafts) storeCurrent() { dr.saved[dr.state.Current] = dr.edit.Draft() }

// draftOf turns a message back into a draft. If the prompt is in the history, its long pastes are folded again.
func (dr *drafts) draftOf(h lathe.MessageView) editor.Draft {
	var parts []lathe.Part
	for j := range h.Len() {
		parts = append(parts, h.Part(j))
	}
	d := editor.DraftOf(parts)
	for _, known := range slices.Backward(dr.history) {
		if known.Input != d.Input && known.Sent() == d.Input {
			known.Cursor = len(known.Input)
			return known
		}
	}
	return d
}

// restoreReverted puts the text of an undone message into the prompt, unless the user has typed something else.
func (dr *drafts) restoreReverted(d editor.Draft) {
	if dr.edit.IsEmpty() || dr.edit.Text() == dr.revertedText {
		dr.edit.Restore(d)
		dr.revertedText = dr.edit.Text()
	}
}

// restoreNextReverted updates the prompt after a redo: the next undone message, or nothing.
func (dr *drafts) restoreNextReverted(s lathe.Session) {
	if dr.edit.IsEmpty() {
		return
	}
	var d editor.Draft
	if o := dr.state.Shown(); o != nil && s.Revert != nil {
		if i := o.Transcript.Find(s.Revert.Message); i >= 0 {
			d = dr.draftOf(o.Transcript.View(i))
		}
	}
	dr.restoreReverted(d)
}
