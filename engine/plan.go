package engine

import (
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/store"
)

// state is the input of plan. All state that must survive a round is in the history, so that a crash,
// another process and a reader see the same. DESIGN.md lists the other state and the cost of
// losing it.
type state struct {
	session  lathe.Session
	messages []*history.Message // in the history; queued prompts are not
	queued   []store.QueuedPrompt
	wants    lathe.MessageID // the newest message that wants an answer, "" if none does
	// Of the settings, sampled for this round:
	steps          int // at most so many a turn; 0 has no limit
	continueOnDeny bool
	usable         int // tokens of the model's context; 0 disables automatic compaction
	// Input of the checks besides the messages.
	checked check.Input
}

// checkInput is the input of the checks.
func (s state) checkInput() check.Input {
	in := s.checked
	in.Session, in.Messages = s.session, s.messages
	return in
}

// next is the next action of a session. Sealed.
type next interface{ next() }

type (
	// repair closes answers that a dead process left open.
	repair struct{ left []*history.Message }
	// finalizeRevert removes what was undone, before new prompts.
	finalizeRevert struct{}
	// promote gives waiting prompts their place.
	promote struct{ prompts []lathe.MessageID }
	// subtask runs the first of the tasks a prompt still has for subagents.
	subtask struct{ parts []lathe.Part }
	// compaction compresses the history.
	compaction struct{}
	// step asks the model. The last one allowed is made without tools.
	step struct{ last bool }
	// stop ends the turn.
	stop struct{}
)

func (repair) next()         {}
func (finalizeRevert) next() {}
func (promote) next()        {}
func (subtask) next()        {}
func (compaction) next()     {}
func (step) next()           {}
func (stop) next()           {}

// plan says what comes next: the first row of the table in docs/architecture.md that fits.
func plan(s state) next {
	if left := s.open(); len(left) > 0 {
		return repair{left}
	}
	if s.session.Revert != nil && len(s.queued) > 0 {
		return finalizeRevert{}
	}
	if s.session.Revert != nil {
		return stop{} // undone prompts get no answer
	}
	if steer := s.ready(false); len(steer) > 0 {
		return promote{steer}
	}
	asked := slices.IndexFunc(s.messages, func(h *history.Message) bool { return h.ID == s.wants })
	if asked < 0 {
		return s.nextQueued()
	}
	asked = check.LastCheckPrompt(s.messages, asked)
	answers := history.Answers(withoutShell(s.messages[asked:]))
	if s.hasFailed(answers) {
		return s.nextQueued()
	}
	if tasks := pendingTasks(s.messages[asked], answers); len(tasks) > 0 {
		return subtask{tasks}
	}
	if s.pending() != nil {
		return compaction{}
	}
	done := s.stepsDone()
	if s.isDone(answers) && (s.steps == 0 || done < s.steps) {
		switch v := s.checkInput().AtEnd(s.messages[asked], answers); {
		case v.Retry:
			return step{last: s.steps > 0 && done+1 >= s.steps}
		case !v.IsEmpty():
			return endCheck{v}
		}
	}
	if s.isDone(answers) || s.steps > 0 && done >= s.steps {
		return s.nextQueued()
	}
	if s.isFull() {
		return compaction{}
	}
	return step{last: s.steps > 0 && done+1 >= s.steps}
}

// open lists the answers without an end. We are not in a step, so a dead process left them.
func (s state) open() (left []*history.Message) {
	for _, h := range s.messages {
		if a, ok := h.Data.(*lathe.Assistant); ok && a.Completed == 0 {
			left = append(left, h)
		}
	}
	return left
}

// ready lists the prompts that may take their place: those to steer with, or to queue.
func (s state) ready(queue bool) (ids []lathe.MessageID) {
	for _, w := range s.queued {
		if !w.Paused && w.Queue == queue {
			ids = append(ids, w.Message)
		}
	}
	return ids
}

// nextQueued promotes the next queued prompt, else the turn ends.
func (s state) nextQueued() next {
	if queued := s.ready(true); len(queued) > 0 {
		return promote{queued[:1]}
	}
	return stop{}
}

// hasFailed reports whether the last answer ended the turn: by an error, or by a call that
// the user rejected.
func (s state) hasFailed(answers []*history.Message) bool {
	if len(answers) == 0 {
		return false
	}
	last := answers[len(answers)-1]
	if last.Data.(*lathe.Assistant).Error != nil {
		return true
	}
	return slices.ContainsFunc(history.Calls(answers[len(answers)-1:]), func(c *lathe.ToolCall) bool {
		meta := history.MetadataOf(c.State)
		return history.HasMark(meta, history.StoppedMark) || !s.continueOnDeny && history.HasMark(meta, history.RejectedMark)
	})
}

// isDone reports whether the last answer is the end of the turn. A summary is one only where
// nothing continues after it.
func (s state) isDone(answers []*history.Message) bool {
	if n := len(answers); n > 0 && history.IsSummary(answers[n-1]) {
		return s.endsIn(answers[n-1])
	}
	return isAnswered(answers)
}

// isAnswered is the exit test: the last step ended, and not in calls whose results the
// model has yet to see. Some servers say stop although they call tools; what the provider
// ran itself, and what was interrupted, needs no further step. A structured answer is one.
func isAnswered(answers []*history.Message) bool {
	if len(answers) == 0 {
		return false
	}
	last := answers[len(answers)-1]
	a := last.Data.(*lathe.Assistant)
	if a.Structured != nil {
		return true
	}
	if a.Finish == "" || a.Finish == "tool-calls" {
		return false
	}
	return !slices.ContainsFunc(history.Calls([]*history.Message{last}), func(c *lathe.ToolCall) bool {
		return !history.HasMark(c.Metadata, "providerExecuted") && !history.HasMark(history.MetadataOf(c.State), history.InterruptedMark)
	})
}

// stepsDone counts the answers since the last word of the user. One that failed is no step:
// the last that is allowed, cut off by a kill, may be made again. Nor is a task of the prompt.
func (s state) stepsDone() (n int) {
	for _, h := range slices.Backward(s.messages) {
		if _, ok := h.Data.(*lathe.User); ok {
			if history.IsUserPrompt(h) {
				break
			}
			continue
		}
		if !isBroken(h.Message) && !history.IsSummary(h) && !isTask(h) {
			n++
		}
	}
	return n
}
