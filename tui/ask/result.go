package ask

import (
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
)

// Result is the outcome of a key or a click: None, Unused, Reply, Grant, Answer, EditPlan or Dismiss. Sealed.
type Result interface{ isResult() }

type (
	// None needs only a redraw.
	None struct{}
	// Unused is a key without meaning here, for the root to handle.
	Unused struct{}
	// Reply answers a permission request; Message is sent to the model with a rejection. A
	// rejection without one ends the turn.
	Reply struct {
		Reply   lathe.Reply
		Message string
	}
	// Grant allows the requests and saves patterns: a list for each request, nil to allow it once.
	Grant struct {
		Scope    grant.Scope
		Patterns [][]string
	}
	// Answer has the selected labels and the custom answer of each question.
	Answer struct{ Answers [][]string }
	// Dismiss closes the questions without an answer.
	Dismiss struct{}
)

func (None) isResult()    {}
func (Unused) isResult()  {}
func (Reply) isResult()   {}
func (Grant) isResult()   {}
func (Answer) isResult()  {}
func (Dismiss) isResult() {}

// Quiet is the pause in typing after which keys are accepted.
const Quiet = 300 * time.Millisecond

// guard ignores keys that were meant for the prompt. A user in the middle of a sentence keeps
// typing, so every ignored key restarts the wait.
type guard struct {
	last time.Time // when the region appeared, or the last ignored key
	open bool
}

// start starts to ignore keys.
func (g *guard) start(at time.Time) { *g = guard{last: at} }

// blocks reports whether to ignore a key at this time. Without a start time, the first key sets it.
func (g *guard) blocks(now time.Time) bool {
	if g.open {
		return false
	}
	if g.last.IsZero() || now.Sub(g.last) < Quiet {
		g.last = now
		return true
	}
	g.open = true
	return false
}
