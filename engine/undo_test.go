package engine_test

import (
	"context"
	"testing"

	"github.com/lathe-agent/lathe"
)

// Without a message an undo takes back the last exchange that is, and a redo brings back the
// first that does not. A point that does not exist is an error, other than for Revert.
func TestUndo_ChoosesTheExchange(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "text \"One.\"\nfinish stop\n--\ntext \"Two.\"\nfinish stop")
	s, err := d.Create(t.Context(), d.dir, lathe.NewSession{Title: "t"})
	d.ok(err)
	var prompts []lathe.MessageID
	for _, words := range []string{"first", "second"} {
		answer, err := d.Prompt(t.Context(), s.ID, lathe.Prompt{Parts: text(words)})
		d.ok(err)
		prompts = append(prompts, answer.Data.(*lathe.Assistant).Parent)
	}
	for i, step := range []struct {
		do   func(context.Context, lathe.SessionID, lathe.Undo) (lathe.Undone, error)
		what lathe.Undo
		from lathe.MessageID
		code lathe.Code
	}{
		{do: d.Redo, code: lathe.NotFound},
		{do: d.Undo, what: lathe.Undo{DryRun: true}, from: prompts[1]},
		{do: d.Undo, from: prompts[1]},
		{do: d.Undo, from: prompts[0]},
		{do: d.Undo, code: lathe.NotFound},
		{do: d.Redo, from: prompts[1]},
		{do: d.Redo},
		{do: d.Undo, what: lathe.Undo{Message: "msg_none"}, code: lathe.NotFound},
		{do: d.Undo, what: lathe.Undo{Part: "prt_none"}, code: lathe.NotFound},
		{do: d.Undo, what: lathe.Undo{Message: prompts[0]}, from: prompts[0]},
		{do: d.Redo, what: lathe.Undo{All: true}},
	} {
		got, err := step.do(t.Context(), s.ID, step.what)
		if got.Message != step.from || lathe.CodeOf(err) != step.code {
			t.Errorf("step %d: from %q, %v; want %q, %q", i, got.Message, err, step.from, step.code)
		}
	}
}
