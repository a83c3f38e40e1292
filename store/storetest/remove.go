package storetest

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

func removeTests() map[string]func(*env) {
	return map[string]func(*env){
		"EverythingBelowIsGone":       testRemoveAll,
		"ChildrenFirst":               testRemoveChildren,
		"ToldWithTheLastRecord":       testRemovePublished,
		"OneTombstoneForEachSession":  testRemoveTombstones,
		"ParentsInACircle":            testRemoveCircle,
		"ItsOwnParent":                testRemoveSelf,
		"OthersStay":                  testRemoveOthers,
		"ALateCommitIsConflict":       testRemoveLate,
		"ALateCommitOfAnotherProcess": testRemoveLateElsewhere,
		"TwiceIsNotFound":             testRemoveTwice,
		"TheIDIsFreeAgain":            testRemoveAgain,
	}
}

func child(of lathe.SessionID) func(*lathe.Session) {
	return func(s *lathe.Session) { s.Parent = of }
}

func testRemoveAll(r *env) {
	l := r.held()
	_, a := r.said(l, "Hello")
	r.commit(l, changed(r.growing(a, "open")), changed(r.text(a, big('x'))), status(l.Session, lathe.Busy),
		r.ask(l.Session), &lathe.TodosChanged{Session: l.Session, Todos: []lathe.Todo{{Content: "it"}}}, &lathe.DiffChanged{Session: l.Session})
	r.prompts(l.Session, lathe.Queue)
	r.ok(r.Remove(ctx(), l.Session))
	st := must(r.Stats(ctx()))(r)
	r.same("rows", []int64{st.Sessions, st.Messages, st.Parts, st.Open, st.Blobs}, []int64{0, 0, 0, 0, 0})
	r.same("asks", r.asks(), []lathe.Fact{})
	r.same("statuses", len(r.statuses(lathe.Scope{})), 0)
	r.same("holdings", must(r.Leases(ctx()))(r), []store.LeaseInfo{})
	r.same("todos", must(r.Todos(ctx(), l.Session))(r), []lathe.Todo{})
	r.same("files", r.files(), []string{})
	r.is(second(r.History(ctx(), l.Session, lathe.Position{}, 0)), lathe.NotFound)
	r.same("damage", must(r.Check(ctx()))(r), []string{})
}

func testRemoveChildren(r *env) {
	top := r.session(named("ses_top"))
	r.session(named("ses_b"), child(top))
	r.session(named("ses_a"), child(top))
	r.session(named("ses_b1"), child("ses_b"))
	r.session(named("ses_b2"), child("ses_b"))
	r.session(named("ses_b11"), child("ses_b1"))
	r.published.take()
	r.ok(r.Remove(ctx(), top))
	var order []lathe.SessionID
	events := r.published.take()
	for _, e := range events {
		order = append(order, e.Fact.(*lathe.SessionDeleted).Info.ID)
	}
	r.same("order", order, []lathe.SessionID{"ses_b11", "ses_b1", "ses_b2", "ses_b", "ses_a", "ses_top"})
	r.same("numbers", numbers(events), []string{"7", "8", "9", "10", "11", "12*"})
	r.same("left", r.list(lathe.Query{Archived: lathe.WithArchived}), []lathe.SessionID{})
}

func testRemovePublished(r *env) {
	rec := lathetest.Session()
	r.ok(r.Create(ctx(), rec))
	n := r.counter()
	r.published.take()
	r.ok(r.Remove(ctx(), rec.ID))
	want := []lathe.Event{{
		Seq: n + 1, Last: true, Session: rec.ID, Directory: rec.Directory, Project: rec.Project, Fact: &lathe.SessionDeleted{Info: rec},
	}}
	r.same("live", r.published.take(), want)
	r.same("resumed", r.since(n, lathe.Scope{}), want)
}

func testRemoveTombstones(r *env) {
	l := r.held()
	r.said(l, "Hello")
	r.session(child(l.Session))
	r.ok(r.Remove(ctx(), l.Session))
	r.same("tombstones", must(r.Stats(ctx()))(r).Tombstones, int64(2))
}

func testRemoveCircle(r *env) {
	r.session(named("ses_a"), child("ses_c"))
	r.session(named("ses_b"), child("ses_a"))
	r.session(named("ses_c"), child("ses_b"))
	r.ok(r.Remove(ctx(), "ses_b"))
	r.same("left", r.list(lathe.Query{}), []lathe.SessionID{})
}

func testRemoveSelf(r *env) {
	r.session(named("ses_a"), child("ses_a"))
	r.ok(r.Remove(ctx(), "ses_a"))
	r.same("left", r.list(lathe.Query{}), []lathe.SessionID{})
}

func testRemoveOthers(r *env) {
	one, two := r.held(), r.held()
	r.said(one, "one")
	r.said(two, "two")
	before := read(r, r.Store)[two.Session]
	r.ok(r.Remove(ctx(), one.Session))
	r.same("the other", read(r, r.Store), sessionSet{two.Session: before})
}

func testRemoveLate(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	r.ok(r.Remove(ctx(), l.Session))
	for _, f := range []lathe.Fact{changed(r.text(m, "late")), &lathe.MessageChanged{Info: m}, status(l.Session, lathe.Idle), &lathe.SessionCompacted{Session: l.Session}} {
		_, err := r.Commit(ctx(), l, f)
		r.is(err, lathe.Conflict)
	}
	st := must(r.Stats(ctx()))(r)
	r.same("rows", []int64{st.Sessions, st.Messages, st.Parts}, []int64{0, 0, 0})
}

func testRemoveLateElsewhere(r *env) {
	other := r.again(store.Options{})
	id := r.session()
	l := must(other.Acquire(ctx(), id))(r)
	r.ok(r.Remove(ctx(), id))
	_, err := other.Commit(ctx(), l, wrote(r.user(id))...)
	r.is(err, lathe.Conflict)
}

func testRemoveTwice(r *env) {
	id := r.session()
	r.ok(r.Remove(ctx(), id))
	r.is(r.Remove(ctx(), id), lathe.NotFound)
}

func testRemoveAgain(r *env) {
	rec := r.record()
	r.ok(r.Create(ctx(), rec))
	r.said(r.lease(rec.ID), "first")
	n := r.counter()
	r.ok(r.Remove(ctx(), rec.ID))
	rec.Title = "Again"
	r.ok(r.Create(ctx(), rec))
	r.same("history", r.history(rec.ID), []lathe.Message{})
	r.same("resumed", kinds(r.since(n, lathe.Scope{})), []string{"session.deleted", "session.created", "session.updated"})
}
