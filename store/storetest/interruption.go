package storetest

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func interruptionTests() map[string]func(*env) {
	return map[string]func(*env){
		"ANoteLastsUntilTheNextPrompt":      testInterruptedNote,
		"ADeadProcessIsNoticed":             testInterruptedDead,
		"PromptsNobodyTookUpAreFound":       testInterruptedWaiting,
		"WhatIsHeldOrAtWorkIsNot":           testInterruptedNot,
		"ARemovedSessionIsNotInterrupted":   testInterruptedRemoved,
		"ReleasingDoesNotMakeItInterrupted": testInterruptedReleased,
	}
}

func (r *env) interruptions(s *store.Store, only lathe.SessionID) []store.Interruption {
	r.Helper()
	left, err := s.Interruptions(ctx(), only)
	r.ok(err)
	for i := range left {
		rec, err := s.Session(ctx(), left[i].Session)
		r.ok(err)
		r.same("directory", left[i].Directory, rec.Directory)
		left[i].Directory = ""
	}
	return left
}

func testInterruptedNote(r *env) {
	l, other := r.held(), r.held()
	r.commit(l, &lathe.Interrupted{Session: l.Session})
	r.ok(r.Release(ctx(), l))
	r.ok(r.Release(ctx(), other))
	want := []store.Interruption{{Session: l.Session, Closed: true}}
	r.same("all", r.interruptions(r.Store, ""), want)
	r.same("of it", r.interruptions(r.Store, l.Session), want)
	r.same("of another", len(r.interruptions(r.Store, other.Session)), 0)
	p := r.prompt(l.Session, "continue")
	r.admit(l.Session, p)
	r.same("a prompt waits", r.interruptions(r.Store, ""), []store.Interruption{{Session: l.Session, Closed: true, HasQueued: true}})
	again := r.lease(l.Session)
	r.commit(again, &lathe.Promote{Session: l.Session, Message: p.Message.ID})
	r.ok(r.Release(ctx(), again))
	r.same("it has gone on", len(r.interruptions(r.Store, "")), 0)
	l = r.lease(other.Session)
	r.commit(l, &lathe.Interrupted{Session: l.Session})
	r.commit(l, &lathe.MessageChanged{Info: lathe.Message{ID: r.ids.Message(), Session: l.Session, Data: &lathe.Assistant{}}})
	r.ok(r.Release(ctx(), l))
	r.same("and so has what is answered", len(r.interruptions(r.Store, "")), 0)
}

func testInterruptedDead(r *env) {
	other := r.again(store.Options{})
	id := r.session()
	_, err := other.Acquire(ctx(), id)
	r.ok(err)
	r.same("at work", len(r.interruptions(r.Store, "")), 0)
	r.ok(other.Close())
	r.same("dead", r.interruptions(r.Store, ""), []store.Interruption{{Session: id, Dead: true}})
	l := r.lease(id)
	r.same("taken over", len(r.interruptions(r.Store, "")), 0)
	r.ok(r.Release(ctx(), l))
	r.same("done", len(r.interruptions(r.Store, "")), 0)
}

func testInterruptedWaiting(r *env) {
	id := r.session()
	r.admit(id, r.prompt(id, "hello"))
	r.same("waiting", r.interruptions(r.Store, ""), []store.Interruption{{Session: id, HasQueued: true}})
}

func testInterruptedNot(r *env) {
	held, busy, quiet := r.session(), r.held(), r.session()
	r.admit(held, r.prompt(held, "hello"))
	r.admit(held, lathe.Cancel{})
	r.admit(busy.Session, r.prompt(busy.Session, "hello"))
	p := r.prompt(quiet, "a note")
	p.NoReply = true
	r.admit(quiet, p)
	r.same("interrupted", len(r.interruptions(r.Store, "")), 0)
}

func testInterruptedRemoved(r *env) {
	l := r.held()
	r.commit(l, &lathe.Interrupted{Session: l.Session})
	r.ok(r.Remove(ctx(), l.Session))
	r.same("interrupted", len(r.interruptions(r.Store, "")), 0)
}

func testInterruptedReleased(r *env) {
	l := r.held()
	r.ok(r.Release(ctx(), l))
	r.same("interrupted", len(r.interruptions(r.Store, "")), 0)
}
