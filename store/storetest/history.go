package storetest

import (
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func historyTests() map[string]func(*env) {
	return map[string]func(*env){
		"NewestPageFirstOldestInsideFirst": testHistoryPage,
		"PagesHoldEachMessageOnce":         testHistoryWalk,
		"NoLimitIsAll":                     testHistoryAll,
		"EmptySessionIsAnEmptyPage":        testHistoryEmpty,
		"UnknownSessionIsNotFound":         testHistoryUnknown,
		"EqualAndFractionalTimes":          testHistoryTimes,
		"OrderHoldsAcrossTheWrapOfIDs":     testHistoryWrap,
		"PartsByBirthNotByID":              testHistoryParts,
		"OneMessage":                       testOneMessage,
		"OnePart":                          testOnePart,
		"OtherSessionsDoNotMix":            testHistoryMix,
		"StepsAreWhatTheyChanged":          testSteps,
		"StepsHaveNumbers":                 testStepPage,
	}
}

// long makes a session with so many messages and returns their ids, oldest first.
func (r *env) long(n int) (store.Lease, []lathe.MessageID) {
	r.Helper()
	l := r.held()
	var facts []lathe.Fact
	var ids []lathe.MessageID
	for range n {
		m := r.user(l.Session)
		m.Parts = []lathe.Part{r.text(m, string(m.ID))}
		facts, ids = append(facts, wrote(m)...), append(ids, m.ID)
	}
	r.commit(l, facts...)
	return l, ids
}

func (r *env) page(id lathe.SessionID, before lathe.Position, limit int) lathe.Page {
	r.Helper()
	return must(r.History(ctx(), id, before, limit))(r)
}

func testHistoryPage(r *env) {
	l, ids := r.long(5)
	first := r.page(l.Session, lathe.Position{}, 2)
	r.same("newest", messageIDs(first.Messages), ids[3:])
	r.same("more", first.More, true)
	r.same("next", first.Next, lathe.Position{Time: first.Messages[0].Created, ID: string(ids[3])})
	last := r.page(l.Session, first.Next, 3)
	r.same("the rest", messageIDs(last.Messages), ids[:3])
	r.same("more", last.More, false)
	r.same("next", last.Next, lathe.Position{})
	r.same("nothing before", len(r.page(l.Session, lathe.Position{Time: 1, ID: "msg"}, 3).Messages), 0)
}

func testHistoryWalk(r *env) {
	l, ids := r.long(23)
	for _, limit := range []int{1, 2, 7, 22, 23, 24} {
		var got []lathe.MessageID
		for page := (lathe.Page{More: true}); page.More; {
			page = r.page(l.Session, page.Next, limit)
			if len(page.Messages) > limit {
				r.Fatalf("a page of %d has %d messages", limit, len(page.Messages))
			}
			got = append(messageIDs(page.Messages), got...)
		}
		r.same("all pages", got, ids)
	}
}

func testHistoryAll(r *env) {
	l, ids := r.long(12)
	all := r.page(l.Session, lathe.Position{}, 0)
	r.same("all", messageIDs(all.Messages), ids)
	r.same("more", all.More, false)
	before := all.Messages[4]
	some := r.page(l.Session, lathe.Position{Time: before.Created, ID: string(before.ID)}, 0)
	r.same("older ones", messageIDs(some.Messages), ids[:4])
}

func testHistoryEmpty(r *env) {
	page := r.page(r.session(), lathe.Position{}, 10)
	if page.Messages == nil || len(page.Messages) != 0 || page.More {
		r.Fatalf("got %#v, want an empty page", page)
	}
}

func testHistoryUnknown(r *env) {
	_, err := r.History(ctx(), "ses_unknown", lathe.Position{}, 10)
	r.is(err, lathe.NotFound)
}

// imported writes messages with their own ids and times.
func (r *env) imported(messages ...lathe.Message) lathe.SessionID {
	r.Helper()
	rec := r.record()
	r.ok(r.Import(ctx(), rec, messages))
	return rec.ID
}

func testHistoryTimes(r *env) {
	var messages []lathe.Message
	for id, created := range map[lathe.MessageID]lathe.Time{
		"msg_1": 5, "msg_2": 5, "msg_B": 5, "msg_b": 5, "msg_3": 5.25, "msg_4": 5.5, "msg_5": 4.999, "msg_6": -3, "msg_7": 1.5e15,
	} {
		m := r.user("")
		m.ID, m.Created = id, created
		messages = append(messages, m)
	}
	id := r.imported(messages...)
	want := []lathe.MessageID{"msg_6", "msg_5", "msg_1", "msg_2", "msg_B", "msg_b", "msg_3", "msg_4", "msg_7"}
	r.same("order", messageIDs(r.history(id)), want)
	var got []lathe.MessageID
	for page := (lathe.Page{More: true}); page.More; {
		page = r.page(id, page.Next, 1)
		got = append(messageIDs(page.Messages), got...)
	}
	r.same("one by one", got, want)
}

func testHistoryWrap(r *env) {
	// On 2026-08-14 the time in ids began at zero again: what came later has smaller ids.
	wrap := lathe.Time(1786706395136)
	var messages []lathe.Message
	var want []lathe.MessageID
	for i, id := range []lathe.MessageID{"msg_fffffffff001aaaaaaaaaaaaaa", "msg_ffffffffe001zzzzzzzzzzzzzz", "msg_000000000001aaaaaaaaaaaaaa", "msg_000000001001AAAAAAAAAAAAAA"} {
		m := r.user("")
		m.ID, m.Created = id, wrap+lathe.Time(i-2)
		messages, want = append(messages, m), append(want, id)
	}
	slices.Reverse(messages) // the order of arrival does not matter either
	id := r.imported(messages...)
	r.same("order", messageIDs(r.history(id)), want)
	page := r.page(id, lathe.Position{}, 2)
	r.same("newest", messageIDs(page.Messages), want[2:])
	r.same("oldest", messageIDs(r.page(id, page.Next, 2).Messages), want[:2])
	rec := r.record()
	r.ok(r.Fork(ctx(), id, want[2], rec))
	r.same("a fork before the third", len(r.history(rec.ID)), 2)
}

func testHistoryParts(r *env) {
	l := r.held()
	m := r.user(l.Session)
	facts := wrote(m)
	ids := []lathe.PartID{"prt_9", "prt_1", "prt_5"}
	for _, id := range ids {
		p := r.text(m, string(id))
		p.ID = id
		facts = append(facts, changed(p))
	}
	r.commit(l, facts...)
	again := r.text(m, "changed")
	again.ID = "prt_9"
	r.commit(l, changed(again))
	r.same("order", texts(r.history(l.Session)), [][]string{{"changed", "prt_1", "prt_5"}})
	r.commit(l, &lathe.PartRemoved{Session: l.Session, Message: m.ID, Part: "prt_5"})
	last := r.text(m, "last")
	last.ID = "prt_0"
	r.commit(l, changed(last))
	r.same("order", texts(r.history(l.Session)), [][]string{{"changed", "prt_1", "last"}})
}

func testOneMessage(r *env) {
	l := r.held()
	want, _ := r.said(l, "Hello")
	got := must(r.Message(ctx(), l.Session, want.ID))(r)
	r.same("message", got, want)
	other := r.session()
	for _, err := range []error{
		second(r.Message(ctx(), l.Session, "msg_unknown")),
		second(r.Message(ctx(), other, want.ID)),
		second(r.Message(ctx(), "ses_unknown", want.ID)),
	} {
		r.is(err, lathe.NotFound)
	}
}

func testOnePart(r *env) {
	l := r.held()
	m, a := r.said(l, "Hello")
	want := m.Parts[0]
	r.same("part", must(r.Part(ctx(), l.Session, m.ID, want.ID))(r), want)
	other := r.session()
	for _, err := range []error{
		second(r.Part(ctx(), l.Session, m.ID, "prt_unknown")),
		second(r.Part(ctx(), l.Session, a.ID, want.ID)),
		second(r.Part(ctx(), other, m.ID, want.ID)),
	} {
		r.is(err, lathe.NotFound)
	}
}

func second[T any](_ T, err error) error { return err }

func testHistoryMix(r *env) {
	one, ids := r.long(3)
	r.long(3)
	r.same("messages", messageIDs(r.history(one.Session)), ids)
}

func testSteps(r *env) {
	l, other := r.held(), r.held()
	first, answer := r.said(l, "change")
	r.said(other, "elsewhere")
	done := []lathe.Part{
		r.part(answer, &lathe.StepFinish{Reason: "stop", Snapshot: "after"}), r.part(answer, &lathe.Patch{Hash: "before", Files: []string{"/a"}}),
	}
	for _, p := range done {
		r.commit(l, &lathe.PartChanged{Part: p, Time: r.clock.tick()})
	}
	r.same("steps", must(r.Steps(ctx(), l.Session))(r), []lathe.Message{
		{ID: first.ID, Session: l.Session, Created: first.Created}, {ID: answer.ID, Session: l.Session, Created: answer.Created, Parts: done},
	})
	r.same("of an unknown session", must(r.Steps(ctx(), "ses_gone"))(r), []lathe.Message(nil))
}

// Answers are steps, numbered by their order. A page has those before a number, with their prompts.
func testStepPage(r *env) {
	l := r.held()
	var prompts, answers []lathe.Message
	for _, words := range []string{"one", "two", "three"} {
		u, a := r.said(l, words)
		prompts, answers = append(prompts, u), append(answers, a)
	}
	r.said(r.held(), "elsewhere")
	s := lathe.Session{ID: l.Session}
	page := must(r.StepPage(ctx(), s, 0, 2))(r)
	r.same("newest", messageIDs(page.Messages), []lathe.MessageID{answers[1].ID, answers[2].ID})
	r.same("numbers", []int{page.Total, page.At, page.First}, []int{3, 3, 2})
	r.same("prompt", page.Prompts[prompts[1].ID].Parts, prompts[1].Parts)
	s.Revert = &lathe.Revert{Message: prompts[1].ID}
	page = must(r.StepPage(ctx(), s, 3, 5))(r)
	r.same("before", messageIDs(page.Messages), []lathe.MessageID{answers[0].ID, answers[1].ID})
	r.same("numbers of an undone session", []int{page.Total, page.At, page.First}, []int{3, 1, 1})
	r.same("far", len(must(r.StepPage(ctx(), s, 1, 5))(r).Messages), 0)
	for step, want := range []lathe.MessageID{prompts[0].ID, prompts[1].ID, prompts[2].ID, ""} {
		r.same("after", must(r.AfterStep(ctx(), l.Session, step))(r), want)
	}
	for _, step := range []int{-1, 4} {
		r.same("no step", lathe.CodeOf(second(r.AfterStep(ctx(), l.Session, step))), lathe.NotFound)
	}
	r.same("no session", lathe.CodeOf(second(r.AfterStep(ctx(), "ses_gone", 0))), lathe.NotFound)
	r.same("no session", lathe.CodeOf(second(r.StepPage(ctx(), lathe.Session{ID: "ses_gone"}, 0, 1))), lathe.NotFound)
}
