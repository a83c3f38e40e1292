package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func writerTests() map[string]func(*env) {
	return map[string]func(*env){
		"AConflictUndoesOne":             testGroup,
		"ManyProcesses":                  testGroupProcesses,
		"NumbersRiseInPublishOrder":      testGroupNumbers,
		"CloseWritesWhatWasSent":         testClose,
		"CloseTwice":                     testCloseTwice,
		"AClosedStoreSaysSo":             testClosed,
		"CanceledBeforeItBegan":          testCanceled,
		"CanceledWhileItWaits":           testCanceledWaiting,
		"ACanceledReadEnds":              testCanceledRead,
		"ACanceledOneDoesNotHarmOthers":  testCanceledGroup,
		"ReadersSeeWholeCommits":         testReaders,
		"PublishSeesWhatItIsToldOf":      testPublishReads,
		"EachHearsOfItsOwn":              testGroupEvents,
		"WhatWasWrittenSurvivesReopen":   testReopen,
		"ClosingWaitsForReadsUnderWay":   testCloseRead,
		"NewsAndRowsShareAGroup":         testGroupNews,
		"AFailureIsNotToldToThoseBehind": testGroupFailure,
		"RowsReadAheadAreTheLatest":      testGroupAhead,
	}
}

// stalled opens another store whose writer waits in Publish until it is let go, so that
// later jobs share a commit. Hold stalls it, free releases it.
func (r *env) stalled() (s *store.Store, published *listener, hold, free func()) {
	r.Helper()
	published = &listener{}
	gate, inside := make(chan struct{}), make(chan struct{}, 1)
	var stall atomic.Bool
	s = r.again(store.Options{Search: true, Publish: func(b store.Batch) {
		published.publish(b)
		if stall.CompareAndSwap(true, false) {
			inside <- struct{}{}
			<-gate
		}
	}})
	hold = func() {
		stall.Store(true)
		go func() { _, _ = s.Edit(ctx(), "ses_stall", lathe.Edit{Touch: true}) }()
		<-inside
	}
	return s, published, hold, func() { close(gate) }
}

func testGroup(r *env) {
	r.session(named("ses_stall"))
	s, _, hold, free := r.stalled()
	const n = 200
	leases := make([]store.Lease, n)
	for i := range leases {
		leases[i] = must(s.Acquire(ctx(), r.session()))(r)
	}
	var facts [n][]lathe.Fact
	var users [n]lathe.Message
	for i, l := range leases {
		users[i] = r.user(l.Session)
		facts[i] = wrote(users[i])
		switch i % 7 {
		case 3: // fails at the end, with something written before
			facts[i] = append(facts[i], changed(r.text(users[i], "x")), &lathe.MessageRemoved{Session: l.Session, Message: "msg_unknown"})
		case 5: // its lease is of the past
			leases[i].Epoch--
		}
	}
	before := r.counter()
	hold()
	var all sync.WaitGroup
	var errs [n]error
	var got [n][]lathe.Event
	for i := range leases {
		all.Go(func() { got[i], errs[i] = s.Commit(ctx(), leases[i], facts[i]...) })
	}
	free()
	all.Wait()
	for i := range leases {
		want, stored := lathe.Code(""), 1
		switch i % 7 {
		case 3:
			want, stored = lathe.NotFound, 0
		case 5:
			want, stored = lathe.Conflict, 0
		}
		r.same(fmt.Sprintf("result of %d", i), lathe.CodeOf(errs[i]), want)
		r.same(fmt.Sprintf("messages of %d", i), len(r.history(leases[i].Session)), stored)
		r.same(fmt.Sprintf("events of %d", i), len(got[i]), stored)
	}
	failed := int64(n/7+1) + int64(n/7) // of each kind
	r.same("numbers taken", r.counter()-before, 1+n-failed)
}

func testGroupNumbers(r *env) {
	r.session(named("ses_stall"))
	s, published, hold, free := r.stalled()
	var ids []lathe.SessionID
	for range 30 {
		ids = append(ids, r.session())
	}
	hold()
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			_, err := s.Edit(ctx(), id, lathe.Edit{Title: lathe.Some(fmt.Sprint(i))})
			if err != nil {
				r.Errorf("edit: %v", err)
			}
		})
	}
	free()
	all.Wait()
	last := int64(0)
	for _, e := range published.events() {
		if e.Fact.Type() == "session.created" {
			continue
		}
		if e.Seq <= last && last != 0 || !e.Last {
			r.Fatalf("number %d after %d, last %v", e.Seq, last, e.Last)
		}
		last = e.Seq
	}
	r.same("last", last, r.counter())
	for i := 1; i < len(published.batches); i++ {
		if published.batches[i].Counter < published.batches[i-1].Counter {
			r.Fatalf("the counter of a batch fell")
		}
	}
}

func testGroupEvents(r *env) {
	r.session(named("ses_stall"))
	s, _, hold, free := r.stalled()
	id := r.session()
	hold()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			title := fmt.Sprint(i)
			rec, err := s.Edit(ctx(), id, lathe.Edit{Title: lathe.Some(title)})
			if err != nil || rec.Title != title {
				r.Errorf("edit %s returned %q (%v)", title, rec.Title, err)
			}
		})
	}
	free()
	all.Wait()
}

func testGroupNews(r *env) {
	r.session(named("ses_stall"))
	s, published, hold, free := r.stalled()
	id := r.session()
	l := must(s.Acquire(ctx(), id))(r)
	hold()
	published.take()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			f := lathe.Fact(&lathe.SessionCompacted{Session: id})
			if i%2 == 0 {
				f = &lathe.TodosChanged{Session: id}
			}
			if _, err := s.Commit(ctx(), l, f); err != nil {
				r.Errorf("commit: %v", err)
			}
		})
	}
	free()
	all.Wait()
	told := map[string]int{}
	for _, k := range kinds(published.take()) {
		told[k]++
	}
	r.same("told", told, map[string]int{"todo.updated": 10, "session.compacted": 10})
}

func testGroupFailure(r *env) {
	r.session(named("ses_stall"))
	s, published, hold, free := r.stalled()
	id := r.session()
	l := must(s.Acquire(ctx(), id))(r)
	hold()
	published.take()
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			m := lathe.Message{ID: lathe.MessageID(numbered("msg_", i)), Data: &lathe.User{}}
			_, err := s.Commit(ctx(), l, append(wrote(m), &lathe.Promote{Session: id, Message: "msg_unknown"})...)
			if lathe.CodeOf(err) != lathe.NotFound {
				r.Errorf("commit: %v", err)
			}
		})
	}
	free()
	all.Wait()
	r.same("told", published.take(), []lathe.Event{})
}

func testGroupProcesses(r *env) {
	const each, stores = 25, 3
	id := r.session()
	var all sync.WaitGroup
	for range stores {
		s := r.again(store.Options{})
		for range each {
			p := r.prompt(id, "Hello")
			all.Go(func() {
				if _, err := s.Admit(ctx(), id, p); err != nil {
					r.Errorf("admit: %v", err)
				}
			})
		}
	}
	all.Wait()
	h := r.history(id)
	r.same("prompts", len(h), stores*each)
	for i := 1; i < len(h); i++ {
		if h[i].Created <= h[i-1].Created {
			r.Fatalf("creation %v follows %v", h[i].Created, h[i-1].Created)
		}
	}
	r.same("numbers", r.counter(), int64(1+3*stores*each))
}

func testClose(r *env) {
	r.session(named("ses_stall"))
	s, _, hold, free := r.stalled()
	id := r.session()
	hold()
	const n = 300
	var all, started sync.WaitGroup
	var errs [n]error
	var prompts [n]lathe.Submission
	for i := range n {
		prompts[i] = r.prompt(id, "Hello")
		started.Add(1)
		all.Go(func() {
			started.Done()
			_, errs[i] = s.Admit(ctx(), id, prompts[i])
		})
	}
	started.Wait()
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	free()
	all.Wait()
	r.ok(<-closed)
	for i, p := range prompts {
		_, err := r.Message(ctx(), id, p.Message.ID)
		switch {
		case errs[i] == nil:
			r.ok(err)
		default:
			r.is(errs[i], lathe.Unavailable)
			r.is(err, lathe.NotFound)
		}
	}
}

func testCloseTwice(r *env) {
	s := r.again(store.Options{})
	r.ok(s.Close())
	r.ok(s.Close())
}

func testClosed(r *env) {
	l := r.held()
	s := r.again(store.Options{})
	r.ok(s.Close())
	nothing := func(lathe.Event) error { return nil }
	for name, err := range map[string]error{
		"Create":   s.Create(ctx(), r.record()),
		"Edit":     second(s.Edit(ctx(), l.Session, lathe.Edit{})),
		"Commit":   second(s.Commit(ctx(), l)),
		"Admit":    second(s.Admit(ctx(), l.Session, lathe.Cancel{})),
		"Take":     second(s.Acquire(ctx(), l.Session)),
		"Release":  s.Release(ctx(), l),
		"Remove":   s.Remove(ctx(), l.Session),
		"Fork":     s.Fork(ctx(), l.Session, "", r.record()),
		"Import":   s.Import(ctx(), r.record(), nil),
		"Poll":     s.Poll(ctx()),
		"Vacuum":   s.Vacuum(ctx(), nil),
		"Session":  second(s.Session(ctx(), l.Session)),
		"Sessions": second(s.Sessions(ctx(), lathe.Query{})),
		"History":  second(s.History(ctx(), l.Session, lathe.Position{}, 1)),
		"Since":    second(s.Since(ctx(), lathe.Cursor{}, lathe.Scope{}, nothing)),
		"Stats":    second(s.Stats(ctx())),
		"Asks":     second(s.Asks(ctx(), lathe.Scope{})),
	} {
		if lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "closed") {
			r.Errorf("%s: %v", name, err)
		}
	}
}

func testCloseRead(r *env) {
	r.said(r.held(), "Hello")
	s := r.again(store.Options{})
	closed := make(chan error, 1)
	told := 0
	_, err := s.Since(ctx(), lathe.Cursor{}, lathe.Scope{}, func(lathe.Event) error {
		if told++; told == 1 {
			go func() { closed <- s.Close() }()
		}
		return nil
	})
	r.ok(err)
	r.ok(<-closed)
	r.same("told", told, 6)
}

func testCanceled(r *env) {
	id := r.session()
	done, cancel := context.WithCancelCause(ctx())
	cause := errors.New("changed my mind")
	cancel(cause)
	n := r.counter()
	for name, err := range map[string]error{
		"Edit":    second(r.Edit(done, id, lathe.Edit{Touch: true})),
		"Admit":   second(r.Admit(done, id, r.prompt(id, "Hello"))),
		"Create":  r.Create(done, r.record()),
		"History": second(r.History(done, id, lathe.Position{}, 0)),
	} {
		if !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
			r.Errorf("%s: %v", name, err)
		}
	}
	r.same("counter", r.counter(), n)
}

func testCanceledWaiting(r *env) {
	r.session(named("ses_stall"))
	s, _, hold, free := r.stalled()
	id := r.session()
	hold()
	done, cancel := context.WithCancel(ctx())
	result := make(chan error)
	p := r.prompt(id, "Hello")
	go func() {
		_, err := s.Admit(done, id, p)
		result <- err
	}()
	cancel()
	r.is(<-result, lathe.Canceled) // while the writer is still stalled
	free()
	must(s.Edit(ctx(), id, lathe.Edit{Touch: true}))(r) // after it in the queue
	r.same("history", r.history(id), []lathe.Message{})
}

func testCanceledGroup(r *env) {
	r.session(named("ses_stall"))
	s, _, hold, free := r.stalled()
	id := r.session()
	hold()
	done, cancel := context.WithCancel(ctx())
	var all sync.WaitGroup
	for i := range 40 {
		p := r.prompt(id, "Hello")
		all.Go(func() {
			if i%2 == 0 {
				_, _ = s.Admit(done, id, p)
			} else if _, err := s.Admit(ctx(), id, p); err != nil {
				r.Errorf("admit: %v", err)
			}
		})
	}
	cancel()
	free()
	all.Wait()
	must(s.Edit(ctx(), id, lathe.Edit{Touch: true}))(r)
	if n := len(r.history(id)); n < 20 {
		r.Fatalf("%d prompts were written, 20 were not canceled", n)
	}
}

func testCanceledRead(r *env) {
	r.long(300)
	done, cancel := context.WithCancel(ctx())
	_, err := r.Since(done, lathe.Cursor{}, lathe.Scope{}, func(lathe.Event) error {
		cancel()
		return nil
	})
	r.is(err, lathe.Canceled)
	r.same("the next read", len(r.since(0, lathe.Scope{})) > 600, true)
}

// testReaders reads while a runner writes exchanges, each in one commit.
func testReaders(r *env) {
	l := r.held()
	const n = 60
	var batches [n][]lathe.Fact
	for i := range batches {
		m := r.user(l.Session)
		m.Parts = []lathe.Part{r.text(m, "a"), r.text(m, "b"), r.text(m, "c")}
		batches[i] = wrote(m)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, facts := range batches {
			if _, err := r.Commit(ctx(), l, facts...); err != nil {
				r.Errorf("commit: %v", err)
			}
		}
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		for _, m := range r.history(l.Session) {
			if len(m.Parts) != 3 {
				r.Fatalf("a message with %d parts of 3", len(m.Parts))
			}
		}
	}
	r.same("messages", len(r.history(l.Session)), n)
}

func testPublishReads(r *env) {
	var s *store.Store
	seen := 0
	s = r.again(store.Options{Publish: func(b store.Batch) {
		for _, e := range b.Events {
			if f, ok := e.Fact.(*lathe.SessionChanged); ok && s != nil {
				if rec, err := s.Session(ctx(), f.Info.ID); err == nil && rec.Title == f.Info.Title {
					seen++
				}
			}
		}
	}})
	id := r.session()
	for i := range 5 {
		must(s.Edit(ctx(), id, lathe.Edit{Title: lathe.Some(fmt.Sprint(i))}))(r)
	}
	r.same("seen", seen, 5)
}

func testReopen(r *env) {
	s := r.again(store.Options{})
	rec, messages := foreign()
	r.ok(s.Import(ctx(), rec, messages))
	before := read(r, s)
	n := must(s.Stats(ctx()))(r).Counter
	r.ok(s.Close())
	next := r.again(store.Options{})
	r.same("sessions", read(r, next), before)
	r.same("published", next.Last(), n)
}
