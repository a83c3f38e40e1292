package engine

import (
	"context"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

const (
	// checkpointEvery is how much of an unfinished sentence a kill may cost.
	checkpointEvery = time.Second
	// settleTools is how long canceled tools have to say what they did.
	settleTools = 250 * time.Millisecond
)

// stepRun is one step: a request to a model and the settling of its tool calls. It passes events to
// fold, and carries out what fold answers: facts are committed, texts grow, tools start. It is for the
// goroutine of the session.
type stepRun struct {
	*stepInput
	log      *sessionLog
	batch    *batch // facts of the step that are not committed yet
	ledger   *ledger
	asks     *openAsks
	jobs     *jobs
	fallback *fallbackState
	wake     <-chan struct{} // holds one when an answer may have come
	prompt   model.Request
	rebuild  func(context.Context) (model.Request, error) // makes prompt again, for another model
	fold     *fold.Fold
	queue    *stepQueue
	snap     *snapshot.Step // saves what the step changes; nil does not
	lastCall *tool.Call     // that was started
	running  int            // tools, and texts with their hook
}

// newStepRun is a step of the session, without a request.
func (r *runner) newStepRun(s state) *stepRun {
	b := &batch{log: r.log}
	return &stepRun{
		stepInput: &stepInput{
			stepConfig: r.stepConfig, engine: r.engine, session: s.session, place: r.config.place, tools: r.settings.Tools, noUndo: &r.noUndo,
		},
		log: r.log, batch: b, jobs: r.jobs, fallback: &r.fallback, wake: r.actor.wake,
		ledger: &ledger{batch: b, limits: r.settings.Budget, telemetry: &r.engine.telemetry, today: r.engine.Today},
		asks:   &openAsks{batch: b, waiting: map[lathe.AskID]openAsk{}},
	}
}

// step asks the model once, with as many attempts as it takes. Its message carries other
// errors; a returned error comes from the store.
func (r *runner) step(ctx context.Context, s state, last bool) (err error) {
	ctx, end := r.engine.telemetry.Step(ctx, s.session.ID)
	defer func() { end(err) }()
	st, err := r.prepare(ctx, s, last)
	if err != nil {
		return r.refuse(ctx, s, err)
	}
	defer func() {
		st.queue.close()
		st.endSnapshot(ctx) // if the store failed, the repair of the answer asks for it
	}()
	ctx, cancel := st.ledger.start(ctx)
	defer cancel()
	for r.failures++; ; r.failures++ {
		failure := st.attempt(ctx)
		if failure == nil {
			r.failures = 0
			return st.finish(ctx)
		}
		retry := st.planRetry(ctx, failure, r.failures)
		if !retry.again {
			r.failures = 0
			if st.isTooLong(ctx, failure) {
				return st.compactFirst(ctx, s)
			}
			if !st.switchModel(ctx, &st.stepConfig, failure) {
				return st.fail(ctx, failure)
			}
		}
		if st.fold.ToolsStarted {
			return st.endWithCalls(ctx, r.failures, retry, failure)
		}
		if err := st.restart(ctx, r.failures, retry, failure); err != nil {
			return st.fail(ctx, err)
		}
	}
}

// attempt sends the request and follows the answer until it and all its tools have ended.
func (s *stepRun) attempt(ctx context.Context) error {
	s.fold.Reset()
	s.queue = newStepQueue()
	q, req, e, id := s.queue, s.prompt, s.engine, s.session.ID
	req.MaxOutput = s.ledger.output
	client := e.client(s.model)
	stream, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		leave, err := e.requests.Acquire(stream, id)
		if err != nil {
			q.put(streamEnded{err})
			return
		}
		defer leave()
		q.readStream(stream, client, req)
	})
	defer func() {
		cancel()
		q.dropStream()
		group.Wait()
	}()
	return s.follow(ctx)
}

// follow handles events until the stream has ended and nothing runs. An error of the
// stream is returned when its tools have settled.
func (s *stepRun) follow(ctx context.Context) error {
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	var stream streamState
	for !stream.ended || s.running > 0 {
		var err error
		select {
		case <-s.queue.ready:
			if ctx.Err() != nil { // the events that tools still send are handled when they settle
				return context.Cause(ctx)
			}
			err = s.handleAll(ctx, &stream)
		case <-s.wake:
			err = s.asks.receive(ctx)
		case done := <-s.jobs.results:
			s.jobs.apply(ctx, done)
		case saved := <-s.log.texts.done():
			if saved = s.log.texts.noteSaved(saved); saved != nil {
				err = writeError{saved}
			}
		case <-tick.C:
			err = s.save(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
	return stream.failure
}

// streamState says how far the stream of an attempt has come.
type streamState struct {
	ended   bool
	failure error // its first
}

// handleAll takes in what has come, and commits what follows from it. Errors are those of the store;
// others end the stream.
func (s *stepRun) handleAll(ctx context.Context, stream *streamState) error {
	for _, it := range s.queue.take() {
		if stream.failure != nil && it.model != nil {
			continue // events after an error are ignored and start no tool
		}
		end, err := s.handle(ctx, it)
		if isWrite(err) {
			return err
		}
		if stream.failure == nil {
			stream.failure = err
		}
		stream.ended = stream.ended || end || err != nil
	}
	return s.batch.flush(ctx)
}

// save writes down what open texts have grown by, also when the turn is just being
// canceled, and looks for answers whose event may have been lost.
func (s *stepRun) save(ctx context.Context) error {
	s.log.catchUp() // or the events of a long step pile up
	s.jobs.summarizeSoon(ctx)
	// The driver bounds how long a commit takes.
	if err := s.log.texts.checkpoint(context.WithoutCancel(ctx)); err != nil {
		return writeError{err}
	}
	return s.asks.receive(ctx)
}

// handle handles one event and reports whether the stream has ended.
func (s *stepRun) handle(ctx context.Context, it item) (ended bool, err error) {
	at := s.engine.now()
	if it.model != nil {
		s.prepareSnapshot(ctx, it.model)
		if err := s.fold.Event(at, it.model); err != nil {
			return true, err
		}
		return false, s.applyEffects(ctx)
	}
	switch h := it.other.(type) {
	case streamEnded:
		close(s.queue.complete) // all events before it were handled
		s.ledger.spend(s.fold, s.model)
		return true, h.err
	case askExpired:
		s.asks.expire(h.ask)
	case toolEnded:
		s.running--
		s.fold.Settle(h.call, h.Outcome, at)
		s.noteResult(h.call)
		err = s.applyEffects(ctx)
		s.asks.withdrawOf(h.call.Body().CallID)
		return false, err
	case toolProgressed:
		s.fold.Progress(h.call, h.title, h.meta, at)
		if h.reply != nil {
			err = s.applyEffects(ctx)
			if err == nil {
				err = s.batch.flush(ctx)
			}
			h.reply <- err
		}
	case toolMarked:
		s.fold.Progress(h.call, "", history.WithMark(nil, history.DoomLoop), at)
	case toolAsks:
		return false, s.asks.add(ctx, h...)
	case textShown:
		s.running--
		s.fold.Complete(h.part, h.text, at)
		err = h.err
	case toolPublishes:
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
	return false, s.applyEffects(ctx)
}

// applyEffects applies the effects of fold. Facts wait for the end of the batch, unless an action
// needs them committed.
func (s *stepRun) applyEffects(ctx context.Context) error {
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
			s.runTextHook(ctx, w)
		}
	}
	return nil
}

// runTextHook runs the TextComplete hook on a finished text.
func (s *stepRun) runTextHook(ctx context.Context, w fold.ShowText) {
	s.running++
	q, hook, session, message := s.queue, s.settings.Hooks.TextComplete, s.session.ID, s.fold.Message.ID
	s.engine.work.Go(func() {
		text, err := hook(ctx, lathe.Part{ID: w.Part, Session: session, Message: message, Body: &lathe.Text{}}, w.Text)
		if err != nil {
			text = w.Text
		}
		q.put(textShown{w.Part, text, err})
	})
}

// writeError is a failure of the store. Nothing is retried, because no result could be written
// or read.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

func isWrite(err error) bool {
	_, ok := err.(writeError)
	return ok
}
