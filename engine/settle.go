package engine

import (
	"context"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/model"
)

// finish closes a step that has ended.
func (s *stepRun) finish(ctx context.Context) error {
	s.observeStep(ctx)
	patch := s.endSnapshot(ctx)
	at := s.engine.now()
	s.fold.Finish(at, patch)
	fault := s.answerFault()
	s.fold.Close(at, fault)
	return s.end(ctx, fault)
}

// answerFault returns the fault of an answer that ended: the provider withheld it, or it lacks the
// requested structure. It also stores the structured answer.
func (s *stepRun) answerFault() lathe.Fault {
	a := *s.fold.Message.Data.(*lathe.Assistant)
	if got := s.fold.StructuredAnswer(); s.format != nil && got != nil {
		a.Structured = got
		if a.Finish == "" || a.Finish == model.FinishCalls {
			a.Finish = model.FinishStop
		}
		s.fold.Message.Data = &a
		return nil
	}
	switch {
	case a.Finish == model.FinishFilter:
		return &lathe.ContentFilterFault{Message: "The provider's content filter withheld the answer"}
	case s.format != nil && a.Finish != model.FinishCalls && a.Finish != model.FinishUnknown:
		return &lathe.StructuredOutputFault{Message: "The model did not give the structured answer it was asked for"}
	default:
		return nil
	}
}

// fail closes a step that cannot continue. Canceled tools get a moment to report their
// results.
func (s *stepRun) fail(ctx context.Context, err error) error {
	if isWrite(err) {
		return err // and what is open stays so for the next to repair
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		if werr := s.waitForTools(ctx); werr != nil {
			return werr
		}
	}
	s.asks.withdrawAll()
	patch := s.endSnapshot(ctx)
	at := s.engine.now()
	s.fold.Patch(at, patch)
	fault := faultOf(err)
	s.fold.Close(at, fault)
	return s.end(ctx, fault)
}

// end commits the end of a step.
func (s *stepRun) end(ctx context.Context, fault lathe.Fault) error {
	s.batch.add(s.fold.Take().Facts...)
	s.ledger.spend(s.fold, s.model)
	s.ledger.spendTime()
	if fault != nil {
		s.batch.add(&lathe.SessionFailed{Session: s.session.ID, Error: fault})
	}
	if fault == errClosing.Fault { // the program ends, and the turn can continue in the next
		s.batch.add(&lathe.Interrupted{Session: s.session.ID})
	}
	if err := s.batch.flush(ctx); err != nil {
		return err
	}
	if s.fold.Patched || slices.ContainsFunc(s.fold.Order, func(c *fold.Call) bool { return fold.ChildOf(c.Body()) != "" }) {
		s.jobs.changed = true
	}
	s.jobs.summarizeSoon(ctx)
	return nil
}

// waitForTools waits a moment for tools that were canceled.
func (s *stepRun) waitForTools(ctx context.Context) error {
	limit := time.NewTimer(settleTools)
	defer limit.Stop()
	for {
		for _, it := range s.queue.take() {
			if asks, ok := it.other.(toolAsks); ok { // too late
				for _, h := range asks {
					h.reply <- answer{reply: lathe.Reject, dismissed: true}
				}
				continue
			}
			if it.model == nil {
				if _, err := s.handle(ctx, it); isWrite(err) {
					return err
				}
			}
		}
		if s.running == 0 {
			return nil
		}
		select {
		case <-s.queue.ready:
		case <-limit.C:
			return nil
		}
	}
}

// discard removes a failed attempt before a retry. Its cost stays counted.
func (s *stepRun) discard(ctx context.Context) error {
	s.ledger.spend(s.fold, s.model) // before it is forgotten
	s.fold.Undo()
	return s.end(ctx, nil)
}

// closeWithCalls closes a failed attempt whose tools have run as if the model had ended with its calls:
// no tool runs twice, and the next request has their results.
func (s *stepRun) closeWithCalls(ctx context.Context) error {
	s.fold.End = &model.Finish{Reason: model.FinishCalls}
	return s.finish(ctx)
}
