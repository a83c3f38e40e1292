package turncheck

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// CanceledWords are on an answer that the user canceled.
const CanceledWords = "The turn was canceled"

// Ends checks that prompts came to an end.
type Ends struct {
	MayCancel func(lathe.Session) bool // whether a user canceled a turn of the session
	Violation func(format string, args ...any)

	Answers, Canceled, Rejected int // prompts that ended so
	Cut, Resumed                int // answers cut off, and continued by a prompt of the engine
}

// following is a history on the way to its end: which prompts have no end yet.
type following struct {
	*Ends
	session lathe.Session
	open    []string       // no end came after them
	said    map[string]int // in answers, also such as were cut off
	good    map[string]int // in answers without a fault
}

// Check checks that every prompt of a history is there once and came to an end: that it was answered, and once only, or
// that its user canceled it or rejected a call of it. An answer that was cut off counts as said when all its words are
// there, but not as a second one. It counts the tokens of prompts in prompts.
func (e *Ends) Check(s lathe.Session, history []lathe.Message, prompts map[string]int) {
	f := &following{Ends: e, session: s, said: map[string]int{}, good: map[string]int{}}
	for _, m := range history {
		switch a := m.Data.(type) {
		case *lathe.User:
			words := TextOf(m)
			for _, t := range Tokens(words) {
				if prompts[t]++; prompts[t] > 1 {
					e.Violation("%s: %s is in the history %d times", s.ID, t, prompts[t])
				}
				f.open = append(f.open, t)
			}
			if strings.Contains(words, ContinueWords) {
				e.Resumed++
			}
		case *lathe.Assistant:
			f.answer(m, a)
		}
	}
	for _, t := range f.open {
		e.Violation("%s: %s has no answer after it", s.ID, t)
	}
	for t, n := range f.good {
		if n > 1 {
			e.Violation("%s: %s was answered %d times", s.ID, t, n)
		}
	}
}

// answer looks at one answer, and which prompts it ends.
func (f *following) answer(m lathe.Message, a *lathe.Assistant) {
	words := TextOf(m)
	for _, t := range Tokens(words) {
		f.said[t]++
		if a.Error == nil {
			f.good[t]++
		}
	}
	aborted, _ := a.Error.(*lathe.AbortedFault)
	switch {
	case aborted != nil && aborted.Message == CanceledWords:
		f.Canceled += len(f.open)
		f.open = nil
		if !f.MayCancel(f.session) {
			f.Violation("%s: %s was not canceled", f.session.ID, m.ID)
		}
	case aborted != nil:
		f.Cut++
	case a.Error != nil:
		f.Violation("%s: answer %s failed: %s", f.session.ID, m.ID, lathe.FaultMessage(a.Error))
	case isRejected(m):
		f.Rejected += len(f.open)
		f.open = nil
	case a.Finish == "stop":
		for _, t := range f.open {
			if f.said[t] > 0 {
				f.Answers++
			} else {
				f.Violation("%s: %s was passed over by the answer %s %q", f.session.ID, t, m.ID, words)
			}
		}
		f.open = nil
	}
}

// isRejected reports whether a call of the answer was rejected without a word, which ends the turn.
func isRejected(m lathe.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p lathe.Part) bool {
		call, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			return false
		}
		failed, ok := call.State.(*lathe.Failed)
		if !ok {
			return false
		}
		var marks struct{ Rejected bool }
		return json.Unmarshal(failed.Metadata, &marks) == nil && marks.Rejected
	})
}
