package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// The first event is server.connected, with the number of the moment. (feed.md, Live 1)
func TestEvents_Begin(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	l := w.listen(lathe.Scope{})
	w.same("of an empty store", l.hello, lathe.Event{ID: l.hello.ID, Last: true, Fact: &lathe.ServerConnected{}})
	s := w.session()
	w.user(s.ID, "words")
	for _, scope := range []lathe.Scope{{}, {Directory: w.dir}, {Session: s.ID}, {Session: "ses_none"}} {
		l := w.listen(scope)
		w.same("hello", l.hello, lathe.Event{ID: l.hello.ID, Seq: w.counter(), Last: true, Fact: &lathe.ServerConnected{}})
		w.same("nothing of before", kinds(l.received()), []string{})
	}
}

// What another process wrote while no client listened here is not sent to the next reader.
func TestEvents_BeginsWithTheNumberOfTheMoment(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.another()
	for range 3 {
		other.user(other.session().ID, "long ago")
	}
	l := w.listen(lathe.Scope{})
	if now := w.counter(); l.hello.Seq != now {
		t.Errorf("the stream begins at %d, the store is at %d", l.hello.Seq, now)
	}
	w.ok(w.Store().Poll(t.Context()))
	w.same("told", kinds(l.received()), []string{})
}

// A stream that resumes says hello without a number if something has changed, and only
// the last of what has changed carries one; if nothing has, hello does. (Since)
func TestEvents_Resume(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first := w.listen(lathe.Scope{})
	s := w.session()
	m := w.user(s.ID, "words")
	events := w.listen(lathe.Scope{}, first.at).received()
	w.same("changed", kinds(events), []string{
		"project.updated", "session.created", "session.updated", "message.updated", "message.part.updated",
	})
	for i, e := range events {
		if last := i == len(events)-1; e.Last != last || last && e.Seq != w.counter() || !last && e.Seq != 0 {
			t.Errorf("event %d, %s: number %d, last %v", i, e.Fact.Type(), e.Seq, e.Last)
		}
	}
	now := lathe.Cursor{Seq: w.counter(), Feed: w.Feed()}
	for name, c := range map[string]lathe.Cursor{"a full cursor": now, "a bare number": {Seq: now.Seq}} {
		l := w.listen(lathe.Scope{}, c)
		w.same(name, l.hello, lathe.Event{ID: l.hello.ID, Seq: now.Seq, Last: true, Fact: &lathe.ServerConnected{}})
	}
	parsed := must(lathe.ParseCursor(now.String()))(w)
	w.same("as SSE ids are written", parsed, now)

	other := w.session()
	nothing := w.listen(lathe.Scope{Session: s.ID}, now)
	if nothing.hello.Seq != w.counter() || !nothing.hello.Last {
		t.Errorf("nothing changed in scope, hello has number %d", nothing.hello.Seq)
	}
	something := w.listen(lathe.Scope{Session: other.ID}, now)
	if something.hello.Seq != 0 || something.hello.Last {
		t.Errorf("something changed in scope, hello has number %d", something.hello.Seq)
	}
	must(w.UpdatePart(t.Context(), m.Parts[0], ""))(w)
	w.same("then it goes on live", kinds(nothing.received()), []string{"message.part.updated"})
	w.same("resumed, then live", kinds(something.received()), []string{"session.created", "session.updated"})
}

// A cursor that cannot be resumed from is answered with server.resync and the present number;
// the stream then continues.
func TestEvents_Resync(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, gone := w.session(), w.session()
	early := w.counter()
	w.ok(w.Remove(t.Context(), gone.ID))
	w.clock.forward(8 * 24 * 3600 * 1000)
	w.ok(w.Store().Vacuum(t.Context(), nil)) // drops the tombstone
	if floor := must(w.Store().Stats(t.Context()))(w).Floor; floor <= early {
		t.Fatalf("the floor is %d, not above %d", floor, early)
	}
	now := w.counter()
	for name, c := range map[string]lathe.Cursor{
		"of another database": {Seq: now, Feed: "deadbeef"},
		"of the future":       {Seq: now + 100, Feed: w.Feed()},
		"bare, of the future": {Seq: now + 1000},
		"below the floor":     {Seq: early, Feed: w.Feed()},
		"of the beginning":    {},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			l := w.listen(lathe.Scope{Session: s.ID}, c)
			w.same("hello", l.hello, lathe.Event{ID: l.hello.ID, Fact: &lathe.ServerConnected{}})
			resync := l.read()
			w.same("resync", resync, lathe.Event{ID: resync.ID, Seq: w.counter(), Last: true, Fact: &lathe.ServerResync{}})
			must(w.Rename(t.Context(), s.ID, name))(w)
			w.same("then", kinds(l.received()), []string{"session.updated"})
			again := w.listen(lathe.Scope{Session: s.ID}, l.at)
			if again.hello.Seq != l.at.Seq {
				t.Errorf("the number it left, %v, is answered with %d", l.at, again.hello.Seq)
			}
		})
	}
	l := w.listen(lathe.Scope{}, lathe.Cursor{Seq: must(w.Store().Stats(t.Context()))(w).Floor, Feed: w.Feed()})
	for _, e := range l.received() {
		if _, ok := e.Fact.(*lathe.ServerResync); ok {
			t.Error("the floor itself can be resumed from")
		}
	}
}

// hooked is a driver that does something once, before a read.
type hooked struct {
	store.Driver
	before atomic.Pointer[func()]
}

func (h *hooked) Read(ctx context.Context, f func(store.Reader) error) error {
	if do := h.before.Swap(nil); do != nil {
		(*do)()
	}
	return h.Driver.Read(ctx, f)
}

// What is committed after a reader has subscribed and before it has read the store comes
// with what it reads, and not once more from the bus. (Live 1)
func TestEvents_CommitWhileConnecting(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	start := lathe.Cursor{Seq: w.counter()}
	w.ok(w.Close())
	d, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(w.data, "lathe.db")})
	w.ok(err)
	h := &hooked{Driver: d}
	w.Engine, err = engine.Open(t.Context(), engine.Options{Driver: h, Now: w.clock.now, IDs: w.ids})
	w.ok(err)
	t.Cleanup(func() { w.ok(w.Close()) })
	w.listen(lathe.Scope{}) // or the next one would first look at the store
	rename := func() { must(w.Rename(t.Context(), s.ID, "just now"))(w) }
	h.before.Store(&rename)
	l := w.listen(lathe.Scope{}, start)
	if engine.Subscribers(w.Engine) != 2 || h.before.Load() != nil {
		t.Fatalf("%d listen", engine.Subscribers(w.Engine))
	}
	events := l.received()
	w.same("told once", kinds(events), []string{"session.updated"})
	if events[0].Seq != w.counter() {
		t.Errorf("with number %d", events[0].Seq)
	}
}

// Events of a scope are those of its session or directory, and what concerns everyone.
func TestEvents_Scope(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := gittest.RealTemp(t)
	a := w.session()
	b := must(w.Create(t.Context(), other, lathe.NewSession{}))(w)
	start := lathe.Cursor{Seq: w.counter()}
	c := w.session()
	live := map[string]*listener{
		"all": w.listen(lathe.Scope{}), "here": w.listen(lathe.Scope{Directory: w.dir}), "there": w.listen(lathe.Scope{Directory: other}),
		"a": w.listen(lathe.Scope{Session: a.ID}), "b": w.listen(lathe.Scope{Session: b.ID}),
	}
	for _, id := range []lathe.SessionID{a.ID, b.ID, c.ID} {
		must(w.Rename(t.Context(), id, "named"))(w)
	}
	w.ok(w.Remove(t.Context(), b.ID))
	who := map[lathe.SessionID]string{a.ID: "a", b.ID: "b", c.ID: "c"}
	notified := func(events []lathe.Event) []string {
		out := []string{}
		for _, e := range events {
			out = append(out, strings.TrimPrefix(e.Fact.Type(), "session.")+" "+who[e.Session])
		}
		return out
	}
	for name, want := range map[string][]string{
		"all": {"updated a", "updated b", "updated c", "deleted b"}, "here": {"updated a", "updated c"},
		"there": {"updated b", "deleted b"}, "a": {"updated a"}, "b": {"updated b", "deleted b"},
	} {
		w.same("live, "+name, notified(live[name].received()), want)
	}
	for name, want := range map[string][]string{
		"all": {"created c", "updated c", "updated a", "deleted b"}, "here": {"created c", "updated c", "updated a"},
		"there": {"deleted b"}, "a": {"updated a"}, "b": {"deleted b"},
	} {
		w.same("resumed, "+name, notified(w.listen(live[name].scope, start).received()), want)
	}
}

// A client that joins while a part grows gets the text so far from the runner, not from the
// store, and then exactly the rest. (Deltas 2)
func TestEvents_JoinWhileAPartGrows(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	m := w.answer(w.user(s.ID, "go"))
	r := w.runner(s.ID)
	start := lathe.Cursor{Seq: w.counter()}
	p := w.growing(m, "")
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
	w.ok(r.Grow(p.ID, "Eins 😀"))
	w.ok(r.Checkpoint(t.Context()))
	w.ok(r.Grow(p.ID, " zwei"))
	known := w.stored(lathe.Scope{})[s.ID]
	readers := map[string]*listener{
		"all": w.listen(lathe.Scope{}), "directory": w.listen(lathe.Scope{Directory: w.dir}), "session": w.listen(lathe.Scope{Session: s.ID}),
		"resumed from before": w.listen(lathe.Scope{}, start), "resumed": w.listen(lathe.Scope{}, lathe.Cursor{Seq: w.counter()}),
	}
	folds := map[string]*fold{}
	for name, l := range readers {
		events := l.received()
		last := events[len(events)-1].Fact.(*lathe.PartChanged)
		if got := last.Part.GrowingText(); got != "Eins 😀 zwei" || !last.Part.Open() {
			t.Errorf("%s: joined with %q, open %v", name, got, last.Part.Open())
		}
		folds[name] = newFold()
		folds[name].read(known)
		folds[name].apply(events...)
	}
	w.ok(r.Grow(p.ID, " drei"))
	w.ok(r.Grow(p.ID, " vier"))
	for name, l := range readers {
		events := l.received()
		d := events[0].Fact.(*lathe.PartDelta)
		if len(events) != 1 || d.Delta != " drei vier" || d.Offset != 12 {
			t.Errorf("%s: %d events, %q at %d", name, len(events), d.Delta, d.Offset)
		}
		folds[name].apply(events...)
	}
	w.ok(r.Checkpoint(t.Context()))
	for _, f := range folds {
		f.compare(w, lathe.Scope{})
	}
	must(r.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, "Eins 😀 zwei drei vier.")}))(w)
	w.ok(r.Release(t.Context()))
	for name, l := range readers {
		folds[name].apply(l.received()...)
		folds[name].compare(w, lathe.Scope{})
	}
	late := w.listen(lathe.Scope{})
	w.same("a later subscriber receives nothing of it", kinds(late.received()), []string{})
}

// A reader that does not read while more than its queue holds passes by continues in the same
// stream, and misses nothing that still is. (Live 4)
func TestEvents_Lag(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string]func(dir string, id lathe.SessionID) lathe.Scope{
		"all":       func(string, lathe.SessionID) lathe.Scope { return lathe.Scope{} },
		"directory": func(dir string, _ lathe.SessionID) lathe.Scope { return lathe.Scope{Directory: dir} },
		"session":   func(_ string, id lathe.SessionID) lathe.Scope { return lathe.Scope{Session: id} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			s := w.session()
			m := w.user(s.ID, "go")
			gone := w.user(s.ID, "to be removed")
			scope := scope(w.dir, s.ID)
			l := w.listen(scope)
			f := newFold()
			f.read(w.stored(scope)[s.ID])

			r := w.runner(s.ID)
			open := w.growing(m, "")
			must(r.Commit(t.Context(), &lathe.PartChanged{Part: open}))(w)
			const changes = 120
			large := strings.Repeat("0123456789abcdef", 3<<10) // 48 KB, below what becomes a file
			p := lathe.Part{ID: w.ids.Part(), Session: s.ID, Message: m.ID}
			for i := range changes {
				p.Body = &lathe.Text{Text: fmt.Sprint(i, large)}
				must(r.Commit(t.Context(), &lathe.PartChanged{Part: p}))(w)
				w.ok(r.Grow(open.ID, fmt.Sprintf("%d ", i)))
			}
			must(r.Commit(t.Context(), &lathe.MessageRemoved{Session: s.ID, Message: gone.ID}))(w)
			w.ok(r.Checkpoint(t.Context()))
			must(w.Touch(t.Context(), s.ID))(w)

			notified, now := 0, w.counter()
			for l.at.Seq < now {
				e := l.read()
				f.apply(e)
				switch c := e.Fact.(type) {
				case *lathe.PartChanged:
					if c.Part.ID == p.ID {
						notified++
					}
				case *lathe.ServerConnected, *lathe.ServerResync:
					t.Errorf("%s in the middle of a stream", e.Fact.Type())
				default:
				}
			}
			if notified == 0 || notified > changes/2 {
				t.Errorf("%d of %d changes were told: that was no lag", notified, changes)
			}
			f.apply(l.received()...)
			f.compare(w, scope)

			w.ok(r.Grow(open.ID, "and on"))
			w.ok(r.Checkpoint(t.Context()))
			f.apply(l.received()...)
			f.compare(w, scope)
			w.ok(r.Release(t.Context()))
		})
	}
}

// Commits, streams that come and go and cuts in between, all at once: each reader ends
// with what is stored. (I1, I2)
func TestEvents_ManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const sessions, rounds = 4, 25
	var all []lathe.SessionID
	for range sessions {
		all = append(all, w.session().ID)
	}
	var writers, readers sync.WaitGroup
	for _, id := range all {
		m := w.answer(w.user(id, "go"))
		r := w.runner(id)
		writers.Go(func() {
			for i := range rounds {
				p := w.growing(m, "")
				text := ""
				check := func(err error) {
					if err != nil {
						t.Error(err)
					}
				}
				_, err := r.Commit(t.Context(), &lathe.PartChanged{Part: p})
				check(err)
				for j := range 10 {
					delta := fmt.Sprintf("%d.%d 😀 ", i, j)
					text += delta
					check(r.Grow(p.ID, delta))
					if j == 5 {
						check(r.Checkpoint(t.Context()))
					}
				}
				_, err = r.Commit(t.Context(), &lathe.PartChanged{Part: closedBody(p, text)})
				check(err)
			}
			if err := r.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	folds := make([]*fold, 6)
	for i := range folds {
		folds[i] = newFold()
		readers.Go(func() { w.follow(folds[i], i+1) })
	}
	writers.Wait()
	must(w.Rename(t.Context(), all[0], theEnd))(w)
	readers.Wait()
	for _, f := range folds {
		f.compare(w, lathe.Scope{})
	}
}

const theEnd = "the end" // the title of a session when all is written

// follow reads from the beginning, cuts the stream every so many events and resumes, until
// a session has the last title.
func (w *fixture) follow(f *fold, every int) {
	at := lathe.Cursor{}
	for ended := false; !ended; every++ { // a cut may come before anything can be noted
		n := 0
		for e, err := range w.Events(w.Context(), lathe.Scope{}, lathe.Some(at)) {
			if err != nil {
				w.Errorf("%v", err)
				return
			}
			f.apply(e)
			if c, ok := e.Fact.(*lathe.SessionChanged); ok && c.Info.Title == theEnd {
				ended = true
			}
			if e.Last {
				at = lathe.Cursor{Seq: e.Seq, Feed: w.Feed()}
			}
			if n++; e.Last && ended || n > every*7 && !ended {
				break
			}
		}
	}
}
