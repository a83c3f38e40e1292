package engine

import (
	"context"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

const (
	// checkpointEvery is how much of an unfinished sentence a kill may cost.
	checkpointEvery = time.Second
	// settleTools is how long cancelled tools have to say what they did.
	settleTools = 250 * time.Millisecond
)

// stepRun is one step: a request to a model and the settling of its tool calls. It is the
// shell around fold: it carries events in, facts and wants out.
type stepRun struct {
	*runner
	stepConfig
	session lathe.Session
	prompt  model.Request
	fold    *fold.Fold
	queue   *stepQueue
	judge   permission.Judge
	history []lathe.Message
	last    bool // no tool runs
	unasked bool // the user's prompt made the call: no rule hides it

	tools *tool.Set
	snap  *snapshot.Step // keeps what the step changes; nil does not

	batch   *batch // facts that are not committed yet
	ledger  *ledger
	waiting map[lathe.AskID]toolAsks
	running int // tools, and texts with their hook
}

// newStepRun is a step of the session, without a request.
func (r *runner) newStepRun(s state) *stepRun {
	b := &batch{log: r.log}
	return &stepRun{
		runner: r, stepConfig: r.stepConfig, session: s.session, tools: r.settings.Tools, waiting: map[lathe.AskID]toolAsks{},
		batch: b, ledger: &ledger{batch: b, budget: r.settings.Budget, meters: &r.engine.meters, today: r.engine.today},
	}
}

// reserve holds what the request of the step may cost, and commits facts with that.
func (s *stepRun) reserve(ctx context.Context, facts ...lathe.Fact) error {
	return s.ledger.reserve(ctx, s.prompt, s.stepConfig.model.Price, facts...)
}

// step asks the model once, with as many attempts as it takes. What goes wrong is on its
// message; an error returned is one of the store.
func (r *runner) step(ctx context.Context, s state, last bool) (err error) {
	ctx, span := r.engine.traceStep(ctx, r.log.lease.Session)
	defer func() { span.End(failureOf(err)) }()
	st, err := r.prepare(ctx, s, last)
	if err != nil {
		return r.refuse(ctx, s, err)
	}
	defer func() {
		st.queue.close()
		st.changed(ctx) // if the store failed, whoever repairs the answer asks for it
	}()
	ctx, cancel := st.ledger.start(ctx)
	defer cancel()
	for n := r.broken + 1; ; n++ {
		err := st.attempt(ctx)
		if err == nil {
			r.broken = 0
			return st.finish(ctx)
		}
		next := st.settings.Retry.retry(err, n, time.UnixMilli(int64(r.engine.now())), r.engine.random())
		falls := false
		if isWrite(err) || ctx.Err() != nil || !next.again {
			r.broken = 0
			if over, err := st.overflowed(ctx, s, err); over {
				return err
			}
			if falls = !isWrite(err) && ctx.Err() == nil && r.fall(ctx, st.model.Ref, err); !falls {
				return st.failed(ctx, err)
			}
			n = 0
		}
		again := !st.fold.Started
		if err := st.giveUp(ctx, again); err != nil {
			return err
		}
		err = st.again(ctx, s, n, next, falls, again)
		if err != nil && again {
			return st.failed(ctx, err)
		}
		if !again {
			r.broken = n // or a server that always breaks off behind a call is asked for ever
			return nil   // its tools have settled: the next step goes on from there
		}
	}
}

// again makes ready for another attempt: at once by another model, or after a pause. After
// one whose tools ran the next step makes its own.
func (s *stepRun) again(ctx context.Context, st state, n int, next retryPlan, falls, same bool) error {
	switch {
	case falls && same:
		return s.retarget(ctx, st)
	case falls:
		return nil
	}
	if err := s.pause(ctx, n, next); err != nil {
		return err
	}
	if !same {
		return s.log.write(ctx, s.log.busy())
	}
	return s.reserve(ctx, s.log.busy())
}

// attempt sends the request and follows the answer until it and all its tools have ended.
func (s *stepRun) attempt(ctx context.Context) error {
	s.fold.Reset()
	s.queue = newStepQueue()
	f, req, e, id := s.queue, s.prompt, s.engine, s.session.ID
	req.MaxOutput = s.ledger.output
	client := e.metered(s.model)
	stream, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		leave, err := e.enter(stream, id)
		if err != nil {
			f.put(streamEnded{err})
			return
		}
		defer leave()
		f.readStream(stream, client, req)
	})
	defer func() {
		cancel()
		f.halt()
		group.Wait()
	}()
	return s.follow(ctx)
}

// follow folds what comes until the stream has ended and nothing runs. An error of the
// stream is returned when its tools have settled.
func (s *stepRun) follow(ctx context.Context) error {
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	var failure error
	for ended := false; !ended || s.running > 0; {
		select {
		case <-s.queue.ready:
			if ctx.Err() != nil { // what its tools say of it is heard when it is settled
				return context.Cause(ctx)
			}
			for _, it := range s.queue.take() {
				if failure != nil && it.model != nil {
					continue // what follows an error means nothing, and starts no tool
				}
				end, err := s.handle(ctx, it)
				if isWrite(err) {
					return err
				}
				if failure == nil {
					failure = err
				}
				ended = ended || end || err != nil
			}
			if err := s.batch.flush(ctx); err != nil {
				return err
			}
		case <-s.actor.wake:
			if err := s.hear(ctx); err != nil {
				return err
			}
		case done := <-s.results:
			s.errandDone(ctx, done)
		case err := <-s.log.texts.done():
			if err := s.log.texts.noteSaved(err); err != nil {
				return writeError{err}
			}
		case <-tick.C:
			if err := s.save(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return failure
}

// save writes down what open texts have grown by, also when the turn is just being
// cancelled, and looks for answers whose event may have been lost.
func (s *stepRun) save(ctx context.Context) error {
	s.log.catchUp() // or what a long step says piles up, told by the store
	s.sumUp(ctx)
	// The driver bounds how long a commit takes.
	if err := s.log.texts.checkpoint(context.WithoutCancel(ctx)); err != nil {
		return writeError{err}
	}
	return s.hear(ctx)
}

// handle takes in one thing that happened, and reports whether the stream has ended.
func (s *stepRun) handle(ctx context.Context, it item) (ended bool, err error) {
	at := s.engine.now()
	if it.model != nil {
		s.foresee(ctx, it.model)
		if err := s.fold.Event(at, it.model); err != nil {
			return true, err
		}
		return false, s.carry(ctx)
	}
	switch h := it.other.(type) {
	case streamEnded:
		s.ledger.spend(s.fold, s.stepConfig.model)
		return true, h.err
	case askExpired:
		s.expire(h.ask)
	case toolEnded:
		s.running--
		s.fold.Done(h.call, h.Outcome, at)
		s.ended(h.call)
		err = s.carry(ctx)
		s.withdrawOf(h.call.Body().CallID)
		return false, err
	case toolProgressed:
		s.fold.Progress(h.call, h.title, h.meta, at)
		if h.reply != nil {
			err = s.carry(ctx)
			if err == nil {
				err = s.batch.flush(ctx)
			}
			h.reply <- err
		}
	case toolMarked:
		s.fold.Progress(h.call, "", history.WithMark(nil, history.DoomLoop), at)
	case toolAsks:
		return false, s.asked(ctx, h)
	case textShown:
		s.running--
		s.fold.Completed(h.part, h.text, at)
		err = h.err
	case toolTells:
		s.batch.add(h.fact)
		if h.reply != nil {
			err := s.batch.flush(ctx)
			h.reply <- err
			return false, err
		}
	}
	if err != nil {
		return true, err
	}
	return false, s.carry(ctx)
}

// carry takes the effects of fold over. Facts wait for the end of the batch, unless
// something rests on them.
func (s *stepRun) carry(ctx context.Context) error {
	eff := s.fold.Take()
	s.batch.add(eff.Facts...)
	if len(eff.Grown) == 0 && len(eff.Actions) == 0 {
		return nil
	}
	if err := s.batch.flush(ctx); err != nil {
		return err
	}
	for _, g := range eff.Grown {
		if err := s.log.texts.grow(g.Part, g.Text); err != nil {
			return writeError{err}
		}
	}
	for _, w := range eff.Actions {
		switch w := w.(type) {
		case fold.StartTool:
			s.start(ctx, w)
		case fold.ShowText:
			s.show(ctx, w)
		}
	}
	return nil
}

// show lets the hook see a text that ends.
func (s *stepRun) show(ctx context.Context, w fold.ShowText) {
	s.running++
	f, hook, session, message := s.queue, s.settings.Hooks.TextComplete, s.session.ID, s.fold.Message.ID
	s.engine.work.Go(func() {
		text, err := hook(ctx, lathe.Part{ID: w.Part, Session: session, Message: message, Body: &lathe.Text{}}, w.Text)
		if err != nil {
			text = w.Text
		}
		f.put(textShown{w.Part, text, err})
	})
}

// writeError is a failure of the store: what happens can no longer be written down, or
// known, so nothing is tried again.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

func isWrite(err error) bool {
	_, ok := err.(writeError)
	return ok
}
