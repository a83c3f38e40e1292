package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// errCanceled is why a turn ends that someone canceled.
var errCanceled = &lathe.Error{
	Code: lathe.Canceled, Message: "The turn was canceled",
	Fault: &lathe.AbortedFault{Message: "The turn was canceled"},
}

// errClosing is why a turn ends when its engine does.
var errClosing = &lathe.Error{
	Code: lathe.Canceled, Message: "The program is ending",
	Fault: &lathe.AbortedFault{Message: "The program ended before the answer was complete"},
}

// errRemoved ends the turn of a deleted session.
var errRemoved = lathe.Errorf(lathe.NotFound, "the session was removed")

// retryLease is how often a session is tried that another process works on.
const retryLease = 200 * time.Millisecond

// actor is a session that is awake in this process: one goroutine works on it, others wake
// it and wait.
type actor struct {
	id     lathe.SessionID
	engine *Engine
	wake   chan struct{}  // holds one after an input
	gone   chan struct{}  // closed when it sleeps again
	failed *lathe.Session // set once clients know that the store failed its turn; only for its goroutine

	mu     sync.Mutex // guards the fields below
	woken  bool       // an input came that the runner has not seen
	events []lathe.Event
	result *turnResult
	cancel context.CancelCauseFunc              // of the running turn; nil between turns
	idle   bool                                 // its turn has ended; jobs may be running
	first  func(context.Context, *runner) error // to be done before anything else, once; nil
	rests  bool                                 // first is done, and nothing was found to do after it
}

// turnResult is the end of a turn, as its callers wait for it. Its result is set before done is closed.
type turnResult struct {
	done    chan struct{}
	message lathe.Message
	err     error
}

// wait returns the result of the turn, once it has ended.
func (r *turnResult) wait(ctx context.Context) (lathe.Message, error) {
	select {
	case <-r.done:
		return r.message, r.err
	case <-ctx.Done():
		return lathe.Message{}, context.Cause(ctx)
	}
}

// actors are the sessions that are awake.
type actors struct {
	engine *Engine
	cache  *history.Cache // of idle sessions
	// unreleased are leases, by session, that could not be given back because the store failed. They are given
	// back before their session is taken again: it would be busy until this process ends.
	unreleased sync.Map
	// taken are leases, by session, that the sweep took from a dead node. Whoever works on the session first uses it.
	taken sync.Map

	mu     sync.Mutex // guards the fields below; actors' own mutexes come after it
	awake  map[lathe.SessionID]*actor
	closed bool
}

// wake wakes a session and returns the end of the turn that will see what was admitted
// before.
func (all *actors) wake(id lathe.SessionID) (*turnResult, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return nil, lathe.Errorf(lathe.Unavailable, "the engine is closed")
	}
	a := all.awake[id]
	if a == nil {
		a = all.startActor(id, nil)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.woken = true
	a.signal()
	return a.result, nil
}

// wait wakes a session and waits until it is idle.
func (all *actors) wait(ctx context.Context, id lathe.SessionID) (lathe.Message, error) {
	end, err := all.wake(id)
	if err != nil {
		return lathe.Message{}, err
	}
	return end.wait(ctx)
}

// runExclusive wakes an idle session to run first before anything else. A session with a running
// turn, here or in another process, is busy; a session that only waits for its jobs is not.
func (all *actors) runExclusive(id lathe.SessionID, first func(context.Context, *runner) error) (*actor, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return nil, lathe.Errorf(lathe.Unavailable, "the engine is closed")
	}
	a := all.awake[id]
	switch {
	case a == nil:
		return all.startActor(id, first), nil
	case !a.tryRun(first):
		return nil, lathe.Errorf(lathe.Conflict, "Session is busy: %s", id)
	}
	return a, nil
}

// tryRun gives an idle actor a function to run and reports whether the actor was idle.
func (a *actor) tryRun(first func(context.Context, *runner) error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.idle || a.woken {
		return false
	}
	a.first, a.idle = first, false
	a.signal()
	return true
}

// markStarted notes that a turn is running and returns the function to run first.
func (a *actor) markStarted(cancel context.CancelCauseFunc) (first func(context.Context, *runner) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first = a.first
	a.cancel, a.idle, a.first, a.rests = cancel, false, nil, false
	return first
}

// startActor starts the actor of a session that has none. The mutex of actors is held.
func (all *actors) startActor(id lathe.SessionID, first func(context.Context, *runner) error) *actor {
	a := &actor{id: id, engine: all.engine, wake: make(chan struct{}, 1), gone: make(chan struct{}), result: &turnResult{done: make(chan struct{})}, first: first}
	all.awake[id] = a
	all.engine.work.Go(a.loop)
	return a
}

// failure is why the actor left.
func (a *actor) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.result.err != nil {
		return a.result.err
	}
	return errClosing
}

// signal lets the runner look at its inputs. The mutex is held.
func (a *actor) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// markSeen notes that the runner is about to look.
func (a *actor) markSeen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.woken = false
}

// Drain waits until no session is awake here: turns have ended, and so have their jobs.
func (e *Engine) Drain(ctx context.Context) error {
	for {
		a := e.actors.any()
		if a == nil {
			return nil
		}
		select {
		case <-a.gone:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// all lists the sessions that are awake.
func (all *actors) all() []*actor {
	all.mu.Lock()
	defer all.mu.Unlock()
	return slices.Collect(maps.Values(all.awake))
}

func (all *actors) any() *actor {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, a := range all.awake {
		return a
	}
	return nil
}

// isAwake reports whether any session is.
func (all *actors) isAwake() bool { return all.any() != nil }

// find returns a session that is awake here, nil if it is not.
func (all *actors) find(id lathe.SessionID) *actor {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.awake[id]
}

// receive hands committed events to the sessions they are about, and to also.
func (all *actors) receive(events []lathe.Event, also func(lathe.Event)) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.awake) == 0 {
		return
	}
	for _, ev := range events {
		if a := all.awake[ev.Session]; a != nil && ev.Seq > 0 {
			a.receive(ev)
			also(ev)
		}
	}
}

// close starts no more actors.
func (all *actors) close() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.closed = true
}

// receive stores an event for the runner. Answers make it look at once, prompts at its next
// round.
func (a *actor) receive(ev lathe.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch f := ev.Fact.(type) {
	case *lathe.PermissionReplied, *lathe.QuestionReplied, *lathe.QuestionRejected:
		a.signal()
	case *lathe.SessionDeleted: // nothing of it can be written any more, and someone may wait for its end
		if a.cancel != nil {
			a.cancel(errRemoved)
		}
	case *lathe.MessageChanged:
		a.events = append(a.events, ev)
		if _, ok := f.Info.Data.(*lathe.User); ok {
			a.woken = true
		}
	default:
		a.events = append(a.events, ev)
	}
}

// takeEvents takes what others committed.
func (a *actor) takeEvents() []lathe.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	events := a.events
	a.events = nil
	return events
}

// loop works on the session until it is idle, and leaves.
func (a *actor) loop() {
	defer a.engine.Watch()()
	for {
		msg, err := a.runTurns()
		if errors.Is(err, errLost) && a.engine.Member.regain(a.engine.ctx) {
			continue // those who wait get the answer of the node that has the session now, or of this one
		}
		a.reportFailure(err)
		if a.leave(msg, err) {
			if a.failed != nil { // its rest was perhaps not written down
				a.engine.publishIdle(*a.failed)
			}
			return
		}
	}
}

// reportFailure reports once that a turn stopped because the store failed: clients get no fact about
// it. A deleted session, or one of another process, has not failed here.
func (a *actor) reportFailure(err error) {
	e := a.engine
	switch lathe.CodeOf(err) {
	case "", lathe.Canceled, lathe.Conflict, lathe.NotFound:
		return
	}
	if e.ctx.Err() != nil || a.failed != nil || errors.Is(err, errLeaving) {
		return // the program ends, and the next one takes it up
	}
	e.log.Error("a turn stopped", "session", a.id, "error", err)
	if rec, gone := e.store.Session(e.ctx, a.id); gone == nil {
		a.failed = &rec
		e.publishFailure(rec, err)
	}
}

// leave ends the actor unless it was woken again; waiting callers get the result.
func (a *actor) leave(msg lathe.Message, err error) bool {
	e := a.engine
	e.actors.mu.Lock()
	defer e.actors.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle = false
	if (a.woken || a.first != nil) && err == nil && !e.actors.closed {
		return false
	}
	delete(e.actors.awake, a.id)
	a.result.finish(msg, err)
	close(a.gone)
	return true
}

func (r *turnResult) finish(msg lathe.Message, err error) {
	r.message, r.err = msg, err
	close(r.done)
}

// becomeIdle releases the waiting callers, and reports whether nothing new came meanwhile.
// Later callers wait for the next turn.
func (a *actor) becomeIdle(msg lathe.Message) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.woken {
		return false
	}
	a.result.finish(msg, nil)
	a.result = &turnResult{done: make(chan struct{})}
	a.idle = true
	return true
}

// runTurns holds the lease for as long as there is something to do.
func (a *actor) runTurns() (msg lathe.Message, err error) {
	ctx := a.engine.ctx
	if a.engine.Member.isElsewhere(ctx, a.id) && a.first == nil {
		if msg, err = a.follow(ctx); !errors.Is(err, errHere) {
			return msg, err
		}
	}
	r, err := a.acquireLease(ctx)
	if err != nil {
		return msg, err
	}
	defer func() {
		failed := r.release(ctx) // after a turn that failed, too, for the same reason
		if err = cmp.Or(err, failed); err == nil {
			a.engine.actors.cache.Put(r.log.mem)
		}
	}()
	for {
		err := a.turn(ctx, r)
		if cut := cutOff(r, err); cut != nil { // another node continues it
			r.unfinished = true
			return r.result(), cut
		}
		a.reportFailure(err) // before clients see the session idle and disconnect
		if idle := r.publishIdle(ctx); err == nil {
			err = idle
		}
		if r.jobs.changed && err == nil {
			r.jobs.summarize(ctx)
		}
		r.unfinished = r.unfinished || lathe.CodeOf(err) == lathe.Unavailable // the database was away for too long
		if err != nil && lathe.CodeOf(err) != lathe.Canceled {
			return r.result(), err
		}
		if err == nil {
			r.report(ctx)
		}
		if a.becomeIdle(r.result()) {
			a.engine.subagents.BecomeIdle(a.id)
			if a.waitForJobs(ctx, r.jobs) {
				return r.result(), nil
			}
		}
	}
}

// waitForJobs waits for the background jobs of the session; false says that it was woken before.
func (a *actor) waitForJobs(ctx context.Context, j *jobs) bool {
	for j.running > 0 {
		select {
		case done := <-j.results:
			j.apply(ctx, done)
		case <-a.wake:
			if a.hasWork() {
				return false
			}
		}
	}
	return true
}

// hasWork reports whether there is something to do.
func (a *actor) hasWork() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.woken || a.first != nil
}

func (a *actor) isWoken() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.woken
}

// turn runs a turn that can be canceled. A bug in it ends the turn, not the process.
func (a *actor) turn(ctx context.Context, r *runner) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, end := a.engine.telemetry.Turn(ctx, a.id, func() lathe.MessageID { return a.prompt(ctx) })
	defer func() { end(err) }()
	first := a.markStarted(cancel)
	defer func() {
		if p := recover(); p != nil {
			a.engine.log.Error("a turn failed", "session", a.id, "panic", p, "stack", string(debug.Stack()))
			err = lathe.Errorf(lathe.Internal, "the turn failed: %v", p)
		}
		a.mu.Lock()
		a.cancel = nil
		a.mu.Unlock()
		cancel(nil)
	}()
	if first != nil {
		if err := first(ctx, r); err != nil {
			return nilIfDone(err)
		}
		a.setRests(true)
	}
	return r.turn(ctx)
}

// prompt is the prompt that the next turn answers: one that was begun, else the oldest in the queue. It is "" if there is
// none.
func (a *actor) prompt(ctx context.Context) lathe.MessageID {
	queued, begun, err := a.engine.store.Inbox(ctx, a.id)
	if err == nil && begun == "" && len(queued) > 0 {
		return queued[0].Message
	}
	return begun
}

// setRests notes whether the turn that is running has nothing to do: its session is not busy, however long its end takes.
func (a *actor) setRests(rests bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rests = rests
}

// stop cancels the running turn.
func (a *actor) stop(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel != nil {
		a.cancel(cause)
	}
}

// endTurn ends the turn of this process, if it runs one, and waits until that is settled.
func (all *actors) endTurn(ctx context.Context, id lathe.SessionID) (ran bool, err error) {
	a := all.find(id)
	if a == nil {
		return false, nil
	}
	a.mu.Lock()
	end, running := a.result, a.cancel != nil
	a.mu.Unlock()
	if !running {
		return false, nil
	}
	a.stop(errCanceled)
	select {
	case <-end.done:
		return true, nil
	case <-ctx.Done():
		return true, context.Cause(ctx)
	}
}
