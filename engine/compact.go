package engine

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/history"
)

const (
	compactionAgent = "compaction"
	// maxCompactions is how often a history is compressed without a step getting further.
	maxCompactions = 3
)

// Compact compresses the history of a session and returns when that is done. Its summary
// carries any error. A session that is at work finishes its turn first.
func (e *Engine) Compact(ctx context.Context, id lathe.SessionID, req lathe.CompactRequest) error {
	rec, err := e.store.Session(ctx, id)
	if err != nil {
		return err
	}
	page, err := e.store.History(ctx, id, lathe.Position{}, 1)
	if err != nil {
		return err
	}
	if len(page.Messages) == 0 {
		return lathe.Errorf(lathe.Invalid, "Session %s has nothing to compress yet", id)
	}
	prompt := lathe.Prompt{
		Agent: rec.Agent, Model: req.Model, Delivery: lathe.Queue,
		Parts: []lathe.Part{{Body: &lathe.Compaction{Auto: req.Auto}}},
	}
	_, err = e.Prompt(ctx, id, prompt)
	if lathe.CodeOf(err) == lathe.NotFound && prompt.Agent != "" { // an agent that is gone
		prompt.Agent = ""
		_, err = e.Prompt(ctx, id, prompt)
	}
	return err
}

// pending is the request to compress that waits to be done; nil if none does.
func (s state) pending() *history.Message {
	for _, h := range slices.Backward(s.messages) {
		switch {
		case h.Data.Role() != "user":
			return nil
		case history.CompactionOf(h) != nil:
			return h
		}
	}
	return nil
}

// endsIn reports whether the turn ends with a summary: the user asked for it, or nothing
// follows its request.
func (s state) endsIn(summary *history.Message) bool {
	parent, at := summary.Parent(), -1
	for i, h := range s.messages {
		if h.ID == parent {
			at = i
		}
	}
	if at < 0 || history.CompactionOf(s.messages[at]) == nil {
		return true
	}
	if parent == s.wants && !history.CompactionOf(s.messages[at]).Auto {
		return true
	}
	if history.UnansweredPrompt(history.PreservedTail(s.messages, at)) >= 0 {
		return false // words that stayed as they were
	}
	return !slices.ContainsFunc(s.messages[at+1:], func(h *history.Message) bool { return h.Data.Role() == "user" && history.CompactionOf(h) == nil })
}

// isFull reports whether the last step used up what the model can take. What was left out of
// the context since is taken off.
func (s state) isFull() bool {
	if s.usable == 0 {
		return false
	}
	a := s.lastStep()
	return a != nil && !a.Summary.On() && compact.Used(a) >= int64(s.usable) && compact.Used(a)-int64(compact.PrunedSince(s.messages, a.Completed)) >= int64(s.usable)
}

// lastStep is the newest answer that ended; nil if there is none.
func (s state) lastStep() *lathe.Assistant {
	for _, h := range slices.Backward(s.messages) {
		if a, ok := h.Data.(*lathe.Assistant); ok && a.Finish != "" && (a.Error == nil || !a.Summary.On()) {
			return a
		}
	}
	return nil
}

// stuck counts the compactions in a row after which the first step did not fit again. The
// count restarts when a prompt was answered.
func (s state) stuck() (n int) {
	steps := 0
	for _, h := range slices.Backward(s.messages) {
		a, ok := h.Data.(*lathe.Assistant)
		switch {
		case !ok || a.Summary.On() && a.Error != nil:
		case a.Summary.On() && steps > 1:
			return n
		case a.Summary.On():
			n++
			steps = 0
		case isAnswered([]*history.Message{h}):
			return n
		default:
			steps++
		}
	}
	return n
}

// compact compresses the history if a request is pending, and otherwise writes the request. The
// request is in the history, so it survives a crash between the two.
func (r *runner) compact(ctx context.Context, s state) error {
	if h := s.pending(); h != nil {
		return r.compress(ctx, s, h)
	}
	if done, err := r.pruneToFit(ctx, s); done || err != nil {
		return err
	}
	if s.stuck() >= maxCompactions {
		return r.refuse(ctx, s, stuckError())
	}
	return r.log.write(ctx, append([]lathe.Fact{r.log.busyFact()}, compactionRequest(r.log, s, lathe.No)...)...)
}

// compactionRequest are the facts of a request to compress, for the agent and model of the prompt.
func compactionRequest(log *sessionLog, s state, overflow lathe.Flag) []lathe.Fact {
	said := history.LastUser(s.messages).Data.(*lathe.User)
	return log.message(log.now(), &lathe.User{Agent: said.Agent, Model: said.Model}, &lathe.Compaction{Auto: true, Overflow: overflow})
}

func stuckError() error {
	text := "The conversation was compressed as far as possible and still does not fit the model's context. Choose a model with a larger one, switch off tools or shorten the instructions it is sent, or start a new session; nothing is lost."
	return &lathe.Error{Code: lathe.Overflow, Message: text, Fault: &lathe.OverflowFault{Message: text}}
}

// isTooLong reports whether the provider refused the request of a step for its length, and the history may
// be compressed for that.
func (s *stepRun) isTooLong(ctx context.Context, err error) bool {
	return lathe.CodeOf(err) == lathe.Overflow && !s.settings.Compaction.Off && !isWrite(err) && ctx.Err() == nil
}

// compactFirst ends a step whose request was too long: the turn compresses the history and
// continues.
func (s *stepRun) compactFirst(ctx context.Context, st state) error {
	if st.stuck() >= maxCompactions {
		return s.fail(ctx, stuckError())
	}
	if s.fold.ToolsStarted { // the results of its tools are part of what is compressed
		if err := s.closeWithCalls(ctx); err != nil {
			return err
		}
		return s.log.write(ctx, compactionRequest(s.log, st, lathe.No)...)
	}
	s.asks.withdrawAll()
	s.ledger.spend(s.fold, s.model)
	s.fold.Undo()
	s.fold.Close(s.engine.now(), nil)
	s.batch.add(s.fold.Take().Facts...)
	s.batch.add(compactionRequest(s.log, st, lathe.Yes)...)
	return s.end(ctx, nil)
}
