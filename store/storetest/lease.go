package storetest

import (
	"sync"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func leaseTests() map[string]func(*env) {
	return map[string]func(*env){
		"OneHolderAtATime":              testLeaseOne,
		"ReleaseLetsTheNextIn":          testLeaseRelease,
		"EpochsRise":                    testLeaseEpoch,
		"AnOldLeaseCannotCommit":        testLeaseFence,
		"ReleaseOfALostLeaseIsHarmless": testLeaseLost,
		"RemovalEndsIt":                 testLeaseRemoved,
		"ARemovedSessionThatComesBack":  testLeaseReturned,
		"SessionsAreApart":              testLeaseApart,
		"BetweenProcesses":              testLeaseProcesses,
		"AClosedProcessHoldsNothing":    testLeaseDead,
		"TakeOver":                      testLeaseTakeOver,
		"UnfinishedUntilReleased":       testLeaseUnfinished,
		"OfManyTakersOneWins":           testLeaseRace,
		"Holdings":                      testHoldings,
		"NobodyNeedsOneToEdit":          testLeaseEdit,
	}
}

func testLeaseOne(r *env) {
	l := r.held()
	_, err := r.Acquire(ctx(), l.Session)
	r.is(err, lathe.Conflict)
	r.said(l, "still mine")
}

func testLeaseRelease(r *env) {
	l := r.held()
	r.ok(r.Release(ctx(), l))
	_, err := r.Commit(ctx(), l, status(l.Session, lathe.Busy))
	r.is(err, lathe.Conflict)
	r.said(r.lease(l.Session), "my turn")
}

func testLeaseEpoch(r *env) {
	l := r.held()
	for range 3 {
		r.ok(r.Release(ctx(), l))
		next := r.lease(l.Session)
		if next.Epoch <= l.Epoch {
			r.Fatalf("epoch %d follows %d", next.Epoch, l.Epoch)
		}
		l = next
	}
}

func testLeaseFence(r *env) {
	old := r.held()
	r.ok(r.Release(ctx(), old))
	now := r.lease(old.Session)
	before := r.counter()
	_, err := r.Commit(ctx(), old, wrote(r.user(old.Session))...)
	r.is(err, lathe.Conflict)
	r.same("counter", r.counter(), before)
	for _, forged := range []store.Lease{{}, {Session: old.Session}, {Session: old.Session, Epoch: now.Epoch + 1}, {Session: "ses_unknown", Epoch: now.Epoch}} {
		_, err := r.Commit(ctx(), forged)
		r.is(err, lathe.Conflict)
	}
	r.commit(now, wrote(r.user(now.Session))...)
}

func testLeaseLost(r *env) {
	old := r.held()
	r.ok(r.Release(ctx(), old))
	now := r.lease(old.Session)
	r.ok(r.Release(ctx(), old))
	r.said(now, "unharmed")
	r.ok(r.Release(ctx(), store.Lease{Session: "ses_unknown", Epoch: 1}))
}

func testLeaseRemoved(r *env) {
	l := r.held()
	r.said(l, "Hello")
	r.ok(r.Remove(ctx(), l.Session))
	_, err := r.Commit(ctx(), l, wrote(r.user(l.Session))...)
	r.is(err, lathe.Conflict)
	r.ok(r.Release(ctx(), l))
}

// testLeaseReturned brings a session back under its id. A runner of its former life must
// not be taken for its new one.
func testLeaseReturned(r *env) {
	rec := r.record()
	r.ok(r.Create(ctx(), rec))
	old := r.lease(rec.ID)
	r.ok(r.Remove(ctx(), rec.ID))
	r.ok(r.Import(ctx(), rec, nil))
	_, err := r.Commit(ctx(), old)
	r.is(err, lathe.Conflict)
	now := r.lease(rec.ID)
	_, err = r.Commit(ctx(), old)
	r.is(err, lathe.Conflict)
	r.said(now, "a new life")
}

func testLeaseApart(r *env) {
	one, two := r.held(), r.held()
	r.said(one, "one")
	r.said(two, "two")
	_, err := r.Commit(ctx(), store.Lease{Session: one.Session, Epoch: two.Epoch})
	r.is(err, lathe.Conflict)
}

func testLeaseProcesses(r *env) {
	other := r.again(store.Options{})
	l := r.held()
	_, err := other.Acquire(ctx(), l.Session)
	r.is(err, lathe.Conflict)
	_, err = other.Commit(ctx(), l) // with the right epoch, but not its owner
	r.is(err, lathe.Conflict)
	r.ok(r.Release(ctx(), l))
	theirs := must(other.Acquire(ctx(), l.Session))(r)
	_, err = r.Commit(ctx(), l)
	r.is(err, lathe.Conflict)
	must(other.Commit(ctx(), theirs, wrote(r.user(l.Session))...))(r)
}

func testLeaseDead(r *env) {
	other := r.again(store.Options{})
	id := r.session()
	must(other.Acquire(ctx(), id))(r)
	_, err := r.Acquire(ctx(), id)
	r.is(err, lathe.Conflict)
	r.ok(other.Close())
	r.said(r.lease(id), "mine now")
}

func testLeaseTakeOver(r *env) {
	other := r.again(store.Options{})
	theirs := func() store.Lease { return must(other.Acquire(ctx(), r.session()))(r) }
	busy, quiet, released, unasked, mine := theirs(), theirs(), theirs(), theirs(), r.held()
	must(other.Commit(ctx(), busy, status(busy.Session, lathe.Busy)))(r)
	must(other.Commit(ctx(), quiet, &lathe.Interrupted{Session: quiet.Session}))(r)
	r.ok(other.Release(ctx(), released))
	ids := []lathe.SessionID{quiet.Session, mine.Session, "ses_unknown", released.Session, busy.Session}
	r.same("of a live process", len(must(store.TakeOver(ctx(), r.Store, ids))(r)), 0)
	r.ok(other.Close())
	r.published.take()
	taken := map[lathe.SessionID]store.Lease{}
	for _, l := range must(store.TakeOver(ctx(), r.Store, ids))(r) {
		taken[l.Session] = l
		r.said(l, "mine now")
	}
	r.same("taken", len(taken), 2)
	r.same("left busy", []bool{taken[busy.Session].Busy, taken[quiet.Session].Busy}, []bool{true, false})
	r.same("cut off", []bool{taken[busy.Session].Cut, taken[quiet.Session].Cut}, []bool{false, true})
	r.same("statuses", r.statuses(lathe.Scope{}), map[lathe.SessionID]lathe.Status{busy.Session: {Type: lathe.Busy}})
	for _, ev := range r.published.take() {
		if _, ok := ev.Fact.(*lathe.StatusChanged); ok {
			r.Errorf("published %+v", ev)
		}
	}
	r.same("again", len(must(store.TakeOver(ctx(), r.Store, ids))(r)), 0)
	r.same("left", r.interruptions(r.Store, ""), []store.Interruption{{Session: unasked.Session, Dead: true}})
}

// testLeaseUnfinished: who waits for an answer sees no moment between a prompt and its runner.
func testLeaseUnfinished(r *env) {
	other := r.again(store.Options{})
	for range 20 {
		id, done := r.session(), make(chan struct{})
		r.admit(id, r.prompt(id, "hello"))
		go func() {
			defer close(done)
			for {
				yes, err := store.IsUnfinished(ctx(), r.Store, id)
				if err != nil || !yes {
					r.ok(err)
					return
				}
			}
		}()
		l := must(other.Acquire(ctx(), id))(r)
		p := r.inbox(id)[0].Message
		must(other.Commit(ctx(), l, &lathe.Promote{Session: id, Message: p}))(r)
		select {
		case <-done:
			r.Errorf("it was finished before its end")
		default:
		}
		r.ok(other.Release(ctx(), l))
		<-done
	}
}

func testLeaseRace(r *env) {
	id := r.session()
	other := r.again(store.Options{})
	var won atomic.Int64
	var all sync.WaitGroup
	for i := range 20 {
		s := r.Store
		if i%2 == 1 {
			s = other
		}
		all.Go(func() {
			_, err := s.Acquire(ctx(), id)
			if err == nil {
				won.Add(1)
			} else if lathe.CodeOf(err) != lathe.Conflict {
				r.Errorf("take: %v", err)
			}
		})
	}
	all.Wait()
	r.same("winners", won.Load(), int64(1))
}

func testHoldings(r *env) {
	other := r.again(store.Options{})
	free := r.held()
	r.ok(r.Release(ctx(), free))
	here := r.held()
	there := r.session()
	must(other.Acquire(ctx(), there))(r)
	r.admit(there, lathe.Cancel{})
	holdings := func() map[lathe.SessionID]store.LeaseInfo {
		out := map[lathe.SessionID]store.LeaseInfo{}
		for _, h := range must(r.Leases(ctx()))(r) {
			out[h.Session] = h
		}
		return out
	}
	r.same("holdings", holdings(), map[lathe.SessionID]store.LeaseInfo{
		here.Session: {Session: here.Session, Alive: true, Here: true},
		there:        {Session: there, Alive: true, Canceled: true},
	})
	r.ok(other.Close())
	r.same("after an end", holdings()[there], store.LeaseInfo{Session: there, Canceled: true})
	r.lease(there)
	r.same("taken over", holdings()[there], store.LeaseInfo{Session: there, Alive: true, Here: true})
}

func testLeaseEdit(r *env) {
	l := r.held()
	other := r.again(store.Options{})
	must(other.Edit(ctx(), l.Session, lathe.Edit{Title: lathe.Some("New")}))(r)
	r.said(l, "undisturbed")
}
