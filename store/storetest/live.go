package storetest

import (
	"fmt"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func liveTests() map[string]func(*env) {
	return map[string]func(*env){
		"EveryWriteIsPublishedOnce":           testLiveOnce,
		"PublishedBeforeTheCallReturns":       testLiveBefore,
		"NothingForeignNothingPolled":         testPollNothing,
		"PollTellsWhatOthersWrote":            testPoll,
		"ForeignChangesComeBeforeOwn":         testPollBeforeOwn,
		"ForeignAsItWasBeforeOwnChanges":      testPollAsItWas,
		"ForeignOnesCarryTheHighestNumber":    testPollNumbers,
		"ForeignCheckpointsCarryTheTextSoFar": testPollTail,
		"NobodyListensNothingIsRead":          testPollUnwanted,
		"BothHearEachOther":                   testPollBoth,
		"WhatWasThereBeforeIsNotNews":         testPollOld,
		"ManyForeignChangesComeInPieces":      testPollMany,
		"ForeignRemoval":                      testPollRemoved,
		"AskedAndAnsweredElsewhere":           testPollAsk,
		"APromptForASessionHeldElsewhere":     testPollPrompt,
		"AnOpenPartComesAfterThoseBefore":     testPublishPart,
	}
}

func testLiveOnce(r *env) {
	r.twoPlaces()
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	r.fork(rec.ID, "")
	if d := differ(read(r, r.Store), followed(r, r.published.take())); d != "" {
		r.Fatalf("a live reader has other sessions: %s", d)
	}
	r.same("published", r.Last(), r.counter())
}

func testLiveBefore(r *env) {
	id := r.session()
	for i := range 20 {
		must(r.Edit(ctx(), id, lathe.Edit{Title: lathe.Some(fmt.Sprint(i))}))(r)
		r.same("published", r.Last(), int64(i+2))
		events := r.published.take()
		r.same("the last event", events[len(events)-1].Fact.(*lathe.SessionChanged).Info.Title, fmt.Sprint(i))
	}
}

// other is a second process with its own listener.
func (r *env) other() (*store.Store, *listener) {
	r.Helper()
	published := &listener{}
	return r.again(store.Options{Publish: published.publish, HasListeners: published.wanted}), published
}

func testPollNothing(r *env) {
	s, published := r.other()
	r.ok(s.Poll(ctx()))
	r.session()
	r.ok(r.Poll(ctx()))
	r.same("batches of the writer", len(r.published.batches), 1)
	r.ok(s.Poll(ctx()))
	r.ok(s.Poll(ctx()))
	r.ok(s.Poll(ctx()))
	r.same("batches of the other", len(published.batches), 1)
}

func testPoll(r *env) {
	s, published := r.other()
	l := r.held()
	r.said(l, "Hello")
	r.same("before", published.events(), []lathe.Event{})
	r.ok(s.Poll(ctx()))
	events := published.take()
	r.same("kinds", kinds(events), []string{"session.created", "message.updated", "message.part.updated", "message.updated", "message.part.updated"})
	r.same("sessions", followed(r, events), read(r, r.Store))
	r.same("published", s.Last(), r.counter())
	must(r.Edit(ctx(), l.Session, lathe.Edit{Title: lathe.Some("New")}))(r)
	r.ok(s.Poll(ctx()))
	r.same("the next", kinds(published.take()), []string{"session.updated"})
}

// testPublishPart: a delta can be here before the changes that lead to it. Readers still see the parts in their order.
func testPublishPart(r *env) {
	s, published := r.other()
	l := r.held()
	u := r.user(l.Session)
	m := r.answer(u)
	first, second := r.text(m, "first"), r.growing(m, "sec")
	r.commit(l, &lathe.MessageChanged{Info: u}, &lathe.MessageChanged{Info: m})
	r.ok(s.Poll(ctx()))
	before := len(published.take())
	r.commit(l, &lathe.PartChanged{Part: first})
	r.commit(l, &lathe.PartChanged{Part: second})
	r.ok(s.PublishPart(ctx(), l.Session, m.ID, second.ID))
	r.ok(s.Poll(ctx()))
	var parts []lathe.PartID
	for _, ev := range published.take() {
		if p, ok := ev.Fact.(*lathe.PartChanged); ok && !slices.Contains(parts, p.Part.ID) {
			parts = append(parts, p.Part.ID)
		}
	}
	r.same("parts", parts, []lathe.PartID{first.ID, second.ID})
	r.same("the session before", before > 0, true)
}

func testPollNumbers(r *env) {
	s, published := r.other()
	l := r.held()
	r.said(l, "Hello")
	r.commit(l, status(l.Session, lathe.Idle), status(l.Session, lathe.Busy), status(l.Session, lathe.Idle))
	r.ok(s.Poll(ctx()))
	r.same("batches", len(published.batches), 1)
	b := published.batches[0]
	r.same("foreign", b.Foreign, true)
	r.same("counter", b.Counter, r.counter())
	for i, e := range b.Events {
		_, news := e.Fact.(*lathe.SessionIdle)
		last := i == len(b.Events)-1
		if e.Last != last || !news && e.Seq != b.Counter {
			r.Fatalf("event %d, %s: number %d, last %v", i, e.Fact.Type(), e.Seq, e.Last)
		}
	}
}

func testPollBeforeOwn(r *env) {
	s, published := r.other()
	one, two := r.session(), r.session()
	r.prompts(one, lathe.Steer)
	must(s.Edit(ctx(), two, lathe.Edit{Title: lathe.Some("New")}))(r)
	r.prompts(one, lathe.Steer)
	must(s.Edit(ctx(), two, lathe.Edit{Title: lathe.Some("Newer")}))(r)
	events := published.take()
	last := int64(0)
	for _, e := range events {
		if e.Seq < last {
			r.Fatalf("number %d comes after %d", e.Seq, last)
		}
		last = e.Seq
	}
	r.same("number", last, r.counter())
	r.same("sessions", followed(r, events), read(r, r.Store))
	r.ok(s.Poll(ctx()))
	r.same("nothing is left", published.take(), []lathe.Event{})
}

// testPollAsItWas lets another process make a session, and this one change it at once: its
// readers must get the event of a new session.
func testPollAsItWas(r *env) {
	s, published := r.other()
	id := r.session()
	must(s.Edit(ctx(), id, lathe.Edit{Title: lathe.Some("New")}))(r)
	r.same("kinds", kinds(published.take()), []string{"session.created", "session.updated"})
	p := r.prompt(id, "Hello")
	r.admit(id, p)
	l := must(s.Acquire(ctx(), id))(r)
	must(s.Commit(ctx(), l, &lathe.MessageRemoved{Session: id, Message: p.Message.ID}))(r)
	r.same("kinds", kinds(published.take()), []string{"message.updated", "message.part.updated", "session.updated", "message.removed"})
}

func testPollTail(r *env) {
	s, published := r.other()
	g := r.grown("one")
	r.ok(s.Poll(ctx()))
	published.take()
	r.ok(g.add(3, " two"))
	r.ok(s.Poll(ctx()))
	events := published.take()
	r.same("kinds", kinds(events), []string{"message.part.updated"})
	r.same("text", events[0].Fact.(*lathe.PartChanged).Part.GrowingText(), "one two")
}

func testPollUnwanted(r *env) {
	s, published := r.other()
	published.ignores = true
	r.said(r.held(), "Hello")
	r.ok(s.Poll(ctx()))
	r.same("events", published.take(), []lathe.Event{})
	r.same("published", s.Last(), r.counter())
	published.ignores = false
	r.session()
	r.ok(s.Poll(ctx()))
	r.same("only what came since", kinds(published.take()), []string{"session.created"})
}

func testPollBoth(r *env) {
	s, published := r.other()
	one := r.held()
	r.ok(s.Poll(ctx()))
	id := r.session()
	l := must(s.Acquire(ctx(), id))(r)
	for i := range 10 {
		r.said(one, fmt.Sprint(i))
		m := r.user(id)
		must(s.Commit(ctx(), l, wrote(m)...))(r)
		if i%3 == 0 {
			r.ok(s.Poll(ctx()))
			r.ok(r.Poll(ctx()))
		}
	}
	r.ok(s.Poll(ctx()))
	r.ok(r.Poll(ctx()))
	want := read(r, r.Store)
	r.same("one", followed(r, r.published.take()), want)
	r.same("two", followed(r, published.take()), want)
	r.same("published", []int64{r.Last(), s.Last()}, []int64{r.counter(), r.counter()})
}

func testPollOld(r *env) {
	id := r.session()
	s, published := r.other()
	r.same("published", s.Last(), int64(1))
	must(r.Edit(ctx(), id, lathe.Edit{Touch: true}))(r)
	r.ok(s.Poll(ctx()))
	r.same("kinds", kinds(published.take()), []string{"session.updated"})
}

func testPollMany(r *env) {
	s, published := r.other()
	r.long(700)
	r.ok(s.Poll(ctx()))
	for _, b := range published.batches {
		if len(b.Events) > 300 {
			r.Errorf("a batch of %d events", len(b.Events))
		}
	}
	last := 0
	events := published.take()
	for _, e := range events {
		if e.Last {
			last++
		}
	}
	r.same("events that end a commit", last, 1)
	r.same("sessions", followed(r, events), read(r, r.Store))
}

func testPollRemoved(r *env) {
	s, published := r.other()
	l := r.held()
	m, _ := r.said(l, "Hello")
	r.ok(s.Poll(ctx()))
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: m.ID})
	r.ok(s.Poll(ctx()))
	r.ok(r.Remove(ctx(), l.Session))
	r.ok(s.Poll(ctx()))
	r.same("sessions", followed(r, published.take()), sessionSet{})
}

func testPollAsk(r *env) {
	s, published := r.other()
	l := r.held()
	one, two := r.ask(l.Session), r.ask(l.Session)
	r.commit(l, one)
	r.ok(s.Poll(ctx()))
	published.take()
	must(s.Admit(ctx(), l.Session, lathe.PermissionAnswer{Ask: one.ID, Reply: lathe.Once}))(r)
	r.ok(r.Poll(ctx()))
	events := r.published.take()
	r.same("the answer arrives", events[len(events)-1].Fact, lathe.Fact(&lathe.PermissionReplied{Session: l.Session, Request: one.ID, Reply: lathe.Once}))
	r.commit(l, two)
	r.admit(l.Session, lathe.PermissionAnswer{Ask: two.ID, Reply: lathe.Once})
	published.take()
	r.ok(s.Poll(ctx()))
	r.same("asked and answered before a look", kinds(published.take()), []string{"permission.replied"})
}

func testPollPrompt(r *env) {
	s, _ := r.other()
	l := r.held()
	p := r.prompt(l.Session, "Hello")
	must(s.Admit(ctx(), l.Session, p))(r)
	r.ok(r.Poll(ctx()))
	r.same("inbox", r.inbox(l.Session), []store.QueuedPrompt{{Message: p.Message.ID}})
	r.same("told", kinds(r.published.take()), []string{"session.created", "message.updated", "message.part.updated", "session.updated"})
	r.commit(l, &lathe.Promote{Session: l.Session, Message: p.Message.ID})
	r.same("wants", r.wants(l.Session), p.Message.ID)
}
