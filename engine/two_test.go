package engine_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// looks lets an engine look at what others wrote, as it does five times a second.
func (w *fixture) looks() {
	w.Helper()
	w.ok(w.Store().Poll(w.Context()))
}

// Each process sees what the other has settled, with the same events, and the open parts
// of the other grow as its own do. (feed.md, Two processes on one SQLite file)
func TestTwo_SeeEachOther(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.another()
	l := w.listen(lathe.Scope{})
	f := newFold()
	sees := func(want ...string) []lathe.Event {
		t.Helper()
		w.looks()
		events := l.received()
		w.same("told", kinds(events), want)
		f.apply(events...)
		f.compare(w, lathe.Scope{})
		return events
	}
	s := other.session()
	sees("project.updated", "session.created")
	must(other.Rename(t.Context(), s.ID, "Named there"))(w)
	sees("session.updated")
	m := other.answer(other.user(s.ID, "go"))
	sees("message.updated", "message.part.updated", "message.updated")

	r := other.runner(s.ID)
	p := other.growing(m, "")
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
	sees("message.part.updated")
	w.ok(r.Grow(p.ID, "Grüße"))
	sees()
	w.ok(r.Checkpoint(t.Context()))
	d := sees("message.part.delta")[0].Fact.(*lathe.PartDelta)
	w.same("delta", d, &lathe.PartDelta{Session: s.ID, Message: m.ID, Part: p.ID, Field: "text", Delta: "Grüße"})
	w.ok(r.Grow(p.ID, " 😀"))
	w.ok(r.Checkpoint(t.Context()))
	w.ok(r.Grow(p.ID, "!"))
	w.ok(r.Checkpoint(t.Context()))
	d = sees("message.part.delta")[0].Fact.(*lathe.PartDelta)
	w.same("delta", []any{d.Delta, d.Offset}, []any{" 😀!", 5})

	marked := p.WithText("Grüße 😀!")
	marked.Body.(*lathe.Text).Metadata = []byte(`{"acme":{"id":1}}`)
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: marked}))(w)
	sees("message.part.updated") // something else than its text has changed
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: marked.WithText("Rewritten")}))(w)
	sees("message.part.updated")
	w.ok(r.Grow(p.ID, " anew"))
	w.ok(r.Checkpoint(t.Context()))
	sees("message.part.delta")
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, "Rewritten anew.")}))(w)
	sees("message.part.updated")
	if n := engine.Texts(w.Engine); n != 0 {
		t.Errorf("%d texts are left on the bus", n)
	}
	must(r.Commit(t.Context(), &lathe.PartRemoved{Session: s.ID, Message: m.ID, Part: p.ID}))(w)
	sees("message.part.removed")
	w.ok(r.Release(t.Context()))
	fork := must(other.Fork(t.Context(), w.dir, s.ID, ""))(w)
	sees("session.created", "message.updated", "message.part.updated", "message.updated")
	w.ok(other.Remove(t.Context(), s.ID))
	sees("session.deleted")

	w.user(fork.ID, "and back")
	back := other.listen(lathe.Scope{Session: fork.ID}, lathe.Cursor{})
	g := newFold()
	g.apply(back.received()...)
	g.compare(other, lathe.Scope{Session: fork.ID})
}

// A batch of another process that holds growth and more can be noted by readers.
func TestTwo_NumbersOfABatch(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.another()
	l := w.listen(lathe.Scope{})
	s := other.session()
	m := other.answer(other.user(s.ID, "go"))
	r := other.runner(s.ID)
	p := other.growing(m, "")
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
	w.looks()
	f := newFold()
	f.apply(l.received()...)
	must(other.Rename(t.Context(), s.ID, "Named"))(w)
	w.ok(r.Grow(p.ID, "words"))
	w.ok(r.Checkpoint(t.Context()))
	w.looks()
	events := l.received()
	w.same("told", kinds(events), []string{"message.part.delta", "session.updated"})
	f.apply(events...)
	f.compare(w, lathe.Scope{})
	if l.at.Seq != w.counter() {
		t.Errorf("after %v the reader may note %d, the store is at %d", kinds(events), l.at.Seq, w.counter())
	}
	again := w.listen(lathe.Scope{}, l.at)
	if again.hello.Seq != l.at.Seq {
		t.Errorf("from there on, hello has number %d", again.hello.Seq)
	}
}

// A part of another process that ended while no client listened here is not shown as open to
// the next reader, with a cursor or without.
func TestTwo_EndsWithoutListeners(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *fixture, r engine.Runner, p lathe.Part){
		"settled": func(w *fixture, r engine.Runner, p lathe.Part) {
			must(r.Commit(w.Context(), &lathe.PartChanged{Part: closedBody(p, "over")}))(w)
		},
		"removed": func(w *fixture, r engine.Runner, p lathe.Part) {
			must(r.Commit(w.Context(), &lathe.PartRemoved{Session: p.Session, Message: p.Message, Part: p.ID}))(w)
		},
		"removed with its session": func(w *fixture, _ engine.Runner, p lathe.Part) { w.ok(w.Remove(w.Context(), p.Session)) },
	} {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, begun here %v", name, own), func(t *testing.T) {
				t.Parallel()
				w := newFixture(t)
				other := w.another()
				s := w.session()
				m := w.answer(w.user(s.ID, "go"))
				p := w.growing(m, "")
				var r engine.Runner
				l := w.listen(lathe.Scope{})
				if own { // opened by this process, ended by the other
					must(w.UpdatePart(t.Context(), p, ""))(w)
					r = other.runner(s.ID)
				} else {
					r = other.runner(s.ID)
					must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
				}
				w.looks()
				f := newFold()
				f.read(w.stored(lathe.Scope{})[s.ID])
				f.apply(l.received()...)
				f.compare(w, lathe.Scope{})
				l.stop()
				end(other, r, p)
				w.ok(r.Release(t.Context()))
				must(w.Create(t.Context(), w.dir, lathe.NewSession{}))(w) // something of our own in between

				fresh := newFold()
				joined := w.listen(lathe.Scope{})
				for _, st := range w.stored(lathe.Scope{}) {
					fresh.read(st)
				}
				fresh.apply(joined.received()...)
				fresh.compare(w, lathe.Scope{})
				f.apply(w.listen(lathe.Scope{}, l.at).received()...)
				f.compare(w, lathe.Scope{})
				if n := engine.Texts(w.Engine); n != 0 {
					t.Errorf("%d texts are left on the bus", n)
				}
			})
		}
	}
}

// A reader that resumes may learn from the store what the bus here has not seen yet. What
// it was shown as settled is not opened again by what the bus still has of it.
func TestTwo_StoreIsAheadOfTheBus(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.another()
	l := w.listen(lathe.Scope{}) // so that another reader is not the first, and does not look
	s := other.session()
	m := other.answer(other.user(s.ID, "go"))
	r := other.runner(s.ID)
	p := other.growing(m, "so far")
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
	w.looks()
	l.received()
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, "so far and over")}))(w)
	w.ok(r.Release(t.Context()))
	resumed := w.listen(lathe.Scope{}, l.at)
	f := newFold()
	f.read(w.stored(lathe.Scope{})[s.ID])
	for range 3 {
		f.apply(resumed.received()...)
		f.compare(w, lathe.Scope{})
		w.looks()
	}
}

// A prompt that is admitted in one process is published in the other, also while the other
// works on its session.
func TestTwo_PromptArrives(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.another()
	s := w.session()
	r := w.runner(s.ID)
	l := w.listen(lathe.Scope{Session: s.ID})
	m := lathe.Message{ID: other.ids.Message(), Session: s.ID, Data: &lathe.User{Agent: "plan", Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}}}
	m.Parts = []lathe.Part{{ID: other.ids.Part(), Session: s.ID, Message: m.ID, Body: &lathe.Text{Text: "Stop!"}}}
	must(other.Store().Admit(t.Context(), s.ID, lathe.Submission{Message: m, Digest: "d"}))(w)
	w.looks()
	events := l.received()
	w.same("told", kinds(events), []string{"message.updated", "message.part.updated", "session.updated"})
	if got := events[1].Fact.(*lathe.PartChanged).Part.GrowingText(); got != "Stop!" {
		t.Errorf("it says %q", got)
	}
	waiting, _, err := w.Store().Inbox(t.Context(), s.ID)
	w.ok(err)
	if len(waiting) != 1 || waiting[0].Message != m.ID {
		t.Errorf("waiting: %+v", waiting)
	}
	must(r.Commit(t.Context(), &lathe.Promote{Session: s.ID, Message: m.ID}))(w)
	w.ok(r.Release(t.Context()))
}

// An own commit that finds changes of another process tells those first, in number order.
func TestTwo_OwnCommitComesAfterTheirs(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.another()
	s := w.session()
	l := w.listen(lathe.Scope{})
	must(other.Rename(t.Context(), s.ID, "theirs"))(w)
	must(w.Rename(t.Context(), s.ID, "ours"))(w)
	var titles []string
	for _, e := range l.received() {
		titles = append(titles, e.Fact.(*lathe.SessionChanged).Info.Title)
	}
	w.same("told", titles, []string{"theirs", "ours"})
}

// The engine looks by itself while someone listens: what another process settles arrives by
// itself, and so do deltas.
func TestTwo_LooksByItself(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.another()
	s := other.session()
	m := other.answer(other.user(s.ID, "go"))
	r := other.runner(s.ID)
	p := other.growing(m, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next, stop := iter.Pull2(w.Events(ctx, lathe.Scope{Session: s.ID}, lathe.Opt[lathe.Cursor]{}))
	defer stop()
	arrives := func(kind string) {
		t.Helper()
		began := time.Now()
		ev, err, _ := next()
		if w.ok(err); ev.Fact.Type() != kind {
			t.Fatalf("%s arrives, not %s", ev.Fact.Type(), kind)
		}
		t.Logf("%s after %v", kind, time.Since(began).Round(time.Millisecond))
	}
	arrives("server.connected")
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
	arrives("message.part.updated")
	w.ok(r.Grow(p.ID, "words"))
	w.ok(r.Checkpoint(t.Context()))
	arrives("message.part.delta")
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, "words.")}))(w)
	arrives("message.part.updated")
	w.ok(r.Release(t.Context()))
}

// TestTwo_ChildProcess is the other side of TestTwo_Processes. It runs the commands on its
// input, a line each, and answers each with a line.
func TestTwo_ChildProcess(t *testing.T) {
	if flag.NArg() != 3 || flag.Arg(0) != "child" {
		t.Skip("only as a child of TestTwo_Processes")
	}
	w := fixtureIn(t, flag.Arg(1), flag.Arg(2))
	w.opens = 100
	w.ok(w.Close())
	w.Engine, w.ids = w.open() // with ids of its own
	var s lathe.Session
	var m lathe.Message
	var p lathe.Part
	var r engine.Runner
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer := "ok"
		switch word, rest, _ := strings.Cut(in.Text(), " "); word {
		case "create":
			s = w.session(lathe.NewSession{Title: rest})
			answer = string(s.ID)
		case "take":
			m = w.answer(w.user(s.ID, "go"))
			r = w.runner(s.ID)
			p = w.growing(m, "")
			must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
		case "grow":
			w.ok(r.Grow(p.ID, rest))
			w.ok(r.Checkpoint(t.Context()))
		case "settle":
			must(r.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, rest)}))(w)
		case "inbox":
			waiting, _, err := w.Store().Inbox(t.Context(), s.ID)
			w.ok(err)
			answer = fmt.Sprint(len(waiting))
		}
		fmt.Fprintln(os.Stdout, "child:", answer)
	}
}

// child is another process on the same database.
type child struct {
	w   *fixture
	in  io.WriteCloser
	out *bufio.Scanner
	cmd *exec.Cmd
}

func (w *fixture) child(t *testing.T) *child {
	t.Helper()
	exe, err := os.Executable()
	w.ok(err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestTwo_ChildProcess$", "child", w.data, w.dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	w.ok(err)
	out, err := cmd.StdoutPipe()
	w.ok(err)
	w.ok(cmd.Start())
	return &child{w, in, bufio.NewScanner(out), cmd}
}

// do tells the child to do something and returns its answer.
func (c *child) do(what string) string {
	c.w.Helper()
	_, err := fmt.Fprintln(c.in, what)
	c.w.ok(err)
	for c.out.Scan() {
		if answer, ok := strings.CutPrefix(c.out.Text(), "child: "); ok {
			return answer
		}
	}
	c.w.Fatalf("the child has ended without an answer to %q", what)
	return ""
}

// Two real processes: what one settles and what grows there arrives here; a prompt from
// here arrives there; and when it is killed in the middle, its session is free at once.
func TestTwo_Processes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	c := w.child(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next, stop := iter.Pull2(w.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}))
	defer stop()
	f := newFold()
	until := func(kind string) lathe.Event { // whatever comes with it
		t.Helper()
		for {
			ev, err, _ := next()
			w.ok(err)
			f.apply(ev)
			if ev.Fact.Type() == kind {
				return ev
			}
		}
	}
	until("server.connected")
	id := lathe.SessionID(c.do("create Made there"))
	if got := until("session.created").Session; got != id {
		t.Errorf("created %s, told %s", id, got)
	}
	c.do("take")
	for open := false; !open; {
		p := until("message.part.updated").Fact.(*lathe.PartChanged)
		open = p.Part.Open()
	}
	c.do("grow Grüße 😀")
	if d := until("message.part.delta").Fact.(*lathe.PartDelta); d.Delta != "Grüße 😀" || d.Offset != 0 {
		t.Errorf("%q at %d", d.Delta, d.Offset)
	}
	c.do("grow  und mehr")
	if d := until("message.part.delta").Fact.(*lathe.PartDelta); d.Delta != " und mehr" || d.Offset != 8 {
		t.Errorf("%q at %d", d.Delta, d.Offset)
	}
	f.compare(w, lathe.Scope{})
	m := lathe.Message{ID: w.ids.Message(), Session: id, Data: &lathe.User{Agent: "build"}}
	must(w.Store().Admit(t.Context(), id, lathe.Submission{Message: m, Digest: "d"}))(w)
	if got := c.do("inbox"); got != "1" {
		t.Errorf("%s prompts wait there", got)
	}
	_, err := engine.Take(t.Context(), w.Engine, id)
	w.is(err, lathe.Conflict)

	w.ok(c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	r := w.runner(id)
	last := f.exact[id].Messages()[1].Parts[0]
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(last, last.GrowingText())}))(w)
	w.ok(r.Release(t.Context()))
	until("message.part.updated")
	f.compare(w, lathe.Scope{})
}
