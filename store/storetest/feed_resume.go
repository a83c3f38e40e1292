package storetest

import (
	"errors"
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

func testFeedNews(r *env) {
	l := r.sample(nil)
	n := r.counter()
	r.commit(l, lathetest.Ephemeral()...)
	events, res := r.resume(lathe.Cursor{Seq: n}, lathe.Scope{})
	r.same("events", events, []lathe.Event{})
	r.same("resumed", res, store.ResumeResult{Last: n})
}

// testFeedSnapshot writes during a resume.
func testFeedSnapshot(r *env) {
	l := r.held()
	r.said(l, "one")
	n, count := r.counter(), 0
	res, err := r.Since(ctx(), lathe.Cursor{}, lathe.Scope{}, func(lathe.Event) error {
		if count++; count == 1 {
			r.said(l, "two")
		}
		return nil
	})
	r.ok(err)
	r.same("number", res.Last, n)
	r.same("events", count, 2+4)
	r.same("the rest comes next", len(r.since(res.Last, lathe.Scope{})), 4)
}

func testFeedSort(r *env) {
	old := r.held()
	m, _ := r.said(old, "old")
	n := r.counter()
	young := r.held()
	u, a := r.said(young, "young")
	a.Parts = nil
	r.commit(young, wrote(a)...)                                                // a message changes last, when its answer is complete
	must(r.Edit(ctx(), young.Session, lathe.Edit{Title: lathe.Some("New")}))(r) // and its session later still
	r.commit(old, &lathe.MessageChanged{Info: m})                               // an old row, between
	must(r.Edit(ctx(), young.Session, lathe.Edit{Touch: true}))(r)
	of := map[string]string{
		string(m.ID): "m", string(u.ID): "u", string(a.ID): "a",
		string(u.Parts[0].ID): "u1", string(r.history(young.Session)[1].Parts[0].ID): "a1",
	}
	r.same("order", names(r.since(n, lathe.Scope{}), of), []string{"session.created", "session.updated", "u", "u1", "a", "a1", "m"})
}

func testFeedLast(r *env) {
	l := r.held()
	r.said(l, "Hello")
	events, res := r.resume(lathe.Cursor{}, lathe.Scope{})
	for i, e := range events {
		last := i == len(events)-1
		r.same(fmt.Sprintf("event %d is last", i), e.Last, last)
		want := int64(0)
		if last {
			want = res.Last
		}
		r.same(fmt.Sprintf("number of event %d", i), e.Seq, want)
	}
	r.same("counter", res.Last, r.counter())
}

func testFeedNothing(r *env) {
	r.session()
	events, res := r.resume(lathe.Cursor{Seq: 1}, lathe.Scope{})
	r.same("events", events, []lathe.Event{})
	r.same("resumed", res, store.ResumeResult{Last: 1})
}

func testFeedOnce(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	n := r.counter()
	for i := range 5 {
		r.commit(l, changed(ended(m.Parts[0], fmt.Sprint(i))))
		must(r.Edit(ctx(), l.Session, lathe.Edit{Title: lathe.Some(fmt.Sprint(i))}))(r)
	}
	events := r.since(n, lathe.Scope{})
	r.same("kinds", kinds(events), []string{"message.part.updated", "session.updated"})
	r.same("text", events[0].Fact.(*lathe.PartChanged).Part.GrowingText(), "4")
}

func testFeedStop(r *env) {
	r.said(r.held(), "Hello")
	stop := errors.New("enough")
	n := 0
	_, err := r.Since(ctx(), lathe.Cursor{}, lathe.Scope{}, func(lathe.Event) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 2 {
		r.Fatalf("told %d, then %v", n, err)
	}
	r.same("a new attempt", len(r.since(0, lathe.Scope{})), 6)
}

// twoPlaces writes to two sessions of one directory and one of another, and removes a
// message of each.
func (r *env) twoPlaces() (here, there, next store.Lease) {
	r.Helper()
	here = r.held()
	there = r.held(func(s *lathe.Session) { s.Directory = "/elsewhere" })
	next = r.held()
	for _, l := range []store.Lease{here, there, next} {
		_, a := r.said(l, "Hello")
		r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: a.ID}, r.ask(l.Session), status(l.Session, lathe.Busy), &lathe.TodosChanged{Session: l.Session})
	}
	r.open(git("prj", home), home)
	gone := r.session(func(s *lathe.Session) { s.Directory = "/elsewhere" })
	r.ok(r.Remove(ctx(), gone))
	return here, there, next
}

// each is the events of twoPlaces about one session.
const each = 8

func testFeedAll(r *env) {
	r.twoPlaces()
	events := r.since(0, lathe.Scope{})
	r.same("events", len(events), 3*each+2)
}

func testFeedDirectory(r *env) {
	r.twoPlaces()
	events, res := r.resume(lathe.Cursor{}, lathe.Scope{Directory: "/elsewhere"})
	r.same("events", len(events), each+2)
	for _, e := range events {
		if e.Directory != "/elsewhere" && e.Directory != "" {
			r.Fatalf("%s of %s", e.Fact.Type(), e.Directory)
		}
	}
	r.same("kinds", kinds(events)[each:], []string{"project.updated", "session.deleted"})
	r.same("number", events[len(events)-1].Seq, res.Last)
}

func testFeedSession(r *env) {
	here, _, next := r.twoPlaces()
	for _, l := range []store.Lease{here, next} {
		events, res := r.resume(lathe.Cursor{}, lathe.Scope{Session: l.Session})
		r.same("events", len(events), each)
		for _, e := range events {
			r.same("session", e.Session, l.Session)
		}
		r.same("the number covers what was left out", events[each-1].Seq, res.Last)
	}
	events, res := r.resume(lathe.Cursor{}, lathe.Scope{Session: "ses_unknown"})
	r.same("of an unknown one", events, []lathe.Event{})
	r.same("resumed", res, store.ResumeResult{Last: r.counter()})
}

func testFeedEverything(r *env) {
	r.twoPlaces()
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	r.fork(rec.ID, "")
	if d := differ(read(r, r.Store), followed(r, r.since(0, lathe.Scope{}))); d != "" {
		r.Fatalf("a new reader has other sessions: %s", d)
	}
}

func testFeedTombstoneMessage(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	n := r.counter()
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: m.Parts[0].ID}, &lathe.MessageRemoved{Session: l.Session, Message: a.ID})
	r.same("tombstones", must(r.Stats(ctx()))(r).Tombstones, int64(2))
	r.same("kinds", kinds(r.since(n, lathe.Scope{})), []string{"message.part.removed", "message.removed"})
}

func testFeedTombstoneUnknown(r *env) {
	l := r.held()
	n := r.counter()
	m, _ := r.said(l, "Hello")
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: m.ID})
	r.same("sorts by birth", kinds(r.since(n, lathe.Scope{})), []string{"message.removed", "message.updated", "message.part.updated"})
}

const day = lathe.Time(24 * 3600 * 1000)

func testFeedTombstoneAge(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: m.ID})
	first := r.counter()
	r.clock.forward(4 * day)
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: a.ID})
	r.clock.forward(2 * day)
	r.ok(r.Vacuum(ctx(), nil))
	st := must(r.Stats(ctx()))(r)
	r.same("after six days", []int64{st.Tombstones, st.Floor}, []int64{2, 0})
	r.clock.forward(2 * day)
	r.ok(r.Vacuum(ctx(), nil))
	st = must(r.Stats(ctx()))(r)
	r.same("after eight", []int64{st.Tombstones, st.Floor}, []int64{1, first})
	r.same("above the floor", len(r.since(first, lathe.Scope{})), 1)
	_, res := r.resume(lathe.Cursor{Seq: first - 1}, lathe.Scope{})
	r.same("below the floor", res, store.ResumeResult{Last: r.counter(), Resync: true})
}

func testFeedAskAge(r *env) {
	l := r.held()
	ask := r.ask(l.Session)
	r.commit(l, ask)
	r.admit(l.Session, lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Once})
	n := r.counter()
	r.clock.forward(8 * day)
	r.ok(r.Vacuum(ctx(), nil))
	r.same("floor", must(r.Stats(ctx()))(r).Floor, n)
	_, err := r.Admit(ctx(), l.Session, lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Once})
	r.is(err, lathe.NotFound)
}

func testFeedAskStays(r *env) {
	l := r.held()
	ask := r.ask(l.Session)
	r.commit(l, ask)
	r.clock.forward(80 * day)
	r.ok(r.Vacuum(ctx(), nil))
	r.same("asks", r.asks(), []lathe.Fact{ask})
	r.same("floor", must(r.Stats(ctx()))(r).Floor, int64(0))
	r.same("a reader from the beginning", len(r.since(0, lathe.Scope{})), 3)
}

// testFeedTidy: a process that writes also trims, because users need not call Vacuum.
func testFeedTidy(r *env) {
	r.ok(r.Remove(ctx(), r.session()))
	r.clock.forward(8 * day)
	s := r.again(store.Options{})
	must(s.Edit(ctx(), r.session(), lathe.Edit{Touch: true}))(r)
	r.ok(s.Close())
	r.same("tombstones", must(r.Stats(ctx()))(r).Tombstones, int64(0))
}

func testFeedResync(r *env) {
	id := r.session()
	must(r.Edit(ctx(), id, lathe.Edit{Touch: true}))(r)
	for _, c := range []struct {
		after  lathe.Cursor
		resync bool
	}{
		{lathe.Cursor{Seq: 0}, false},
		{lathe.Cursor{Seq: 2}, false},
		{lathe.Cursor{Seq: 3}, true},
		{lathe.Cursor{Seq: -1}, true},
		{lathe.Cursor{Seq: 2, Feed: r.Feed()}, false},
		{lathe.Cursor{Seq: 3, Feed: r.Feed()}, true},
		{lathe.Cursor{Seq: 2, Feed: "another"}, true},
	} {
		events, res := r.resume(c.after, lathe.Scope{Session: id})
		r.same(fmt.Sprintf("from %v", c.after), res, store.ResumeResult{Last: 2, Resync: c.resync})
		if c.resync {
			r.same("told", events, []lathe.Event{})
		}
	}
}

func testFeedOpen(r *env) {
	g := r.grown("one")
	n := r.counter()
	r.ok(g.add(3, " two"))
	r.ok(g.add(7, " three"))
	events := r.since(n, lathe.Scope{})
	r.same("kinds", kinds(events), []string{"message.part.updated"})
	p := events[0].Fact.(*lathe.PartChanged).Part
	r.same("text", p.GrowingText(), "one two three")
	r.same("still open", p.Open(), true)
}

func testFeedLive(r *env) {
	l := r.held()
	r.said(l, "Hello")
	r.published.take()
	n := r.counter()
	_, a := r.said(l, "Hello")
	r.commit(l, &lathe.SessionCompacted{Session: l.Session}, changed(r.finish(a, 1, 1)), &lathe.CommandExecuted{Session: l.Session})
	r.same("numbers", numbers(r.published.take()), []string{
		fmt.Sprint(n + 1), fmt.Sprint(n+2) + "*", fmt.Sprint(n + 3), fmt.Sprint(n+4) + "*", "0", fmt.Sprint(n + 5), fmt.Sprint(n+6) + "*", "0",
	})
}

func testFeedPromoted(r *env) {
	l := r.held()
	p := r.prompt(l.Session, "Hello")
	r.admit(l.Session, p)
	before, n := read(r, r.Store), r.counter()
	r.said(l, "meanwhile")
	r.commit(l, &lathe.Promote{Session: l.Session, Message: p.Message.ID})
	c := newClient(r, before, n)
	for _, e := range r.since(n, lathe.Scope{}) {
		c.take(e)
	}
	if d := differ(read(r, r.Store), c.sessionSet()); d != "" {
		r.Fatalf("a reader has another order: %s", d)
	}
}

// testFeedBack removes things and writes them again under their ids, and looks from every
// number between.
func testFeedBack(r *env) {
	l := r.held()
	var sessionSets []sessionSet
	var cuts []int64
	cut := func() { sessionSets, cuts = append(sessionSets, read(r, r.Store)), append(cuts, r.counter()) }
	m, a := r.said(l, "Hello")
	cut()
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: m.Parts[0].ID})
	cut()
	r.commit(l, changed(r.text(m, "another")), changed(m.Parts[0]))
	cut()
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: m.ID})
	cut()
	m.Created = 0
	r.commit(l, wrote(m)...)
	cut()
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: m.Parts[0].ID}, changed(m.Parts[0]), &lathe.MessageRemoved{Session: l.Session, Message: a.ID})
	cut()
	r.ok(r.Remove(ctx(), l.Session))
	cut()
	rec := r.record()
	rec.ID = l.Session
	r.ok(r.Import(ctx(), rec, []lathe.Message{a, m}))
	cut()
	now := read(r, r.Store)
	for i, n := range cuts {
		c := newClient(r, sessionSets[i], n)
		for _, e := range r.since(n, lathe.Scope{}) {
			c.take(e)
		}
		if d := differ(now, c.sessionSet()); d != "" {
			r.Fatalf("from %d, cut %d: %s", n, i, d)
		}
	}
}
