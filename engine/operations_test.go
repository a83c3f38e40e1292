package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

// Each operation tells its events in the order of the contract, with whole payloads:
// testdata/operations.txt. A reader that folds them has the state that is stored, after
// each operation. (spec 2.4, 12.3)
func TestOperations_Events(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	path := strings.TrimPrefix(filepath.ToSlash(w.dir), "/")
	elsewhere := repo(t)
	commit := git(t, elsewhere, "rev-parse", "HEAD")
	l := w.listen(lathe.Scope{})
	f := newFold()
	s := newScribe(w.dir, "DIR", path, "PATH", elsewhere, "REPO", commit, "PROJECT")
	var out strings.Builder
	step := func(name string, err error) {
		t.Helper()
		w.ok(err)
		out.WriteString("# " + name + "\n")
		events := l.received()
		for _, line := range s.lines(events) {
			out.WriteString(line + "\n")
		}
		f.apply(events...)
		f.compare(w, lathe.Scope{})
		w.clock.forward(1000)
	}

	top, err := w.Create(t.Context(), w.dir, lathe.NewSession{ID: "ses_top", Title: "Top"})
	step("create, the first in its directory", err)
	_, err = w.Create(t.Context(), w.dir, lathe.NewSession{
		ID: "ses_kid", Parent: top.ID, Agent: "explore", Rules: lathe.Ruleset{{Permission: "bash", Pattern: "*", Action: lathe.Deny}},
	})
	step("create a child", err)
	_, err = w.Rename(t.Context(), top.ID, "Renamed")
	step("rename", err)
	_, err = w.Touch(t.Context(), top.ID)
	step("touch", err)
	at := lathe.Time(-1)
	_, err = w.Archive(t.Context(), top.ID, &at)
	step("archive", err)
	_, err = w.Archive(t.Context(), top.ID, nil)
	step("bring back", err)
	_, err = w.Share(t.Context(), top.ID, "https://s.example/1")
	step("share", err)
	_, err = w.Unshare(t.Context(), top.ID)
	step("unshare", err)
	_, err = w.Update(t.Context(), top.ID, lathe.Edit{
		Metadata: lathe.Some(json.RawMessage(`{"a":[1]}`)), Summary: lathe.Some(&lathe.SessionSummary{Additions: 2, Files: 1}), Touch: true,
	})
	step("update of two columns, with touch", err)

	prompt, err := w.UpdateMessage(t.Context(), lathe.Message{
		ID: "msg_1", Session: top.ID, Created: w.clock.now(),
		Data: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}},
	})
	step("updateMessage, a new one", err)
	_, err = w.UpdatePart(t.Context(), lathe.Part{ID: "prt_1", Session: top.ID, Message: prompt.ID, Body: &lathe.Text{Text: "Hi"}}, "")
	step("updatePart, a new one", err)
	answer := lathe.Message{
		ID: "msg_2", Session: top.ID, Created: prompt.Created,
		Data: &lathe.Assistant{Parent: prompt.ID, Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}, Agent: "build", Mode: "build"},
	}
	answer, err = w.UpdateMessage(t.Context(), answer)
	step("updateMessage, a second one at the same moment", err)
	open, err := w.UpdatePart(t.Context(), lathe.Part{
		ID: "prt_2", Session: top.ID, Message: answer.ID, Body: &lathe.Text{Time: &lathe.Span{Start: w.clock.now()}},
	}, "")
	step("updatePart, one that is open", err)
	_, err = w.UpdatePart(t.Context(), open, "Grüße, ")
	step("updatePart with a delta", err)
	_, err = w.UpdatePart(t.Context(), open, "😀 Welt")
	step("updatePart with a delta", err)
	open, err = w.UpdatePart(t.Context(), open, "!")
	step("updatePart with a delta", err)
	_, err = w.UpdatePart(t.Context(), closedBody(open, "Grüße, 😀 Welt!"), "")
	step("updatePart, the end of it", err)
	_, err = w.UpdatePart(t.Context(), lathe.Part{
		ID: "prt_3", Session: top.ID, Message: answer.ID,
		Body: &lathe.StepFinish{Reason: "stop", Cost: lathe.Dollars(0.25), Tokens: Used(10)},
	}, "")
	step("updatePart, the end of a step: the session's sums follow, its time does not", err)
	said := *answer.Data.(*lathe.Assistant)
	said.Completed, said.Finish = w.clock.now(), "stop"
	answer.Data = &said
	_, err = w.UpdateMessage(t.Context(), answer)
	step("updateMessage, one that is there", err)

	fork, err := w.Fork(t.Context(), elsewhere, top.ID, "")
	step("fork, into a directory that was not opened before", err)
	_, err = w.Fork(t.Context(), w.dir, fork.ID, w.history(fork.ID)[1].ID)
	step("fork of the fork, before its answer", err)
	step("removePart", w.RemovePart(t.Context(), top.ID, answer.ID, "prt_3"))
	step("removeMessage", w.RemoveMessage(t.Context(), fork.ID, w.history(fork.ID)[1].ID))
	step("remove, the child first", w.Remove(t.Context(), top.ID))
	x := lathe.Export{Info: fork, Messages: w.history(fork.ID)}
	step("remove", w.Remove(t.Context(), fork.ID))
	_, err = w.Import(t.Context(), w.dir, x)
	step("import", err)
	_, err = w.Import(t.Context(), elsewhere, x)
	step("import of the same, elsewhere", err)
	w.Dispose(w.dir)
	step("dispose", nil)

	golden(t, "operations.txt", out.String())
}

// golden holds a text against a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-golden +now); run with -update and read the diff:\n%s", file, d)
	}
}
