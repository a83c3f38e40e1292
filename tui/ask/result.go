package ask

import (
	"time"

	"github.com/lathe-agent/lathe"
)

// Result is what came of a key or of a click: None, Unused, Reply, Answer or Dismiss. Sealed.
type Result interface{ isResult() }

type (
	// None is nothing for the root to do but to draw.
	None struct{}
	// Unused is a key that means nothing here and may mean something to the root.
	Unused struct{}
	// Reply is a person's word on a permission; Message is what the model is told with a rejection. A
	// rejection without one ends the turn.
	Reply struct {
		Reply   lathe.Reply
		Message string
	}
	// Answer has for each question the labels that were picked and what was written.
	Answer struct{ Answers [][]string }
	// Dismiss is the wish not to answer.
	Dismiss struct{}
)

func (None) isResult()    {}
func (Unused) isResult()  {}
func (Reply) isResult()   {}
func (Answer) isResult()  {}
func (Dismiss) isResult() {}

// Quiet is how long no key may have come before one counts.
const Quiet = 300 * time.Millisecond

// guard holds keys back that were meant for what was there before. Someone in the middle of a sentence goes on
// typing, so every key that is held back makes the wait begin anew.
type guard struct {
	last time.Time // when the region appeared, or the last key that was held back
	open bool
}

// start begins to hold keys back.
func (g *guard) start(at time.Time) { *g = guard{last: at} }

// blocks reports whether a key at this time is to be held back. Without a beginning, the first key is it.
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
