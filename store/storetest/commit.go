package storetest

import (
	"fmt"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

func commitTests() map[string]func(*env) {
	return map[string]func(*env){
		"EveryFactIsKnown":                 testEveryFact,
		"EveryPartReadsBack":               testEveryPart,
		"EveryMessageReadsBack":            testEveryMessage,
		"NewsIsToldAndNotStored":           testNews,
		"FactsAreToldInTheirOrder":         testCommitOrder,
		"NothingIsEmpty":                   testCommitNothing,
		"CreationTimesRiseStrictly":        testCreationRises,
		"CreationRisesBeyondAbsurdTimes":   testCreationAbsurd,
		"AMessageKeepsItsCreation":         testCreationStays,
		"FactsOfAnotherSessionAreRefused":  testForeignFact,
		"AMessageOfAnotherSessionConflict": testForeignMessage,
		"APartOfAnotherMessageIsConflict":  testForeignPart,
		"AFailedCommitWritesNothing":       testCommitWhole,
		"RemovalOfWhatIsNotThere":          testRemoveUnknown,
		"RemovedPartsAreGone":              testRemovePart,
		"RemovedMessagesAreGone":           testRemoveMessage,
		"AnIDMayComeBack":                  testComeBack,
		"ListsAreReplaced":                 testLists,
	}
}

// testEveryFact commits a sample of each fact. An unknown fact would be published as an
// ephemeral event and not be stored.
func testEveryFact(r *env) {
	for _, f := range append(lathetest.Facts(), lathetest.Unpublished()...) {
		l := r.sample(f)
		before := r.counter()
		events, err := r.Commit(ctx(), l, f)
		numbered := r.counter() > before
		switch f := f.(type) {
		case *lathe.SessionCreated, *lathe.SessionChanged, *lathe.SessionDeleted, *lathe.ProjectChanged:
			r.is(err, lathe.Invalid)
			events = []lathe.Event{{Fact: f}}
		case *lathe.StatusChanged:
			r.same("status is stored if it changed", numbered, f.Status.Type != lathe.Idle)
		case *lathe.Checkpoint, *lathe.Promote:
			r.same(fmt.Sprintf("%T is stored", f), numbered, true)
			r.same(fmt.Sprintf("%T is silent", f), slices.Contains(kinds(events), ""), false)
			events = []lathe.Event{{Fact: f}}
		case *lathe.Interrupted:
			r.same("it has no number", numbered, false)
			left, err := r.Interruptions(ctx(), l.Session)
			r.ok(err)
			r.same("while someone works on it", len(left), 0)
			events = []lathe.Event{{Fact: f}}
		case *lathe.Spent:
			r.same("it has no number", numbered, false)
			r.same("it is counted", r.sums(l.Session)[0][0], f.Used.Cost.Dollars())
			events = []lathe.Event{{Fact: f}}
		case *lathe.SystemPromptSaved:
			r.same("it has no number", numbered, false)
			r.same("stored", r.systemPrompt(l.Session), &f.SystemPrompt)
			events = []lathe.Event{{Fact: f}}
		case *lathe.RequestSent:
			r.same("it has no number", numbered, false)
			digests, err := store.RequestDigests(ctx(), r.Store, l.Session)
			r.ok(err)
			r.same("stored", digests, map[lathe.MessageID]string{f.Message: f.Digest})
			events = []lathe.Event{{Fact: f}}
		case *lathe.TestsRan:
			r.same("it has no number", numbered, false)
			r.keepsTests(f.Project, f.Run)
			events = []lathe.Event{{Fact: f}}
		default:
			isStored := slices.ContainsFunc(lathetest.Stored(), func(g lathe.Fact) bool { return f.Type() == g.Type() })
			r.same(fmt.Sprintf("%T is stored", f), numbered, isStored)
		}
		if !slices.Contains(kinds(events), f.Type()) {
			r.Errorf("%T was not published", f)
		}
		r.ok(r.Remove(ctx(), l.Session))
	}
}

// sample makes the session that samples are about: an answer, a prompt that waits with an
// open part of five bytes, and the request that f answers.
func (r *env) sample(f lathe.Fact) store.Lease {
	r.Helper()
	id := r.session(named(lathetest.SessionID))
	prompt := lathe.Message{ID: lathetest.UserID, Data: lathetest.RoleData()[0]}
	prompt.Parts = []lathe.Part{{ID: lathetest.PartID, Body: &lathe.Text{Text: "Hello", Time: &lathe.Span{Start: 1}}}}
	r.admit(id, lathe.Submission{Message: prompt, Digest: "d"})
	l := r.lease(id)
	r.commit(l, &lathe.MessageChanged{Info: lathe.Message{ID: lathetest.AnswerID, Data: lathetest.RoleData()[1]}})
	for _, ask := range lathetest.Stored() {
		switch ask.(type) {
		case *lathe.PermissionAsked:
			if _, ok := f.(*lathe.PermissionReplied); ok {
				r.commit(l, ask)
			}
		case *lathe.QuestionAsked:
			switch f.(type) {
			case *lathe.QuestionReplied, *lathe.QuestionRejected:
				r.commit(l, ask)
			default:
			}
		default:
		}
	}
	return l
}

func testEveryPart(r *env) {
	l := r.held()
	m := r.user(l.Session)
	a := r.answer(m)
	facts := append(wrote(m), wrote(a)...)
	want := lathetest.Parts(l.Session, a.ID)
	for _, p := range want {
		facts = append(facts, changed(p))
	}
	r.commit(l, facts...)
	r.same("parts", must(r.Message(ctx(), l.Session, a.ID))(r).Parts, want)
	for _, p := range want {
		r.same("part", must(r.Part(ctx(), l.Session, a.ID, p.ID))(r), p)
	}
	for i, p := range want { // each over each: nothing of the former stays
		next := want[(i+1)%len(want)]
		next.ID = p.ID
		r.commit(l, changed(next))
		r.same("part", must(r.Part(ctx(), l.Session, a.ID, p.ID))(r), next)
	}
}

func testEveryMessage(r *env) {
	l := r.held()
	var want []lathe.Message
	for _, m := range lathetest.Messages() {
		m.Session, m.Parts = l.Session, nil
		want = append(want, m)
		r.commit(l, wrote(m)...)
	}
	for _, f := range lathetest.Faults() {
		m := r.answer(want[0])
		m.Data.(*lathe.Assistant).Error = f
		want = append(want, m)
		r.commit(l, wrote(m)...)
	}
	r.same("messages", r.history(l.Session), want)
	for i := range want { // and over one another
		if want[i].Data.Role() != "assistant" {
			continue
		}
		want[i].Data = want[1].Data
		r.commit(l, wrote(want[i])...)
	}
	r.same("messages", r.history(l.Session), want)
}

func testNews(r *env) {
	l := r.sample(nil)
	before := must(r.Stats(ctx()))(r)
	for _, f := range lathetest.Ephemeral() {
		r.published.take()
		events := r.commit(l, f)
		want := []lathe.Event{{Session: l.Session, Directory: home, Project: "prj", Fact: f}}
		r.same("returned", events, want)
		r.same("told", r.published.take(), want)
	}
	r.same("stored", must(r.Stats(ctx()))(r), before)
}

func testCommitOrder(r *env) {
	l := r.held()
	n := r.counter()
	m := r.user(l.Session)
	p, q := r.text(m, "one"), r.text(m, "two")
	r.published.take()
	events := r.commit(l, append(wrote(m), changed(p), &lathe.SessionCompacted{Session: l.Session}, changed(q), status(l.Session, lathe.Busy))...)
	r.same("told", r.published.take(), events)
	r.same("kinds", kinds(events), []string{"message.updated", "message.part.updated", "session.compacted", "message.part.updated", "session.status"})
	want := []string{fmt.Sprint(n + 1), fmt.Sprint(n + 2), "0", fmt.Sprint(n + 3), fmt.Sprint(n+4) + "*"}
	r.same("numbers", numbers(events), want)
}

func testCommitNothing(r *env) {
	l := r.held()
	n := r.counter()
	r.published.take()
	r.same("events", r.commit(l), []lathe.Event{})
	r.same("told", r.published.take(), []lathe.Event{})
	r.same("counter", r.counter(), n)
}

func testCreationRises(r *env) {
	l := r.held()
	wish := []lathe.Time{1000, 1000, 900, 1001.5, 1001.5, 2000, 0}
	want := []lathe.Time{1000, 1001, 1002, 1003, 1004, 2000, 2001}
	for i, w := range wish {
		m := r.user(l.Session)
		m.Created = w
		info := r.commit(l, wrote(m)...)[0].Fact.(*lathe.MessageChanged).Info
		r.same(fmt.Sprintf("published creation time %d", i), info.Created, want[i])
	}
	for i, m := range r.history(l.Session) {
		r.same(fmt.Sprintf("creation %d as stored", i), m.Created, want[i])
	}
	frac := r.user(l.Session)
	frac.Created = 2001.25
	r.commit(l, wrote(frac)...)
	next := r.user(l.Session)
	next.Created = 2001.25
	r.same("after a fraction", r.commit(l, wrote(next)...)[0].Fact.(*lathe.MessageChanged).Info.Created, lathe.Time(2002))
}

func testCreationAbsurd(r *env) {
	for _, odd := range []lathe.Time{1e300, 9.3e18, 1 << 60, -7, -7.5, -1e300} {
		m := r.user("")
		m.Created = odd
		id := r.imported(m)
		l := r.lease(id)
		next := r.user(id)
		next.Created = odd - 1
		r.commit(l, wrote(next)...)
		r.same(fmt.Sprintf("order after %v", odd), messageIDs(r.history(id)), []lathe.MessageID{m.ID, next.ID})
	}
}

func testCreationStays(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	later := a
	later.Created += 1000
	info := r.commit(l, &lathe.MessageChanged{Info: later})[0].Fact.(*lathe.MessageChanged).Info
	r.same("published", info.Created, a.Created)
	r.same("as stored", messageIDs(r.history(l.Session)), []lathe.MessageID{m.ID, a.ID})
}

func testForeignFact(r *env) {
	l, other := r.held(), r.session()
	for _, f := range append(lathetest.Facts(), lathetest.Unpublished()...) {
		if lathe.SessionOf(f) == "" {
			continue
		}
		_, err := r.Commit(ctx(), l, f) // about the session of the samples
		r.is(err, lathe.Invalid)
	}
	_, err := r.Commit(ctx(), l, status(other, lathe.Busy))
	r.is(err, lathe.Invalid)
}

func testForeignMessage(r *env) {
	one, two := r.held(), r.held()
	m, _ := r.said(one, "Hello")
	stolen := m
	stolen.Session, stolen.Parts = two.Session, nil
	_, err := r.Commit(ctx(), two, wrote(stolen)...)
	r.is(err, lathe.Conflict)
	p := r.text(stolen, "into another's message")
	_, err = r.Commit(ctx(), two, changed(p))
	r.is(err, lathe.NotFound)
	for _, f := range []lathe.Fact{
		&lathe.MessageRemoved{Session: two.Session, Message: m.ID},
		&lathe.PartRemoved{Session: two.Session, Message: m.ID, Part: m.Parts[0].ID},
		&lathe.Promote{Session: two.Session, Message: m.ID},
	} {
		_, err = r.Commit(ctx(), two, f)
		r.is(err, lathe.NotFound)
	}
	_, err = r.Commit(ctx(), two, &lathe.Checkpoint{Session: two.Session, Part: m.Parts[0].ID, Text: "x"})
	r.is(err, lathe.Conflict)
	r.same("message", must(r.Message(ctx(), one.Session, m.ID))(r), m)
}

func testForeignPart(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	stolen := m.Parts[0]
	stolen.Message = a.ID
	_, err := r.Commit(ctx(), l, changed(stolen))
	r.is(err, lathe.Conflict)
	_, err = r.Commit(ctx(), l, &lathe.PartRemoved{Session: l.Session, Message: a.ID, Part: m.Parts[0].ID})
	r.is(err, lathe.NotFound)
	r.same("message", must(r.Message(ctx(), l.Session, m.ID))(r), m)
}

func testCommitWhole(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	before, n := r.history(l.Session), r.counter()
	r.published.take()
	next := r.user(l.Session)
	facts := append(wrote(next), changed(r.text(m, "more")), status(l.Session, lathe.Busy), &lathe.MessageRemoved{Session: l.Session, Message: "msg_unknown"})
	_, err := r.Commit(ctx(), l, facts...)
	r.is(err, lathe.NotFound)
	r.same("history", r.history(l.Session), before)
	r.same("counter", r.counter(), n)
	r.same("events", r.published.take(), []lathe.Event{})
}

func testRemoveUnknown(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	for _, f := range []lathe.Fact{
		&lathe.MessageRemoved{Session: l.Session, Message: "msg_unknown"},
		&lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: "prt_unknown"},
		&lathe.PartRemoved{Session: l.Session, Message: "msg_unknown", Part: m.Parts[0].ID},
		&lathe.Promote{Session: l.Session, Message: "msg_unknown"},
		changed(r.text(lathe.Message{ID: "msg_unknown"}, "x")),
	} {
		_, err := r.Commit(ctx(), l, f)
		r.is(err, lathe.NotFound)
	}
}

func testRemovePart(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	gone := &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: m.Parts[0].ID}
	events := r.commit(l, gone)
	r.same("event", events[0].Fact, lathe.Fact(gone))
	r.same("parts", must(r.Message(ctx(), l.Session, m.ID))(r).Parts, []lathe.Part{})
	r.is(second(r.Commit(ctx(), l, gone)), lathe.NotFound)
}

func testRemoveMessage(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	grow := r.growing(a, "open")
	r.commit(l, changed(grow))
	gone := &lathe.MessageRemoved{Session: l.Session, Message: a.ID}
	events := r.commit(l, gone)
	r.same("events", kinds(events), []string{"message.removed"})
	r.same("left", messageIDs(r.history(l.Session)), []lathe.MessageID{m.ID})
	st := must(r.Stats(ctx()))(r)
	r.same("rows", []int64{st.Messages, st.Parts, st.Open}, []int64{1, 1, 0})
	r.is(second(r.Part(ctx(), l.Session, a.ID, a.Parts[0].ID)), lathe.NotFound)
}

func testComeBack(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: m.ID})
	m.Parts[0] = ended(m.Parts[0], "Hello again")
	r.commit(l, wrote(m)...)
	got := must(r.Message(ctx(), l.Session, m.ID))(r)
	r.same("parts", got.Parts, m.Parts)
}

func testLists(r *env) {
	l := r.held()
	if todos := must(r.Todos(ctx(), l.Session))(r); todos == nil {
		r.Fatalf("no list is nil, want an empty one")
	}
	if diff := must(r.Diff(ctx(), l.Session))(r); diff == nil {
		r.Fatalf("no diff is nil, want an empty one")
	}
	for n := range 3 {
		todos := slices.Repeat([]lathe.Todo{{Content: fmt.Sprint(n), Status: "pending", Priority: "low", Extra: `"id":"1"`}}, n)
		diff := slices.Repeat([]lathe.FileDiff{lathetest.Diff()}, n)
		r.commit(l, &lathe.TodosChanged{Session: l.Session, Todos: todos}, &lathe.DiffChanged{Session: l.Session, Diff: diff})
		r.same("todos", must(r.Todos(ctx(), l.Session))(r), todos)
		r.same("diff", must(r.Diff(ctx(), l.Session))(r), diff)
	}
	r.same("of another", must(r.Todos(ctx(), r.session()))(r), []lathe.Todo{})
}
