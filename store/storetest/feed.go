package storetest

import (
	"fmt"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// The contract of the feed. A test is named after what it holds: a numbered sentence, a
// row of the table of events, or a sentence about resuming.

func feedTests() map[string]func(*env) {
	return map[string]func(*env){
		"Numbers1_OneCounterForTheWholeStore":     testFeedCounter,
		"Numbers1_ACommitTakesOneForEachFact":     testFeedFacts,
		"Numbers2_NumberOrderIsCommitOrder":       testFeedOrder,
		"Numbers3_BornAndSeq":                     testFeedCreated,
		"Numbers3_ChangedTwiceInOneCommit":        testFeedTwice,
		"Numbers4_TheFeedHasAName":                testFeedName,
		"Numbers4_ACursorOfAnotherFeedIsNoticed":  testFeedOther,
		"Numbers4_ABareNumberIsTrusted":           testFeedBare,
		"Row_SessionBornAfter":                    testFeedSessionNew,
		"Row_SessionBornBefore":                   testFeedSessionOld,
		"Row_SessionDeletedKeepsItsLastRecord":    testFeedSessionGone,
		"Row_Message":                             testFeedMessage,
		"Row_Part":                                testFeedPart,
		"Row_Status":                              testFeedStatus,
		"Row_AskPending":                          testFeedAskPending,
		"Row_AskAnsweredAfterTheCursor":           testFeedAskAnswered,
		"Row_AskBothAfterTheCursor":               testFeedAskBoth,
		"Row_TodoDiffAndProject":                  testFeedLists,
		"Row_NewsIsNotSentAgain":                  testFeedNews,
		"Since_OneSnapshotWithItsNumber":          testFeedSnapshot,
		"Since_NewRowsByBirthOthersByChange":      testFeedSort,
		"Since_OnlyTheLastEventHasANumber":        testFeedLast,
		"Since_NothingChanged":                    testFeedNothing,
		"Since_ARowThatChangedOftenComesOnce":     testFeedOnce,
		"Since_AReaderMayStop":                    testFeedStop,
		"Since_ScopeAll":                          testFeedAll,
		"Since_ScopeDirectory":                    testFeedDirectory,
		"Since_ScopeSession":                      testFeedSession,
		"Since_FromTheBeginningIsEverything":      testFeedEverything,
		"Tombstone_OneForAMessageNotForItsParts":  testFeedTombstoneMessage,
		"Tombstone_OfWhatWasBornAfterTheCursor":   testFeedTombstoneUnknown,
		"Tombstone_GoesAfterSevenDays":            testFeedTombstoneAge,
		"Tombstone_AnsweredAsksGoToo":             testFeedAskAge,
		"Tombstone_PendingAsksStay":               testFeedAskStays,
		"Tombstone_TheFirstWriterTidies":          testFeedTidy,
		"Resync_BelowTheFloorAboveTheCounter":     testFeedResync,
		"Deltas4_ACheckpointRaisesTheNumber":      testTailSilent,
		"Deltas4_TextOfAnOpenPartIsToldSoFar":     testFeedOpen,
		"Live3_OnlyTheLastOfACommitHasTheNumber":  testFeedLive,
		"Order_AMessageThatWasPromotedKeepsParts": testFeedPromoted,
		"Order_WhatCameBackUnderItsID":            testFeedBack,
	}
}

func testFeedCounter(r *env) {
	r.same("at first", r.counter(), int64(0))
	one, two := r.session(), r.session()
	r.same("after two", r.counter(), int64(2))
	r.prompts(one, lathe.Steer) // a message, a part, the session
	must(r.Edit(ctx(), two, lathe.Edit{Touch: true}))(r)
	r.prompts(two, lathe.Steer)
	var seen []int64
	for _, e := range r.published.take() {
		seen = append(seen, e.Seq)
	}
	r.same("numbers over both", seen, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9})
}

func testFeedFacts(r *env) {
	l := r.held()
	n := r.counter()
	m := r.user(l.Session)
	facts := wrote(m)
	for range 9 {
		facts = append(facts, changed(r.text(m, "x")))
	}
	for i, e := range r.commit(l, facts...) {
		r.same("number", e.Seq, n+int64(i)+1)
	}
	r.same("counter", r.counter(), n+10)
}

// testFeedOrder reads the feed while two processes write. A reader that has passed a
// number must never miss one below it.
func testFeedOrder(r *env) {
	const each = 40
	other := r.again(store.Options{})
	var all sync.WaitGroup
	for _, s := range []*store.Store{r.Store, other} {
		for range 3 {
			id := r.session()
			l := must(s.Acquire(ctx(), id))(r)
			m := r.user(id)
			must(s.Commit(ctx(), l, wrote(m)...))(r)
			parts := make([]lathe.Part, each)
			for i := range parts {
				parts[i] = r.text(m, "x")
			}
			all.Go(func() {
				for _, p := range parts {
					if _, err := s.Commit(ctx(), l, changed(p)); err != nil {
						r.Errorf("commit: %v", err)
					}
				}
			})
		}
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	seen, cursor := map[lathe.PartID]bool{}, int64(0)
	for ended := false; ; {
		events, res := r.resume(lathe.Cursor{Seq: cursor}, lathe.Scope{})
		if res.Last < cursor {
			r.Fatalf("the counter fell from %d to %d", cursor, res.Last)
		}
		cursor = res.Last
		for _, e := range events {
			if f, ok := e.Fact.(*lathe.PartChanged); ok {
				if seen[f.Part.ID] {
					r.Fatalf("part %s was published twice", f.Part.ID)
				}
				seen[f.Part.ID] = true
			}
		}
		if ended {
			break
		}
		select {
		case <-done:
			ended = true // one more look
		default:
		}
	}
	r.same("parts seen", len(seen), 6*each)
}

func testFeedCreated(r *env) {
	l := r.held()
	m := r.user(l.Session)
	n := r.counter()
	p, q := r.text(m, "p"), r.text(m, "q")
	r.commit(l, append(wrote(m), changed(p), changed(q))...) // n+1, n+2, n+3
	r.commit(l, changed(p))                                  // n+4
	for cut, want := range map[int64][]string{
		n:     {"m", "p", "q"},
		n + 1: {"p", "q"}, // both were created later
		n + 2: {"q", "p"}, // p was not: it comes where it changed
		n + 3: {"p"},
		n + 4: {},
	} {
		r.same(fmt.Sprintf("since %d", cut-n), names(r.since(cut, lathe.Scope{}), map[string]string{
			string(m.ID): "m", string(p.ID): "p", string(q.ID): "q",
		}), want)
	}
}

// names writes events as the names given to what they are about.
func names(events []lathe.Event, of map[string]string) []string {
	out := []string{}
	for _, e := range events {
		switch f := e.Fact.(type) {
		case *lathe.MessageChanged:
			out = append(out, of[string(f.Info.ID)])
		case *lathe.PartChanged:
			out = append(out, of[string(f.Part.ID)])
		case *lathe.MessageRemoved:
			out = append(out, "-"+of[string(f.Message)])
		case *lathe.PartRemoved:
			out = append(out, "-"+of[string(f.Part)])
		default:
			out = append(out, e.Fact.Type())
		}
	}
	return out
}

func testFeedTwice(r *env) {
	l := r.held()
	m := r.user(l.Session)
	n := r.counter()
	p, q := r.text(m, "p"), r.text(m, "q")
	r.commit(l, append(wrote(m), changed(p), changed(q), changed(ended(p, "again")))...)
	of := map[string]string{string(m.ID): "m", string(p.ID): "p", string(q.ID): "q"}
	r.same("since the first change of p", names(r.since(n+2, lathe.Scope{}), of), []string{"q", "p"})
	r.same("since q", names(r.since(n+3, lathe.Scope{}), of), []string{"p"})
	r.same("text", r.since(n+3, lathe.Scope{})[0].Fact.(*lathe.PartChanged).Part.GrowingText(), "again")
}

func testFeedName(r *env) {
	other := r.again(store.Options{})
	if r.Feed() == "" {
		r.Fatalf("the feed has no name")
	}
	r.same("name in another process", other.Feed(), r.Feed())
	c := lathe.Cursor{Seq: 7, Feed: r.Feed()}
	r.same("id", must(lathe.ParseCursor(c.String()))(r), c)
}

func testFeedOther(r *env) {
	r.session()
	events, res := r.resume(lathe.Cursor{Seq: 0, Feed: "another"}, lathe.Scope{})
	r.same("events", events, []lathe.Event{})
	r.same("resumed", res, store.ResumeResult{Last: 1, Resync: true})
	events, res = r.resume(lathe.Cursor{Seq: 0, Feed: r.Feed()}, lathe.Scope{})
	r.same("events", len(events), 2)
	r.same("resumed", res, store.ResumeResult{Last: 1})
}

func testFeedBare(r *env) {
	r.session()
	events, res := r.resume(must(lathe.ParseCursor("0"))(r), lathe.Scope{})
	r.same("events", len(events), 2)
	r.same("resumed", res, store.ResumeResult{Last: 1})
}

func testFeedSessionNew(r *env) {
	rec := r.record()
	r.ok(r.Create(ctx(), rec))
	now := must(r.Edit(ctx(), rec.ID, lathe.Edit{Title: lathe.Some("New")}))(r)
	e := lathe.Event{Session: rec.ID, Directory: rec.Directory, Project: rec.Project}
	created, updated := e, e
	created.Fact = &lathe.SessionCreated{Info: now}
	updated.Fact, updated.Seq, updated.Last = &lathe.SessionChanged{Info: now}, 2, true
	r.same("events", r.since(0, lathe.Scope{}), []lathe.Event{created, updated})
}

func testFeedSessionOld(r *env) {
	rec := r.record()
	r.ok(r.Create(ctx(), rec))
	now := must(r.Edit(ctx(), rec.ID, lathe.Edit{Title: lathe.Some("New")}))(r)
	events := r.since(1, lathe.Scope{})
	r.same("kinds", kinds(events), []string{"session.updated"})
	r.same("record", events[0].Fact, lathe.Fact(&lathe.SessionChanged{Info: now}))
}

func testFeedSessionGone(r *env) {
	l := r.held()
	r.said(l, "Hello")
	n := r.counter()
	last := must(r.Edit(ctx(), l.Session, lathe.Edit{Title: lathe.Some("Last"), Directory: lathe.Some("/elsewhere")}))(r)
	r.ok(r.Remove(ctx(), l.Session))
	want := []lathe.Event{{
		Seq: r.counter(), Last: true, Session: l.Session, Directory: "/elsewhere", Project: "prj", Fact: &lathe.SessionDeleted{Info: last},
	}}
	for _, scope := range []lathe.Scope{{}, {Session: l.Session}, {Directory: "/elsewhere"}} {
		r.same("events", r.since(n, scope), want)
	}
	r.same("elsewhere", r.since(n, lathe.Scope{Directory: home}), []lathe.Event{})
}

func testFeedMessage(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	n := r.counter()
	a.Data = &lathe.Assistant{Parent: m.ID, Finish: "stop", Completed: 9}
	a.Parts = nil
	r.commit(l, wrote(a)...)
	events := r.since(n, lathe.Scope{})
	r.same("present state", events[0].Fact, lathe.Fact(&lathe.MessageChanged{Info: a}))
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: a.ID})
	events = r.since(n, lathe.Scope{})
	r.same("tombstone", events, []lathe.Event{{
		Seq: n + 2, Last: true, Session: l.Session, Directory: home, Project: "prj",
		Fact: &lathe.MessageRemoved{Session: l.Session, Message: a.ID},
	}})
}

func testFeedPart(r *env) {
	l := r.held()
	m, _ := r.said(l, "Hello")
	n := r.counter()
	p := ended(m.Parts[0], "changed")
	r.commit(l, changed(p))
	events := r.since(n, lathe.Scope{})
	r.same("present state", events[0].Fact.(*lathe.PartChanged).Part, p)
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID})
	events = r.since(n, lathe.Scope{})
	r.same("tombstone", events, []lathe.Event{{
		Seq: n + 2, Last: true, Session: l.Session, Directory: home, Project: "prj",
		Fact: &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: p.ID},
	}})
}

func testFeedStatus(r *env) {
	l := r.held()
	r.commit(l, status(l.Session, lathe.Busy))
	n := r.counter()
	r.commit(l, status(l.Session, lathe.Idle))
	r.ok(r.Release(ctx(), l))
	events := r.since(n, lathe.Scope{})
	r.same("kinds", kinds(events), []string{"session.status", "session.idle"})
	r.same("numbers", numbers(events), []string{"0", fmt.Sprint(n+1) + "*"})
	r.same("status", events[0].Fact, lathe.Fact(status(l.Session, lathe.Idle)))
}

func testFeedAskPending(r *env) {
	l := r.held()
	n := r.counter()
	ask, question := r.ask(l.Session), r.question(l.Session)
	r.commit(l, ask, question)
	var facts []lathe.Fact
	for _, e := range r.since(n, lathe.Scope{}) {
		facts = append(facts, e.Fact)
	}
	r.same("facts", facts, []lathe.Fact{ask, question})
}

func testFeedAskAnswered(r *env) {
	l := r.held()
	ask, one, two := r.ask(l.Session), r.question(l.Session), r.question(l.Session)
	r.commit(l, ask, one, two)
	n := r.counter()
	r.admit(l.Session, lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Reject, Message: "not on the wire"})
	r.admit(l.Session, lathe.QuestionAnswer{Ask: one.ID, Answers: [][]string{{"One"}}})
	r.admit(l.Session, lathe.QuestionAnswer{Ask: two.ID, Reject: true})
	var facts []lathe.Fact
	for _, e := range r.since(n, lathe.Scope{}) {
		facts = append(facts, e.Fact)
	}
	r.same("facts", facts, []lathe.Fact{
		&lathe.PermissionReplied{Session: l.Session, Request: ask.ID, Reply: lathe.Reject},
		&lathe.QuestionReplied{Session: l.Session, Request: one.ID, Answers: [][]string{{"One"}}},
		&lathe.QuestionRejected{Session: l.Session, Request: two.ID},
	})
}

// A reader that was disconnected inside the commit of a request has an older cursor and knows the request: it gets the answer.
func testFeedAskBoth(r *env) {
	l := r.held()
	n := r.counter()
	ask := r.ask(l.Session)
	r.commit(l, ask)
	r.admit(l.Session, lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Once})
	var facts []lathe.Fact
	events, res := r.resume(lathe.Cursor{Seq: n}, lathe.Scope{})
	for _, e := range events {
		facts = append(facts, e.Fact)
	}
	r.same("facts", facts, []lathe.Fact{&lathe.PermissionReplied{Session: l.Session, Request: ask.ID, Reply: lathe.Once}})
	r.same("resumed", res, store.ResumeResult{Last: n + 2})
}

func testFeedLists(r *env) {
	l := r.held()
	n := r.counter()
	for i := range 3 {
		r.commit(l, &lathe.TodosChanged{Session: l.Session, Todos: []lathe.Todo{{Content: fmt.Sprint(i)}}},
			&lathe.DiffChanged{Session: l.Session, Diff: []lathe.FileDiff{{File: fmt.Sprint(i)}}})
	}
	project := r.open(git("prj", home), home)
	events := r.since(n, lathe.Scope{})
	r.same("kinds", kinds(events), []string{"todo.updated", "session.diff", "project.updated"})
	r.same("todos", events[0].Fact.(*lathe.TodosChanged).Todos, []lathe.Todo{{Content: "2"}})
	r.same("diff", events[1].Fact.(*lathe.DiffChanged).Diff, []lathe.FileDiff{{File: "2"}})
	r.same("project", events[2].Fact.(*lathe.ProjectChanged).Project, project)
}
