package memory

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
)

// Limits of the prompt files.
const (
	mostPrompts = 50        // in the stash
	mostToken   = 256 << 10 // bytes of an attachment; of larger ones the words stay
)

// Stashed is a stashed draft.
type Stashed struct {
	editor.Draft
	At lathe.Time `json:"timestamp"`
}

// History reads the prompts that were sent, oldest first.
func (m *Memory) History() ([]editor.Draft, error) {
	return prompts[editor.Draft](m, historyFile, editor.MaxHistory)
}

// draft is an entry that can be empty.
type draft interface{ IsEmpty() bool }

func isNotEmpty[T draft](d T) bool { return !d.IsEmpty() }

// prompts reads a file of them.
func prompts[T draft](m *Memory, name string, most int) ([]T, error) {
	data, err := m.read(name)
	all, _ := parseLines(data, isNotEmpty[T])
	return latest(all, most), err
}

// SaveHistory adds a prompt to the history.
func (m *Memory) SaveHistory(ctx context.Context, d editor.Draft) error {
	d = d.WithoutLarge(mostToken)
	d.Cursor = 0
	return appendLine(ctx, m, historyFile, d, editor.MaxHistory, keepLatest(editor.MaxHistory, isNotEmpty[editor.Draft]))
}

// Stash reads the stashed drafts, oldest first.
func (m *Memory) Stash() ([]Stashed, error) {
	return prompts[Stashed](m, stashFile, mostPrompts)
}

// SaveStash stashes a draft.
func (m *Memory) SaveStash(ctx context.Context, d editor.Draft, now lathe.Time) error {
	return appendLine(ctx, m, stashFile, Stashed{d, now}, mostPrompts, keepLatest(mostPrompts, isNotEmpty[Stashed]))
}

// DropStash removes a stashed draft.
func (m *Memory) DropStash(ctx context.Context, s Stashed) error {
	_, _, err := m.takeStash(ctx, func(all []Stashed) int {
		return slices.IndexFunc(all, func(o Stashed) bool { return o.At == s.At && o.Input == s.Input })
	})
	return err
}

// PopStash removes and returns the last stashed draft; false when there is none. Only one of two processes gets
// it.
func (m *Memory) PopStash(ctx context.Context) (Stashed, bool, error) {
	return m.takeStash(ctx, func(all []Stashed) int { return len(all) - 1 })
}

// takeStash takes out the one that find points at, -1 for none.
func (m *Memory) takeStash(ctx context.Context, find func([]Stashed) int) (taken Stashed, ok bool, err error) {
	err = m.withLock(ctx, func() error {
		data, err := m.read(stashFile)
		if err != nil {
			return err
		}
		all, broken := parseLines(data, isNotEmpty[Stashed])
		all = latest(all, mostPrompts)
		i := find(all)
		if i < 0 {
			return nil
		}
		one := all[i]
		kept, err := encodeLines(slices.Delete(all, i, i+1))
		if err != nil {
			return err
		}
		if err := m.rewrite(stashFile, data, kept, broken); err != nil {
			return err
		}
		taken, ok = one, true
		return nil
	})
	return taken, ok, err
}
