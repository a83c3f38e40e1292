package engine_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/lathetest"
)

func TestFork_Record(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	parent := w.session()
	full := lathetest.Session()
	s := w.session(lathe.NewSession{
		Title: "A title", Parent: parent.ID, Agent: "build", Model: full.Model, Workspace: "wrk_1",
		Rules: lathe.Ruleset{lathetest.Rule()}, Metadata: json.RawMessage(`{"deep":{"a":[1]}}`),
	})
	must(w.Share(t.Context(), s.ID, "https://s.example/1"))(w)
	s = must(w.Update(t.Context(), s.ID, lathe.Edit{
		Revert: lathe.Some(full.Revert), Summary: lathe.Some(full.Summary), Compacting: lathe.Some(full.Compacting),
	}))(w)
	w.clock.forward(5000)
	in := repo(t)
	fork := must(w.Fork(t.Context(), in, s.ID, ""))(w)
	want := lathe.Session{
		ID: fork.ID, Slug: fork.Slug, Project: git(t, in, "rev-parse", "HEAD"), Directory: in, Path: new(string),
		Title: "A title (fork #1)", Version: "1.2.3", Created: w.clock.now(), Updated: w.clock.now(),
		Rules: s.Rules, Metadata: s.Metadata, Workspace: "wrk_1", Cost: new(lathe.Money), Tokens: &lathe.Tokens{},
	}
	w.same("no parent, share, revert, summary; rules and metadata copied", fork, want)
	w.same("stored", w.get(fork.ID), want)
	w.same("the original", w.get(s.ID), s)
	if fork.ID == s.ID {
		t.Error("the fork has the id of the original")
	}
}

func TestFork_Titles(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, c := range []struct{ title, want string }{
		{"Plain", "Plain (fork #1)"},
		{"Plain (fork #1)", "Plain (fork #2)"},
		{"Plain (fork #99)", "Plain (fork #100)"},
		{"Plain (fork #1) more", "Plain (fork #1) more (fork #1)"},
		{"Two\nlines (fork #7)", "Two\nlines (fork #8)"},
		{"(fork #x)", "(fork #x) (fork #1)"},
	} {
		s := w.session(lathe.NewSession{Title: c.title})
		if got := must(w.Fork(t.Context(), w.dir, s.ID, ""))(w).Title; got != c.want {
			t.Errorf("fork of %q is called %q, want %q", c.title, got, c.want)
		}
	}
}

// wrap is the moment after which new ids sort before all old ones.
var wrap = lathe.TimeOf(time.Date(2026, 8, 14, 11, 19, 55, 136_000_000, time.UTC))

// wrapped is a session with an exchange before the wrap and one after it. The clock
// stands after it.
func (w *fixture) wrapped() (s lathe.Session, m [4]lathe.Message) {
	w.Helper()
	w.clock.forward(wrap - 5000 - w.clock.now())
	s = w.session()
	exchange := func(words string) (q, a lathe.Message) {
		q = w.user(s.ID, words)
		w.clock.forward(1000)
		a = w.answer(q)
		a.Parts = []lathe.Part{w.text(a, "you said "+words)}
		w.clock.forward(1000)
		return q, a
	}
	m[0], m[1] = exchange("before")
	w.clock.forward(wrap + 5000 - w.clock.now())
	w.Engine, w.ids = w.reopen() // as a process that is started afterwards
	m[2], m[3] = exchange("after")
	if m[2].ID > m[1].ID {
		w.Fatalf("ids have not wrapped: %s, %s", m[1].ID, m[2].ID)
	}
	return s, m
}

// reopen closes the engine and opens it again.
func (w *fixture) reopen() (*engine.Engine, *lathe.IDs) {
	w.Helper()
	w.ok(w.Close())
	return w.open()
}

// The boundary is a position in the list, not an id. (spec 1.3, 16.1.3, 18.14, 18.15)
func TestFork_BoundaryAcrossTheWrap(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, m := w.wrapped()
	for name, c := range map[string]struct {
		before lathe.MessageID
		want   [][]string
	}{
		"all":                          {"", [][]string{{"before"}, {"you said before"}, {"after"}, {"you said after"}}},
		"an unknown one":               {"msg_none", [][]string{{"before"}, {"you said before"}, {"after"}, {"you said after"}}},
		"before the first":             {m[0].ID, [][]string{}},
		"before the first answer":      {m[1].ID, [][]string{{"before"}}},
		"before the one that wrapped":  {m[2].ID, [][]string{{"before"}, {"you said before"}}},
		"before the last":              {m[3].ID, [][]string{{"before"}, {"you said before"}, {"after"}}},
		"one of another session's own": {w.user(w.session().ID, "x").ID, [][]string{{"before"}, {"you said before"}, {"after"}, {"you said after"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			fork := must(w.Fork(t.Context(), w.dir, s.ID, c.before))(w)
			got := w.history(fork.ID)
			w.same("copied", says(got), c.want)
			for i, copied := range got {
				if copied.Created != m[i].Created || copied.ID == m[i].ID || copied.Session != fork.ID {
					t.Errorf("message %d is %s at %v, copied from %s at %v", i, copied.ID, copied.Created, m[i].ID, m[i].Created)
				}
				if i%2 == 1 && copied.Parent() != got[i-1].ID {
					t.Errorf("message %d answers %s, not %s", i, copied.Parent(), got[i-1].ID)
				}
				for j, p := range copied.Parts {
					if p.ID == m[i].Parts[j].ID || p.Session != fork.ID || p.Message != copied.ID {
						t.Errorf("part %d of message %d is %+v", j, i, p)
					}
				}
			}
		})
	}
	w.same("the original", says(w.history(s.ID)), [][]string{{"before"}, {"you said before"}, {"after"}, {"you said after"}})
}

// What refers to a message is pointed at its copy; a parent that was not copied stays, a
// tail that was not copied is none. (spec 2.4)
func TestFork_References(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	first := w.user(s.ID, "one")
	stray := w.answer(lathe.Message{Session: s.ID, ID: "msg_elsewhere"})
	later := w.user(s.ID, "two")
	stored := w.put(later, &lathe.Compaction{Auto: true, TailStart: first.ID, Extra: `"x-kept":1`})
	w.put(later, &lathe.Compaction{TailStart: later.ID})
	last := w.user(s.ID, "three")
	w.put(later, &lathe.Compaction{Overflow: lathe.Yes, TailStart: last.ID})
	w.put(later, &lathe.Compaction{})
	fork := must(w.Fork(t.Context(), w.dir, s.ID, last.ID))(w)
	got := w.history(fork.ID)
	if len(got) != 3 {
		t.Fatalf("%d messages were copied", len(got))
	}
	if got[1].Parent() != "msg_elsewhere" || stray.Parent() != "msg_elsewhere" {
		t.Errorf("the parent that was not copied became %q", got[1].Parent())
	}
	var tails []lathe.MessageID
	for _, p := range got[2].Parts[1:] {
		tails = append(tails, p.Body.(*lathe.Compaction).TailStart)
	}
	w.same("where tails begin", tails, []lathe.MessageID{got[0].ID, got[2].ID, "", ""})
	want := *stored.Body.(*lathe.Compaction)
	want.TailStart = got[0].ID
	w.same("the rest of a compaction", got[2].Parts[1].Body, lathe.Body(&want))
}

func TestFork_SumsWhatWasCopied(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	a := w.answer(w.user(s.ID, "one"))
	w.finish(a, 0.125, 1)
	w.finish(a, 0.25, 2)
	b := w.answer(w.user(s.ID, "two"))
	w.finish(b, 4, 100)
	all := w.get(s.ID)
	if *all.Cost != lathe.Dollars(4.375) || *all.Tokens != Used(103) || all.Updated != s.Updated {
		t.Fatalf("cost %v, tokens %+v, updated %v", *all.Cost, *all.Tokens, all.Updated)
	}
	whole := must(w.Fork(t.Context(), w.dir, s.ID, ""))(w)
	w.same("of all", []any{whole.Cost, whole.Tokens}, []any{all.Cost, all.Tokens})
	part := must(w.Fork(t.Context(), w.dir, s.ID, b.ID))(w)
	if *part.Cost != lathe.Dollars(0.375) || *part.Tokens != Used(3) {
		t.Errorf("of the first exchange: %v, %+v", *part.Cost, *part.Tokens)
	}
}

// Prompts that wait are no part of the history yet; a part that is open is copied with
// the text it has, and grows no further.
func TestFork_OfABusySession(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	m := w.answer(w.user(s.ID, "one"))
	r := w.runner(s.ID)
	p := w.growing(m, "so ")
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
	w.ok(r.Grow(p.ID, "far"))
	w.ok(r.Checkpoint(t.Context()))
	w.ok(r.Grow(p.ID, ", not stored"))
	waiting := lathe.Message{ID: w.ids.Message(), Session: s.ID, Data: &lathe.User{Agent: "build"}}
	must(w.Store().Admit(t.Context(), s.ID, lathe.Submission{Message: waiting, Digest: "d"}))(w)
	fork := must(w.Fork(t.Context(), w.dir, s.ID, ""))(w)
	w.same("copied", says(w.history(fork.ID)), [][]string{{"one"}, {"so far"}})
	w.ok(r.Grow(p.ID, " yet"))
	w.ok(r.Checkpoint(t.Context()))
	w.ok(r.Release(t.Context()))
	w.same("afterwards", says(w.history(fork.ID)), [][]string{{"one"}, {"so far"}})
}

func TestFork_Refuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, err := w.Fork(t.Context(), w.dir, "ses_none", "")
	w.is(err, lathe.NotFound)
	_, err = w.Fork(t.Context(), w.dir+"/none", w.session().ID, "")
	w.is(err, lathe.NotFound)
}
