package engine

import (
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// state is all that plan looks at. What must be remembered from one round to the next is
// in the history, so that a crash, another process and a reader see the same.
type state struct {
	session  lathe.Session
	messages []*held // in the history; those that wait are not
	waiting  []store.Waiting
	wants    lathe.MessageID // the newest message that wants an answer, "" if none does
	// Of the settings, sampled for this round:
	steps          int // at most so many a turn; 0 has no limit
	continueOnDeny bool
	usable         int // tokens of the model's context; 0 does not compact by itself
	// For checks:
	checks Checks
	edits  bool          // files may be changed
	tests  lathe.TestRun // the last of the project
	read   *reading
	gone   func(file string) bool // it is no longer there
}

// next is what a session does next. Sealed.
type next interface{ next() }

type (
	// repair closes answers that a dead process left open.
	repair struct{ left []*held }
	// clean makes a revert final before new words.
	clean struct{}
	// promote gives waiting prompts their place.
	promote struct{ prompts []lathe.MessageID }
	// subtask runs the first of the tasks a prompt still has for sub-agents.
	subtask struct{ parts []lathe.Part }
	// compact compresses the history.
	compact struct{}
	// step asks the model. The last one allowed is made without tools.
	step struct{ last bool }
	// stop rests.
	stop struct{}
)

func (repair) next()  {}
func (clean) next()   {}
func (promote) next() {}
func (subtask) next() {}
func (compact) next() {}
func (step) next()    {}
func (stop) next()    {}

// plan says what comes next: the first row of the table in docs/architecture.md that fits.
func plan(s state) next {
	if left := s.open(); len(left) > 0 {
		return repair{left}
	}
	if s.session.Revert != nil && len(s.waiting) > 0 {
		return clean{}
	}
	if s.session.Revert != nil {
		return stop{} // what is undone is not answered
	}
	if steer := s.ready(false); len(steer) > 0 {
		return promote{steer}
	}
	asked := slices.IndexFunc(s.messages, func(h *held) bool { return h.ID == s.wants })
	if asked < 0 {
		return s.rest()
	}
	asked = s.askedAgain(asked)
	answers := answersIn(withoutShell(s.messages[asked:]))
	if s.hasFailed(answers) {
		return s.rest()
	}
	if tasks := pendingTasks(s.messages[asked], answers); len(tasks) > 0 {
		return subtask{tasks}
	}
	if s.pending() != nil {
		return compact{}
	}
	done := s.stepsDone()
	if s.isDone(answers) && (s.steps == 0 || done < s.steps) {
		if more := s.check(s.messages[asked], answers); more != nil {
			return more
		}
	}
	if s.isDone(answers) || s.steps > 0 && done >= s.steps {
		return s.rest()
	}
	if s.isFull() {
		return compact{}
	}
	return step{last: s.steps > 0 && done+1 >= s.steps}
}

// open lists the answers without an end. We are not in a step, so a dead process left them.
func (s state) open() (left []*held) {
	for _, h := range s.messages {
		if a, ok := h.Said.(*lathe.Assistant); ok && a.Completed == 0 {
			left = append(left, h)
		}
	}
	return left
}

// ready lists the prompts that may take their place: those to steer with, or to queue.
func (s state) ready(queue bool) (ids []lathe.MessageID) {
	for _, w := range s.waiting {
		if !w.Hold && w.Queue == queue {
			ids = append(ids, w.Message)
		}
	}
	return ids
}

// rest lets the next queued prompt have its turn, else the session rests.
func (s state) rest() next {
	if queued := s.ready(true); len(queued) > 0 {
		return promote{queued[:1]}
	}
	return stop{}
}

// answersIn lists the answers among messages.
func answersIn(messages []*held) (out []*held) {
	for _, h := range messages {
		if _, ok := h.Said.(*lathe.Assistant); ok {
			out = append(out, h)
		}
	}
	return out
}

// hasFailed reports whether the last answer ended the turn: by an error, or by a call that
// the user rejected.
func (s state) hasFailed(answers []*held) bool {
	if len(answers) == 0 {
		return false
	}
	last := answers[len(answers)-1]
	if last.Said.(*lathe.Assistant).Error != nil {
		return true
	}
	return slices.ContainsFunc(callsOf(answers[len(answers)-1:]), func(c *lathe.ToolCall) bool {
		meta := metadataOf(c.State)
		return hasMark(meta, stoppedMark) || !s.continueOnDeny && hasMark(meta, rejectedMark)
	})
}

// The marks on a call after which the turn ends: one the user rejected, unless the settings
// go on, and one that was stopped for repeating itself.
const (
	rejectedMark = "rejected"
	stoppedMark  = "stopped"
)

// The marks on a call that failed because nobody was there to give a permission: the turn continues.
// The second is on a repeated call; see [refusedRepeats].
const (
	unattendedMark = "unattended"
	repeatedMark   = "repeated"
)

// isDone reports whether the last answer is the end of the turn. A summary is one only where
// nothing goes on behind it.
func (s state) isDone(answers []*held) bool {
	if n := len(answers); n > 0 && isSummary(answers[n-1]) {
		return s.endsIn(answers[n-1])
	}
	return isAnswered(answers)
}

// isAnswered is the exit test: the last step ended, and not in calls whose results the
// model has yet to see. Some servers say stop although they call tools; what the provider
// ran itself, and what was interrupted, needs no further step. A structured answer is one.
func isAnswered(answers []*held) bool {
	if len(answers) == 0 {
		return false
	}
	last := answers[len(answers)-1]
	a := last.Said.(*lathe.Assistant)
	if a.Structured != nil {
		return true
	}
	if a.Finish == "" || a.Finish == "tool-calls" {
		return false
	}
	return !slices.ContainsFunc(callsOf([]*held{last}), func(c *lathe.ToolCall) bool {
		return !hasMark(c.Metadata, "providerExecuted") && !hasMark(metadataOf(c.State), interruptedMark)
	})
}

// interruptedMark is on a call that was cut off.
const interruptedMark = "interrupted"

// stepsDone counts the answers since the last word of the user. One that failed is no step:
// the last that is allowed, cut off by a kill, may be made again. Nor is a task of the prompt.
func (s state) stepsDone() (n int) {
	for _, h := range slices.Backward(s.messages) {
		if _, ok := h.Said.(*lathe.User); ok {
			if isWord(h) {
				break
			}
			continue
		}
		if !isBroken(h.Message) && !isSummary(h) && !isTask(h) {
			n++
		}
	}
	return n
}

// IsSynthetic reports whether all parts were written by the engine.
func IsSynthetic(parts []lathe.Part) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p lathe.Part) bool {
		t, ok := p.Body.(*lathe.Text)
		return !ok || !t.Synthetic.On()
	})
}

func tasksOf(h *held) (out []lathe.Part) {
	for _, p := range h.Parts {
		if _, ok := p.Body.(*lathe.Subtask); ok {
			out = append(out, p)
		}
	}
	return out
}
