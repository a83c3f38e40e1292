package storetest

import (
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

func admitTests() map[string]func(*env) {
	return map[string]func(*env){
		"EveryInputIsKnown":                testEveryInput,
		"APromptIsThereForOthersAtOnce":    testPromptDurable,
		"APromptIsTold":                    testPromptPublished,
		"APromptNamesAgentAndModel":        testPromptSession,
		"SendingAgainChangesNothing":       testPromptAgain,
		"OtherWordsAreConflict":            testPromptOther,
		"ATakenPartIDIsConflict":           testPromptPart,
		"SteerQueueAndNoReply":             testPromptMarks,
		"CancelHoldsUntilTheNextWord":      testCancelHolds,
		"ResumeReleases":                   testResumeReleases,
		"CancelMarksTheLease":              testCancelMarks,
		"PromotedOnce":                     testPromoteOnce,
		"PromotedInPlaceIfNothingFollowed": testPromoteStays,
		"PromotedToTheEndOtherwise":        testPromoteMoves,
		"PromotedBehindAClockThatWentBack": testPromoteClock,
		"PromotedTogetherKeepTheirOrder":   testPromoteOrder,
		"AQueuedPromptMovesBehindAnswers":  testPromoteQueued,
		"WantsIsTheNewestThatWaitsNoMore":  testWants,
		"AnAnswerIsSetOnce":                testAnswerOnce,
		"AnAnswerNeedsItsRequest":          testAnswerUnknown,
		"AQuestionMayBeDismissed":          testQuestionReject,
		"AsksWaitOldestFirst":              testAsks,
		"ARequestMayNotBeMadeTwice":        testAskTwice,
		"ARunnerMayWithdraw":               testAskWithdraw,
	}
}

func testEveryInput(r *env) {
	for _, in := range lathetest.Inputs() {
		id := r.session(named(lathetest.SessionID))
		l := r.lease(id)
		for _, f := range lathetest.Stored() {
			switch f.(type) {
			case *lathe.PermissionAsked, *lathe.QuestionAsked:
				r.commit(l, f)
			default:
			}
		}
		r.admit(id, in)
		r.ok(r.Remove(ctx(), id))
	}
}

func testPromptDurable(r *env) {
	other := r.again(store.Options{})
	id := r.session()
	p := r.prompt(id, "Hello")
	r.admit(id, p)
	want := p.Message
	r.same("seen by another process", must(other.Message(ctx(), id, want.ID))(r), want)
	r.same("in the history", r.history(id), []lathe.Message{want})
}

func testPromptPublished(r *env) {
	id := r.session()
	p := r.prompt(id, "Hello")
	p.Message.Parts = append(p.Message.Parts, r.part(p.Message, &lathe.File{Mime: "text/plain", URL: "file:///a"}))
	r.published.take()
	events := r.admit(id, p)
	r.same("told", r.published.take(), events)
	r.same("kinds", kinds(events), []string{"message.updated", "message.part.updated", "message.part.updated", "session.updated"})
	r.same("numbers", numbers(events), []string{"2", "3", "4", "5*"})
	info := p.Message
	info.Parts = nil
	r.same("message", events[0].Fact, lathe.Fact(&lathe.MessageChanged{Info: info}))
	for i, part := range p.Message.Parts {
		r.same("part", events[1+i].Fact.(*lathe.PartChanged).Part, part)
	}
	r.same("session", events[3].Fact, lathe.Fact(&lathe.SessionChanged{Info: must(r.Session(ctx(), id))(r)}))
}

func testPromptSession(r *env) {
	id := r.session()
	before := must(r.Session(ctx(), id))(r)
	p := r.prompt(id, "Hello")
	r.admit(id, p)
	after := must(r.Session(ctx(), id))(r)
	want := before
	want.Agent, want.Model, want.Updated = "build", &lathe.SessionModel{ID: "m-1", Provider: "acme", Variant: "default"}, after.Updated
	r.same("session", after, want)
	if after.Updated <= before.Updated {
		r.Fatalf("the prompt left the time at %v", after.Updated)
	}
	p = r.prompt(id, "Think")
	p.Message.Data = &lathe.User{Agent: "plan", Model: lathe.ModelRef{Provider: "acme", Model: "m-2", Variant: "high"}}
	r.admit(id, p)
	after = must(r.Session(ctx(), id))(r)
	r.same("agent", after.Agent, "plan")
	r.same("model", after.Model, &lathe.SessionModel{ID: "m-2", Provider: "acme", Variant: "high"})
}

func testPromptAgain(r *env) {
	id := r.session()
	p := r.prompt(id, "Hello")
	r.admit(id, p)
	before, n := r.history(id), r.counter()
	r.published.take()
	again := p
	again.Message.Created += 5000 // as a client that tries again would send it
	r.same("events", r.admit(id, again), []lathe.Event{})
	r.same("told", r.published.take(), []lathe.Event{})
	r.same("history", r.history(id), before)
	r.same("counter", r.counter(), n)
	l := r.lease(id)
	r.commit(l, &lathe.Promote{Session: id, Message: p.Message.ID})
	r.admit(id, again)
	r.same("waiting", r.inbox(id), []store.QueuedPrompt{})
}

func testPromptOther(r *env) {
	id, other := r.session(), r.session()
	p := r.prompt(id, "Hello")
	r.admit(id, p)
	changed := p
	changed.Digest = "other words"
	_, err := r.Admit(ctx(), id, changed)
	r.is(err, lathe.Conflict)
	_, err = r.Admit(ctx(), other, p)
	r.is(err, lathe.Conflict)
	r.same("history", r.history(id), []lathe.Message{p.Message})
	r.same("history of the other", r.history(other), []lathe.Message{})
}

func testPromptPart(r *env) {
	id := r.session()
	p := r.prompt(id, "Hello")
	r.admit(id, p)
	q := r.prompt(id, "Again")
	q.Message.Parts[0].ID = p.Message.Parts[0].ID
	_, err := r.Admit(ctx(), id, q)
	r.is(err, lathe.Conflict)
	r.same("history", r.history(id), []lathe.Message{p.Message})
}

func (r *env) inbox(id lathe.SessionID) []store.QueuedPrompt {
	r.Helper()
	waiting, _, err := r.Inbox(ctx(), id)
	r.ok(err)
	return waiting
}

func (r *env) wants(id lathe.SessionID) lathe.MessageID {
	r.Helper()
	_, wants, err := r.Inbox(ctx(), id)
	r.ok(err)
	return wants
}

// prompts admits prompts and returns their ids.
func (r *env) prompts(id lathe.SessionID, delivery ...lathe.Delivery) []lathe.MessageID {
	r.Helper()
	var out []lathe.MessageID
	for i, d := range delivery {
		p := r.prompt(id, fmt.Sprint("prompt ", i))
		p.Delivery = d
		r.admit(id, p)
		out = append(out, p.Message.ID)
	}
	return out
}

func testPromptMarks(r *env) {
	id := r.session()
	ids := r.prompts(id, "", lathe.Queue, lathe.Steer)
	quiet := r.prompt(id, "for your information")
	quiet.NoReply = true
	r.admit(id, quiet)
	r.same("inbox", r.inbox(id), []store.QueuedPrompt{{Message: ids[0]}, {Message: ids[1], Queue: true}, {Message: ids[2]}})
	r.same("wants", r.wants(id), lathe.MessageID(""))
	r.same("history", messageIDs(r.history(id)), append(ids, quiet.Message.ID))
	r.same("of another session", r.inbox(r.session()), []store.QueuedPrompt{})
}

func testCancelHolds(r *env) {
	id := r.session()
	ids := r.prompts(id, lathe.Steer, lathe.Queue)
	r.same("events", r.admit(id, lathe.Cancel{}), []lathe.Event{})
	r.same("held", r.inbox(id), []store.QueuedPrompt{{Message: ids[0], Paused: true}, {Message: ids[1], Queue: true, Paused: true}})
	next := r.prompts(id, lathe.Steer)
	r.same("released", r.inbox(id), []store.QueuedPrompt{{Message: ids[0]}, {Message: ids[1], Queue: true}, {Message: next[0]}})
}

func testResumeReleases(r *env) {
	id, other := r.session(), r.session()
	ids := r.prompts(id, lathe.Steer)
	theirs := r.prompts(other, lathe.Steer)
	r.admit(id, lathe.Cancel{})
	r.admit(other, lathe.Cancel{})
	r.admit(id, lathe.Resume{})
	r.same("released", r.inbox(id), []store.QueuedPrompt{{Message: ids[0]}})
	r.same("still held", r.inbox(other), []store.QueuedPrompt{{Message: theirs[0], Paused: true}})
}

func testCancelMarks(r *env) {
	l := r.held()
	canceled := func() bool {
		h := must(r.Leases(ctx()))(r)
		return len(h) == 1 && h[0].Canceled
	}
	r.same("before", canceled(), false)
	r.admit(l.Session, lathe.Cancel{})
	r.same("after", canceled(), true)
	r.said(l, "the holder settles what is open")
	r.ok(r.Release(ctx(), l))
	r.lease(l.Session)
	r.same("in the next epoch", canceled(), false)
}

func testPromoteOnce(r *env) {
	l := r.held()
	ids := r.prompts(l.Session, lathe.Steer)
	up := &lathe.Promote{Session: l.Session, Message: ids[0]}
	r.commit(l, up)
	r.same("inbox", r.inbox(l.Session), []store.QueuedPrompt{})
	_, a := r.said(l, "more")
	before := r.history(l.Session)
	r.same("events of a second time", r.commit(l, up), []lathe.Event{})
	r.same("history", r.history(l.Session), before)
	r.same("never waited", r.commit(l, &lathe.Promote{Session: l.Session, Message: a.ID}), []lathe.Event{})
}

func testPromoteStays(r *env) {
	l := r.held()
	r.said(l, "before")
	p := r.prompt(l.Session, "Hello")
	r.admit(l.Session, p)
	before := r.history(l.Session)
	r.same("events", r.commit(l, &lathe.Promote{Session: l.Session, Message: p.Message.ID}), []lathe.Event{})
	r.same("history", r.history(l.Session), before)
}

func testPromoteMoves(r *env) {
	l := r.held()
	p := r.prompt(l.Session, "Hello")
	r.admit(l.Session, p)
	_, a := r.said(l, "meanwhile")
	events := r.commit(l, &lathe.Promote{Session: l.Session, Message: p.Message.ID})
	r.same("kinds", kinds(events), []string{"message.updated"})
	h := r.history(l.Session)
	last := h[len(h)-1]
	r.same("last", last.ID, p.Message.ID)
	if last.Created <= a.Created || last.Created > r.clock.tick() {
		r.Fatalf("created at %v, after %v and until now", last.Created, a.Created)
	}
	r.same("parts", last.Parts, p.Message.Parts)
	last.Parts = nil
	r.same("published", events[0].Fact.(*lathe.MessageChanged).Info, last)
}

func testPromoteClock(r *env) {
	l := r.held()
	ids := r.prompts(l.Session, lathe.Steer, lathe.Steer)
	late := r.user(l.Session)
	late.Created += 5000.5
	r.commit(l, wrote(late)...)
	r.commit(l, &lathe.Promote{Session: l.Session, Message: ids[0]}, &lathe.Promote{Session: l.Session, Message: ids[1]})
	h := r.history(l.Session)
	r.same("order", messageIDs(h), []lathe.MessageID{late.ID, ids[0], ids[1]})
	if h[1].Created <= h[0].Created || h[2].Created <= h[1].Created {
		r.Fatalf("created at %v, %v and %v", h[0].Created, h[1].Created, h[2].Created)
	}
}

func testPromoteOrder(r *env) {
	l := r.held()
	ids := r.prompts(l.Session, lathe.Steer, lathe.Steer, lathe.Steer)
	up := []lathe.Fact{}
	for _, id := range ids {
		up = append(up, &lathe.Promote{Session: l.Session, Message: id})
	}
	before := r.history(l.Session)
	r.same("published, if only prompts wait", r.commit(l, up...), []lathe.Event{})
	r.same("history", r.history(l.Session), before)

	ids = r.prompts(l.Session, lathe.Steer, lathe.Steer)
	_, a := r.said(l, "meanwhile")
	more := r.prompts(l.Session, lathe.Steer)
	ids = append(ids, more...)
	up = nil
	for _, id := range ids {
		up = append(up, &lathe.Promote{Session: l.Session, Message: id})
	}
	r.commit(l, up...)
	h := messageIDs(r.history(l.Session))
	r.same("order", h[len(h)-4:], append([]lathe.MessageID{a.ID}, ids...))
}

func testPromoteQueued(r *env) {
	l := r.held()
	ids := r.prompts(l.Session, lathe.Queue, lathe.Steer)
	r.commit(l, &lathe.Promote{Session: l.Session, Message: ids[1]})
	_, a := r.said(l, "an answer")
	r.commit(l, &lathe.Promote{Session: l.Session, Message: ids[0]})
	h := messageIDs(r.history(l.Session))
	r.same("order", []lathe.MessageID{h[0], h[len(h)-2], h[len(h)-1]}, []lathe.MessageID{ids[1], a.ID, ids[0]})
}

func testWants(r *env) {
	l := r.held()
	ids := r.prompts(l.Session, lathe.Steer, lathe.Queue)
	r.same("while both wait", r.wants(l.Session), lathe.MessageID(""))
	r.commit(l, &lathe.Promote{Session: l.Session, Message: ids[0]})
	r.same("promoted", r.wants(l.Session), ids[0])
	quiet := r.prompt(l.Session, "for your information")
	quiet.NoReply = true
	r.admit(l.Session, quiet)
	r.said(l, "a shell command, say")
	r.same("not prompts without a reply", r.wants(l.Session), ids[0])
	r.commit(l, &lathe.Promote{Session: l.Session, Message: ids[1]})
	r.same("the newest", r.wants(l.Session), ids[1])
}

func (r *env) asks() []lathe.Fact {
	r.Helper()
	return must(r.Asks(ctx(), lathe.Scope{}))(r)
}

func testAnswerOnce(r *env) {
	l := r.held()
	ask := r.ask(l.Session)
	r.commit(l, ask)
	r.same("asks", r.asks(), []lathe.Fact{ask})
	events := r.admit(l.Session, lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Always})
	want := lathe.Fact(&lathe.PermissionReplied{Session: l.Session, Request: ask.ID, Reply: lathe.Always})
	r.same("told", events[0].Fact, want)
	r.same("asks", r.asks(), []lathe.Fact{})
	n := r.counter()
	for _, again := range []lathe.Input{
		lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Reject},
		lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Always},
	} {
		_, err := r.Admit(ctx(), l.Session, again)
		r.is(err, lathe.NotFound)
	}
	r.same("counter", r.counter(), n)
	replies := r.since(n-1, lathe.Scope{})
	r.same("the first answer stays", replies[0].Fact, want)
}

func testAnswerUnknown(r *env) {
	l, other := r.held(), r.session()
	ask := r.ask(l.Session)
	r.commit(l, ask)
	for id, in := range map[lathe.SessionID]lathe.Input{
		l.Session: lathe.PermissionAnswer{Ask: "per_unknown", Reply: lathe.Once},
		other:     lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Once},
	} {
		_, err := r.Admit(ctx(), id, in)
		r.is(err, lathe.NotFound)
	}
	r.same("asks", r.asks(), []lathe.Fact{ask})
}

func testQuestionReject(r *env) {
	l := r.held()
	one, two := r.question(l.Session), r.question(l.Session)
	r.commit(l, one, two)
	events := r.admit(l.Session, lathe.QuestionAnswer{Ask: one.ID, Reject: true})
	r.same("told", events[0].Fact, lathe.Fact(&lathe.QuestionRejected{Session: l.Session, Request: one.ID}))
	answers := [][]string{{"One"}, {}, {"Two", "free words"}}
	events = r.admit(l.Session, lathe.QuestionAnswer{Ask: two.ID, Answers: answers})
	r.same("told", events[0].Fact, lathe.Fact(&lathe.QuestionReplied{Session: l.Session, Request: two.ID, Answers: answers}))
	r.same("asks", r.asks(), []lathe.Fact{})
}

func testAsks(r *env) {
	here, there := r.held(), r.held(func(s *lathe.Session) { s.Directory = "/elsewhere" })
	one, two, three := r.ask(here.Session), r.question(there.Session), r.question(here.Session)
	r.commit(here, one)
	r.commit(there, two)
	r.commit(here, three)
	r.same("all", r.asks(), []lathe.Fact{one, two, three})
	r.same("of a session", must(r.Asks(ctx(), lathe.Scope{Session: here.Session}))(r), []lathe.Fact{one, three})
	r.same("of a directory", must(r.Asks(ctx(), lathe.Scope{Directory: "/elsewhere"}))(r), []lathe.Fact{two})
	r.ok(r.Remove(ctx(), here.Session))
	r.same("after a removal", r.asks(), []lathe.Fact{two})
}

func testAskTwice(r *env) {
	l, other := r.held(), r.held()
	ask := r.ask(l.Session)
	r.commit(l, ask)
	_, err := r.Commit(ctx(), l, ask)
	r.is(err, lathe.Conflict)
	ask.Session = other.Session
	_, err = r.Commit(ctx(), other, ask)
	r.is(err, lathe.Conflict)
}

func testAskWithdraw(r *env) {
	l := r.held()
	ask := r.ask(l.Session)
	r.commit(l, ask)
	reply := &lathe.PermissionReplied{Session: l.Session, Request: ask.ID, Reply: lathe.Reject}
	r.same("told", kinds(r.commit(l, reply)), []string{"permission.replied"})
	r.same("a second time", r.commit(l, reply), []lathe.Event{})
	_, err := r.Admit(ctx(), l.Session, lathe.PermissionAnswer{Ask: ask.ID, Reply: lathe.Once})
	r.is(err, lathe.NotFound)
	r.same("asks", r.asks(), []lathe.Fact{})
}
