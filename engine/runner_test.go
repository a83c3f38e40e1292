package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// stage is a session with an answer that a runner works on.
type stage struct {
	*fixture
	engine.Runner
	s lathe.Session
	m lathe.Message
}

func newStage(t *testing.T) *stage {
	t.Helper()
	w := newFixture(t)
	s := w.session()
	m := w.answer(w.user(s.ID, "go"))
	return &stage{w, w.runner(s.ID), s, m}
}

// opens commits an open part.
func (g *stage) opens(words string) lathe.Part {
	g.Helper()
	p := g.growing(g.m, words)
	must(g.Commit(g.Context(), &lathe.PartChanged{Part: p}))(g.fixture)
	return p
}

// stored is the text of a part in the store.
func (g *stage) text(id lathe.PartID) string {
	g.Helper()
	return must(g.Store().Part(g.Context(), g.s.ID, g.m.ID, id))(g.fixture).GrowingText()
}

func TestRunner_CommitOpensAndClosesTexts(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	a, b := g.opens(""), g.opens("so far")
	must(g.Commit(t.Context(), &lathe.PartChanged{Part: lathe.Part{
		ID: g.ids.Part(), Session: g.s.ID, Message: g.m.ID, Body: &lathe.Text{Text: "whole"},
	}}))(g.fixture)
	if g.Holds() != 2 || engine.Texts(g.Engine) != 2 {
		t.Errorf("%d texts are held, %d are on the bus", g.Holds(), engine.Texts(g.Engine))
	}
	g.ok(g.Grow(a.ID, "one"))
	g.is(g.Grow("prt_none", "x"), lathe.Conflict)
	must(g.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(a, "one")}))(g.fixture)
	g.is(g.Grow(a.ID, "late"), lathe.Conflict)
	if g.Holds() != 1 || engine.Texts(g.Engine) != 1 || g.Text(b.ID) != "so far" {
		t.Errorf("%d texts are held, %d are on the bus", g.Holds(), engine.Texts(g.Engine))
	}
	g.ok(g.Checkpoint(t.Context()))
	g.ok(g.Release(t.Context()))
}

// What is removed no longer grows, and does not keep other parts from being stored: an
// attempt that fails removes its parts and is made again. (turn.md, Effects)
func TestRunner_RemovalsCloseTexts(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	a, b := g.opens(""), g.opens("")
	g.ok(g.Grow(a.ID, "never stored"))
	g.ok(g.Grow(b.ID, "kept"))
	must(g.Commit(t.Context(), &lathe.PartRemoved{Session: g.s.ID, Message: g.m.ID, Part: a.ID}))(g.fixture)
	g.is(g.Grow(a.ID, "x"), lathe.Conflict)
	g.ok(g.Checkpoint(t.Context()))
	if got := g.text(b.ID); got != "kept" {
		t.Errorf("stored is %q", got)
	}
	g.ok(g.Grow(b.ID, ", then not"))
	must(g.Commit(t.Context(), &lathe.MessageRemoved{Session: g.s.ID, Message: g.m.ID}))(g.fixture)
	g.is(g.Grow(b.ID, "x"), lathe.Conflict)
	g.ok(g.Checkpoint(t.Context()))
	if g.Holds() != 0 || engine.Texts(g.Engine) != 0 {
		t.Errorf("%d texts are held, %d are on the bus", g.Holds(), engine.Texts(g.Engine))
	}
}

// A part that begins and ends in one commit is published as it was committed, and no reader is
// left with an open copy of it.
func TestRunner_BeginsAndEndsInOneCommit(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	for name, end := range map[string]func(p lathe.Part) lathe.Fact{
		"settled": func(p lathe.Part) lathe.Fact { return &lathe.PartChanged{Part: closedBody(p, "all")} },
		"removed": func(p lathe.Part) lathe.Fact {
			return &lathe.PartRemoved{Session: p.Session, Message: p.Message, Part: p.ID}
		},
		"told again": func(p lathe.Part) lathe.Fact { return &lathe.PartChanged{Part: p.WithText("more")} },
		"removed with its message": func(p lathe.Part) lathe.Fact {
			return &lathe.MessageRemoved{Session: p.Session, Message: p.Message}
		},
	} {
		m := g.m
		m.ID = g.ids.Message()
		must(g.Commit(t.Context(), &lathe.MessageChanged{Info: m}))(g.fixture)
		l := g.listen(lathe.Scope{})
		f := newFold()
		f.read(g.stored(lathe.Scope{})[g.s.ID])
		p := g.growing(m, "")
		last := end(p)
		must(g.Commit(t.Context(), &lathe.PartChanged{Part: p}, last))(g.fixture)
		events := l.received()
		g.same(name, kinds(events), []string{"message.part.updated", last.Type()})
		f.apply(events...)
		f.compare(g.fixture, lathe.Scope{})
		if open := name == "told again"; open != (g.Holds() == 1) || open != (engine.Texts(g.Engine) == 1) {
			t.Errorf("%s: %d texts are held, %d are on the bus", name, g.Holds(), engine.Texts(g.Engine))
		}
		if g.Holds() > 0 {
			must(g.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, "more")}))(g.fixture)
		}
	}
}

// An open part that is written again, because something else about it changed, continues
// growing, and no client is notified its text twice.
func TestRunner_WritesAnOpenPartAgain(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	l := g.listen(lathe.Scope{})
	f := newFold()
	f.read(g.stored(lathe.Scope{})[g.s.ID])
	p := g.opens("")
	g.ok(g.Grow(p.ID, "one "))
	again := p.WithText(g.Text(p.ID))
	again.Body.(*lathe.Text).Metadata = []byte(`{"acme":{"signature":"x"}}`)
	must(g.Commit(t.Context(), &lathe.PartChanged{Part: again}))(g.fixture)
	g.ok(g.Grow(p.ID, "two"))
	events := l.received()
	g.same("told", kinds(events), []string{"message.part.updated", "message.part.delta", "message.part.updated", "message.part.delta"})
	f.apply(events...)
	g.ok(g.Checkpoint(t.Context()))
	f.compare(g.fixture, lathe.Scope{})
	if got := g.text(p.ID); got != "one two" {
		t.Errorf("stored is %q", got)
	}
	for _, short := range []string{"one ", ""} { // what it has not is made up for by the next checkpoint
		must(g.Commit(t.Context(), &lathe.PartChanged{Part: p.WithText(short)}))(g.fixture)
		g.ok(g.Grow(p.ID, "!"))
		g.ok(g.Checkpoint(t.Context()))
		f.apply(l.received()...)
		f.compare(g.fixture, lathe.Scope{})
	}
	if got := g.text(p.ID); got != "one two!!" {
		t.Errorf("stored is %q", got)
	}
}

// A checkpoint writes what is new and takes a number for each part that has grown; no client is
// notified. (Deltas 4)
func TestRunner_CheckpointWritesOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	a, b := g.opens("begun "), g.opens("")
	l := g.listen(lathe.Scope{})
	step := func(want int64) {
		t.Helper()
		before := g.counter()
		g.ok(g.Checkpoint(t.Context()))
		if took := g.counter() - before; took != want {
			t.Errorf("it took %d numbers, want %d", took, want)
		}
		for _, p := range []lathe.Part{a, b} {
			if got, want := g.text(p.ID), g.Text(p.ID); got != want {
				t.Errorf("stored is %q, streamed %q", got, want)
			}
		}
	}
	step(0)
	g.ok(g.Grow(a.ID, "one"))
	step(1)
	step(0)
	g.ok(g.Grow(a.ID, " two"))
	g.ok(g.Grow(b.ID, "other \xf0\x9f")) // half a character waits for its end
	step(2)
	g.ok(g.Grow(b.ID, "\x98\x80"))
	step(1)
	if got := g.text(b.ID); got != "other 😀" {
		t.Errorf("stored is %q", got)
	}
	for _, e := range l.received() {
		if e.Fact.Type() != "message.part.delta" && e.Fact.Type() != "message.part.updated" || e.Seq != 0 {
			t.Errorf("told %s with number %d", e.Fact.Type(), e.Seq)
		}
	}
}

// A checkpoint that failed is made up for by the next one.
func TestRunner_CheckpointFails(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	p := g.opens("")
	g.ok(g.Grow(p.ID, "one "))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.is(g.Checkpoint(ctx), lathe.Canceled)
	if got := g.text(p.ID); got != "" {
		t.Errorf("stored is %q", got)
	}
	g.ok(g.Grow(p.ID, "two"))
	g.ok(g.Checkpoint(t.Context()))
	if got := g.text(p.ID); got != "one two" {
		t.Errorf("stored is %q", got)
	}
}

// The lease is given back although the turn was canceled.
func TestRunner_ReleaseAfterCancel(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	p := g.opens("")
	g.ok(g.Grow(p.ID, "unsaved"))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err := g.Commit(ctx, &lathe.PartChanged{Part: closedBody(p, "unsaved")})
	if err == nil || err.Error() != "enough" {
		t.Errorf("a commit after the cancel: %v", err)
	}
	g.ok(g.Release(ctx))
	g.ok(g.runner(g.s.ID).Release(ctx))
	if hs := must(g.Store().Leases(t.Context()))(g.fixture); len(hs) != 0 {
		t.Errorf("held: %+v", hs)
	}
}

// A text that the store has whole stays on the bus when its runner goes, for the next reader;
// one that it has not ends there, and a client that continues begins with what is stored.
func TestRunner_ReleaseLeavesWhatIsStored(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	whole, cut := g.opens(""), g.opens("")
	g.ok(g.Grow(whole.ID, "stored"))
	g.ok(g.Grow(cut.ID, "stored"))
	g.ok(g.Checkpoint(t.Context()))
	g.ok(g.Grow(cut.ID, " and lost"))
	g.ok(g.Release(t.Context()))
	if n := engine.Texts(g.Engine); n != 1 {
		t.Errorf("%d texts are on the bus", n)
	}
	l := g.listen(lathe.Scope{})
	joined := l.received()
	if p := joined[0].Fact.(*lathe.PartChanged).Part; len(joined) != 1 || p.ID != whole.ID || p.GrowingText() != "stored" {
		t.Errorf("joined with %v", joined)
	}
	f := newFold()
	f.read(g.stored(lathe.Scope{})[g.s.ID])
	for _, p := range []lathe.Part{whole, cut} {
		got := must(g.UpdatePart(t.Context(), p, ", continued"))(g.fixture)
		if got.GrowingText() != "stored, continued" {
			t.Errorf("%q", got.GrowingText())
		}
	}
	f.apply(l.received()...)
	f.compare(g.fixture, lathe.Scope{})
	for _, p := range []lathe.Part{whole, cut} {
		must(g.UpdatePart(t.Context(), closedBody(p, "done"), ""))(g.fixture)
	}
	f.apply(l.received()...)
	f.compare(g.fixture, lathe.Scope{})
	if n := engine.Texts(g.Engine); n != 0 {
		t.Errorf("%d texts are on the bus at the end", n)
	}
}

// After a session was removed its runner's writes fail with conflict, and nothing of it
// stays. (spec 16.7.114)
func TestRunner_SessionIsRemoved(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	p := g.opens("")
	g.ok(g.Grow(p.ID, "words"))
	g.ok(g.Remove(t.Context(), g.s.ID))
	g.ok(g.Grow(p.ID, " more"))
	g.is(g.Checkpoint(t.Context()), lathe.Conflict)
	_, err := g.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, "words more")})
	g.is(err, lathe.Conflict)
	g.ok(g.Release(t.Context()))
	if n := engine.Texts(g.Engine); n != 0 {
		t.Errorf("%d texts are on the bus", n)
	}
}

// However a text was cut into deltas, and whenever it was checkpointed, the history holds
// what was streamed: after each checkpoint, and at the end. (I10)
func TestRunner_HistoryIsWhatWasStreamed(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	rapid.Check(t, func(t *rapid.T) {
		g := *g
		g.tb = t
		p := g.opens(rapid.SampledFrom([]string{"", "begun 😀 "}).Draw(t, "begun"))
		sent := p.GrowingText()
		words := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'é', '€', '😀', '\u200d'}), 0, 40, -1).Draw(t, "words")
		for rest := words; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			g.ok(g.Grow(p.ID, rest[:n]))
			sent, rest = sent+rest[:n], rest[n:]
			if !rapid.Bool().Draw(t, "checkpoint") {
				continue
			}
			g.ok(g.Checkpoint(t.Context()))
			got := g.text(p.ID)
			if got != g.Text(p.ID) {
				t.Fatalf("stored is %q, streamed %q", got, g.Text(p.ID))
			}
			if more, ok := strings.CutPrefix(sent, got); !ok || len(more) > 3 {
				t.Fatalf("stored is %q, sent %q", got, sent)
			}
		}
		must(g.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, sent)}))(g.fixture)
		if got := g.text(p.ID); got != sent {
			t.Fatalf("at the end %q, sent %q", got, sent)
		}
		must(g.Commit(t.Context(), &lathe.PartRemoved{Session: g.s.ID, Message: g.m.ID, Part: p.ID}))(g.fixture)
	})
}
