package engine_test

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

// A session rests when its turn has ended, also while its title is still being made: what is
// refused to one at work is not refused to it. (§6.2, §6.11)
func TestOccupy_WhileATitleIsMade(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `when "You name conversations"
stall
--
text "I see."
finish stop`)
	s, err := d.Create(t.Context(), d.dir, lathe.NewSession{})
	d.ok(err)
	answer, err := d.Prompt(t.Context(), s.ID, lathe.Prompt{Parts: text("look")})
	d.ok(err)
	began := time.Now()
	m, err := d.Shell(t.Context(), s.ID, lathe.ShellCommand{Command: "echo hello"})
	d.ok(err)
	if shellState(m) == nil {
		t.Errorf("ran %+v", m.Parts)
	}
	part := answer.Parts[1]
	part.Body = &lathe.Text{Text: "I saw."}
	_, err = d.UpdatePart(t.Context(), part, "")
	d.ok(err)
	d.ok(d.RemoveMessage(t.Context(), s.ID, m.ID))
	undone, err := d.Revert(t.Context(), s.ID, lathe.Undo{Message: answer.ID})
	d.ok(err)
	if undone.Session.Revert == nil {
		t.Error("nothing is undone")
	}
	_, err = d.Unrevert(t.Context(), s.ID, lathe.Undo{})
	d.ok(err)
	d.ok(d.RemoveMessage(t.Context(), s.ID, answer.ID)) // its prompt is not answered again by that
	d.ok(d.RemoveMessage(t.Context(), s.ID, m.Data.(*lathe.Assistant).Parent))
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	if n := len(d.server.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}
