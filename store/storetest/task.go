package storetest

import (
	"sync"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func taskTests() map[string]func(*env) {
	return map[string]func(*env){
		"APromptSaysForWhomItIs":              testTaskKinds,
		"AnEndIsToldOnce":                     testTaskOnce,
		"AReportThatCannotBeToldStays":        testTaskStays,
		"ARepairedCallLeavesItsChildUnlisted": testTaskAwaited,
	}
}

func (r *env) task(id lathe.SessionID) lathe.Task {
	r.Helper()
	return must(r.Task(ctx(), id))(r)
}

// work admits a prompt for a task.
func (r *env) work(id lathe.SessionID, task lathe.Task) lathe.Submission {
	r.Helper()
	p := r.prompt(id, "work")
	p.Task = task
	r.admit(id, p)
	return p
}

func testTaskKinds(r *env) {
	top := r.session()
	child := r.session(below(top))
	r.same("at first", r.task(child), lathe.NoTask)
	r.work(child, lathe.Awaited)
	r.same("for a call", r.task(child), lathe.Awaited)
	r.work(child, lathe.NoTask)
	r.same("someone else speaks", r.task(child), lathe.NoTask)
	r.work(child, lathe.Background)
	r.work(child, lathe.NoTask)
	r.same("in the background", r.task(child), lathe.Background)
	list := func(parent lathe.SessionID) (ids []lathe.SessionID) {
		for _, s := range must(r.BackgroundTasks(ctx(), parent))(r) {
			ids = append(ids, s.ID)
		}
		return ids
	}
	other := r.session(below(child))
	r.work(other, lathe.Background)
	r.same("all", list(""), []lathe.SessionID{child, other})
	r.same("of one", list(top), []lathe.SessionID{child})
	r.work(child, lathe.Awaited)
	r.same("taken over by a call", len(list(top)), 0)
	r.same("of none", r.task("ses_none"), lathe.NoTask)
}

func testTaskOnce(r *env) {
	top := r.session()
	child := r.session(below(top))
	r.work(child, lathe.Background)
	other := r.again(store.Options{})
	var reported atomic.Int64
	var group sync.WaitGroup
	for i := range 8 { // each with its own id: the mark alone decides
		p := r.prompt(top, "it has ended")
		group.Go(func() {
			s := r.Store
			if i%2 == 1 {
				s = other
			}
			ok, err := s.ReportToParent(ctx(), child, p)
			if err != nil {
				r.Error(err)
			}
			if ok {
				reported.Add(1)
			}
		})
	}
	group.Wait()
	waiting, _, err := r.Inbox(ctx(), top)
	r.ok(err)
	r.same("told", reported.Load(), int64(1))
	r.same("prompts", len(waiting), 1)
	r.same("afterwards", r.task(child), lathe.NoTask)
}

func testTaskStays(r *env) {
	child := r.session(below("ses_gone"))
	r.work(child, lathe.Background)
	reported, err := r.ReportToParent(ctx(), child, r.prompt("ses_gone", "it has ended"))
	r.same("told", reported, false)
	r.is(err, lathe.NotFound)
	r.same("afterwards", r.task(child), lathe.Background)
}

func testTaskAwaited(r *env) {
	top := r.session()
	awaited, beside := r.session(below(top)), r.session(below(top))
	for id, task := range map[lathe.SessionID]lathe.Task{awaited: lathe.Awaited, beside: lathe.Background} {
		p := r.work(id, task)
		l := r.lease(id)
		r.commit(l, &lathe.Promote{Session: id, Message: p.Message.ID}, &lathe.Interrupted{Session: id})
		r.ok(r.Release(ctx(), l))
	}
	r.same("all", r.interruptions(r.Store, ""), []store.Interruption{{Session: beside, Closed: true}})
	r.same("by name", r.interruptions(r.Store, awaited), []store.Interruption{{Session: awaited, Closed: true}})
	r.work(awaited, lathe.Awaited)
	r.same("with a prompt", len(r.interruptions(r.Store, "")), 2)
	r.admit(awaited, lathe.Cancel{})
	r.same("that is held", len(r.interruptions(r.Store, "")), 1)
}
