package storetest

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func statusTests() map[string]func(*env) {
	return map[string]func(*env){
		"StoredWhenItChangesToldAlways": testStatusPublished,
		"IdleIsToldTwice":               testStatusIdle,
		"OnlyThoseThatAreNotIdle":       testStatuses,
		"ADeadOwnerReadsAsIdle":         testStatusDead,
		"TakingOverMakesItIdle":         testStatusTakenOver,
		"RetryKeepsItsMembers":          testStatusRetry,
	}
}

func (r *env) statuses(scope lathe.Scope) map[lathe.SessionID]lathe.Status {
	r.Helper()
	return must(r.Statuses(ctx(), scope))(r)
}

func testStatusPublished(r *env) {
	l := r.held()
	n := r.counter()
	busy := status(l.Session, lathe.Busy)
	r.published.take()
	for _, want := range []string{"3*", "0", "0"} {
		r.same("numbers", numbers(r.commit(l, busy)), []string{want})
		r.same("told", r.published.take()[0].Fact, lathe.Fact(busy))
	}
	r.same("counter", r.counter(), n+1)
}

func testStatusIdle(r *env) {
	l := r.held()
	idle := status(l.Session, lathe.Idle)
	r.published.take()
	r.commit(l, idle)
	r.same("without a status before", kinds(r.published.take()), []string{"session.status", "session.idle"})
	r.commit(l, status(l.Session, lathe.Busy))
	r.published.take()
	events := r.commit(l, idle)
	r.same("told", r.published.take(), events)
	r.same("kinds", kinds(events), []string{"session.status", "session.idle"})
	r.same("numbers", numbers(events), []string{"4*", "0"})
	r.commit(l, idle)
	r.same("once more", kinds(r.published.take()), []string{"session.status", "session.idle"})
}

func testStatuses(r *env) {
	one, two, three := r.held(), r.held(func(s *lathe.Session) { s.Directory = "/elsewhere" }), r.held()
	r.commit(one, status(one.Session, lathe.Busy))
	r.commit(two, status(two.Session, lathe.Busy))
	r.commit(three, status(three.Session, lathe.Busy))
	r.commit(three, status(three.Session, lathe.Idle))
	busy := lathe.Status{Type: lathe.Busy}
	r.same("all", r.statuses(lathe.Scope{}), map[lathe.SessionID]lathe.Status{one.Session: busy, two.Session: busy})
	r.same("of a directory", r.statuses(lathe.Scope{Directory: home}), map[lathe.SessionID]lathe.Status{one.Session: busy})
	r.same("of a session", r.statuses(lathe.Scope{Session: two.Session}), map[lathe.SessionID]lathe.Status{two.Session: busy})
}

// busyElsewhere is a session that another process left busy.
func (r *env) busyElsewhere() (lathe.SessionID, func()) {
	r.Helper()
	other := r.again(store.Options{})
	id := r.session()
	l := must(other.Acquire(ctx(), id))(r)
	must(other.Commit(ctx(), l, status(id, lathe.Busy)))(r)
	return id, func() { r.ok(other.Close()) }
}

func testStatusDead(r *env) {
	id, die := r.busyElsewhere()
	r.same("while it lives", r.statuses(lathe.Scope{}), map[lathe.SessionID]lathe.Status{id: {Type: lathe.Busy}})
	r.same("in the feed", r.since(0, lathe.Scope{})[2].Fact, lathe.Fact(status(id, lathe.Busy)))
	die()
	r.same("afterwards", r.statuses(lathe.Scope{}), map[lathe.SessionID]lathe.Status{})
	events := r.since(0, lathe.Scope{})
	r.same("in the feed", kinds(events), []string{"session.created", "session.updated", "session.status", "session.idle"})
	r.same("in the feed", events[2].Fact, lathe.Fact(status(id, lathe.Idle)))
}

// testStatusTakenOver: a reader that resumed after the end of the busy process receives the
// idle status. The next holder's first busy must reach it.
func testStatusTakenOver(r *env) {
	id, die := r.busyElsewhere()
	die()
	before := r.counter()
	r.same("a reader resumes", r.since(before, lathe.Scope{}), []lathe.Event{})
	l := r.lease(id)
	r.same("statuses", r.statuses(lathe.Scope{}), map[lathe.SessionID]lathe.Status{})
	r.commit(l, status(id, lathe.Busy))
	events := r.since(before, lathe.Scope{})
	r.same("told", kinds(events), []string{"session.status"})
	r.same("told", events[0].Fact, lathe.Fact(status(id, lathe.Busy)))
}

func testStatusRetry(r *env) {
	l := r.held()
	want := lathe.Status{
		Type: lathe.Retrying, Attempt: 3, Message: "too many requests", Next: 99.5,
		Action: []byte(`{"reason":"quota"}`), Extra: `"x-status":1`,
	}
	r.commit(l, &lathe.StatusChanged{Session: l.Session, Status: want})
	r.same("status", r.statuses(lathe.Scope{})[l.Session], want)
	next := want
	next.Attempt = 4
	r.same("another attempt is a change", numbers(r.commit(l, &lathe.StatusChanged{Session: l.Session, Status: next})), []string{"4*"})
}
