package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// canceledWords are on an answer that the user canceled.
const canceledWords = "The turn was canceled"

// following is a history on the way to its end: which prompts have no end yet.
type following struct {
	*campaign
	session lathe.Session
	open    []string       // no end came after them
	said    map[string]int // in answers, also such as were cut off
	good    map[string]int // in answers without a fault
}

// prompts holds that every prompt is there once and came to an end: that it was answered, and
// once only, or that its user canceled it or rejected a call of it. An answer that was cut
// off counts as said when all its words are there, but not as a second one.
func (c *campaign) prompts(s lathe.Session, history []lathe.Message, prompts map[string]int) {
	f := &following{campaign: c, session: s, said: map[string]int{}, good: map[string]int{}}
	for _, m := range history {
		switch a := m.Data.(type) {
		case *lathe.User:
			words := textOf(m)
			for _, t := range tokens(words) {
				if prompts[t]++; prompts[t] > 1 {
					c.violation("%s: %s is in the history %d times", s.ID, t, prompts[t])
				}
				f.open = append(f.open, t)
			}
			if strings.Contains(words, continueWords) {
				c.count.resumed++
			}
		case *lathe.Assistant:
			f.answer(m, a)
		}
	}
	for _, t := range f.open {
		c.violation("%s: %s has no answer after it", s.ID, t)
	}
	for t, n := range f.good {
		if n > 1 {
			c.violation("%s: %s was answered %d times", s.ID, t, n)
		}
	}
}

// answer looks at one answer, and which prompts it ends.
func (f *following) answer(m lathe.Message, a *lathe.Assistant) {
	words := textOf(m)
	for _, t := range tokens(words) {
		f.said[t]++
		if a.Error == nil {
			f.good[t]++
		}
	}
	aborted, _ := a.Error.(*lathe.AbortedFault)
	switch {
	case aborted != nil && aborted.Message == canceledWords:
		f.checkCanceled(m)
	case aborted != nil:
		f.count.cut++
	case a.Error != nil:
		f.violation("%s: answer %s failed: %s", f.session.ID, m.ID, lathe.FaultMessage(a.Error))
	case isRejected(m):
		f.count.rejected += len(f.open)
		f.open = nil
	case a.Finish == "stop":
		for _, t := range f.open {
			if f.said[t] > 0 {
				f.count.answers++
			} else {
				f.violation("%s: %s was passed over by the answer %s %q", f.session.ID, t, m.ID, words)
			}
		}
		f.open = nil
	}
}

// checkCanceled checks that a user wanted this: the user of the session, or of its parent.
func (f *following) checkCanceled(m lathe.Message) {
	f.count.canceled += len(f.open)
	f.open = nil
	id := f.session.ID
	if f.session.Parent != "" {
		id = f.session.Parent
	}
	if slot, ok := slotOf(id); !ok || !(order{f.seed, slot}).mayCancel(id) {
		f.violation("%s: %s was not canceled", f.session.ID, m.ID)
	}
}

// isRejected reports whether a call of the answer was rejected without a word, which ends
// the turn.
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
