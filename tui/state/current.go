package state

import (
	"slices"

	"github.com/lathe-agent/lathe"
)

// Shown is the session on the screen, nil when there is none or it is not loaded yet.
func (st *State) Shown() *Open {
	if st.Current == "" {
		return nil
	}
	if o := st.Tracked(st.Current); o != nil && o.Transcript != nil {
		return o
	}
	return nil
}

// IsChild reports whether the session on the screen is a subagent: it takes no prompts.
func (st *State) IsChild() bool {
	o := st.Shown()
	return o != nil && o.Transcript.Session().Parent != ""
}

// Root is the topmost parent of a session.
func (st *State) Root(id lathe.SessionID) lathe.Session {
	s, _ := st.Session(id)
	for range 32 { // deeper nesting does not occur
		up, ok := st.Session(s.Parent)
		if !ok {
			break
		}
		s = up
	}
	return s
}

// Waiting are the root sessions with open requests of their own or of their subagents.
func (st *State) Waiting() map[lathe.SessionID]bool {
	out := map[lathe.SessionID]bool{}
	for _, f := range st.AllAsks() {
		out[st.Root(lathe.SessionOf(f)).ID] = true
	}
	return out
}

// AnyTurn reports whether a turn is running in any session.
func (st *State) AnyTurn() bool { return len(st.statuses) > 0 }

// IsReady reports whether a prompt can be sent: the catalog is loaded and the permission mode is chosen.
func (st *State) IsReady() bool {
	return st.Loaded && !st.Opening && st.InfoLoaded && !st.Info.ChooseMode
}

// HasPausedPrompts reports whether the session on the screen has paused prompts: those sent before the
// turn was interrupted wait for /go.
func (st *State) HasPausedPrompts() bool {
	o := st.Shown()
	if o == nil || st.Busy(st.Current) {
		return false
	}
	said := false
	for i := o.Transcript.Count() - 1; i >= 0; i-- {
		h := o.Transcript.View(i)
		a, answer := h.Data().(*lathe.Assistant)
		if !answer {
			said = said || IsUserWritten(h)
			continue
		}
		_, aborted := a.Error.(*lathe.AbortedFault)
		return said && (aborted || st.Interrupted[st.Current])
	}
	return false
}

// Prompts are the loaded prompts of the session on the screen.
func (st *State) Prompts() []lathe.Message {
	if st.Shown() == nil {
		return nil
	}
	return st.promptsFrom(0)
}

// Queued are the prompts that wait while a turn runs.
func (st *State) Queued() []lathe.Message {
	o := st.Shown()
	if o == nil || !st.Busy(st.Current) {
		return nil
	}
	t := o.Transcript
	open := -1
	for i := t.Count() - 1; i >= 0; i-- {
		if a, ok := t.View(i).Data().(*lathe.Assistant); ok {
			if a.Completed == 0 {
				open = i
			}
			break
		}
	}
	if open < 0 {
		return nil
	}
	after := t.View(open).Message()
	return slices.DeleteFunc(st.promptsFrom(open), func(m lathe.Message) bool { return m.Before(after) })
}

// NoteSent records when a prompt that is sent takes its place: the wire does not tell.
func (st *State) NoteSent(id lathe.MessageID, d lathe.Delivery) { st.sent[id] = d }

// Delivery is when a prompt takes its place, "" for one that was not sent from here.
func (st *State) Delivery(id lathe.MessageID) lathe.Delivery { return st.sent[id] }

// promptsFrom are the prompts from an index on, so that a count does not walk the whole history.
func (st *State) promptsFrom(from int) (out []lathe.Message) {
	t := st.Shown().Transcript
	for i := from; i < t.Count(); i++ {
		h := t.View(i)
		if _, user := h.Data().(*lathe.User); user && IsUserWritten(h) {
			m := h.Message()
			for j := range h.Len() {
				m.Parts = append(m.Parts, h.Part(j))
			}
			out = append(out, m)
		}
	}
	return out
}

// IsUserWritten reports whether the user wrote a message, rather than the engine.
func IsUserWritten(h lathe.MessageView) bool {
	for i := range h.Len() {
		_, body, _ := h.Peek(i)
		switch b := body.(type) {
		case *lathe.Text:
			if !b.Synthetic.On() {
				return true
			}
		case *lathe.File, *lathe.Subtask:
			return true
		default:
		}
	}
	return false
}

// Usage is the token count of the last answer, the context window of its model, and the cost of the session.
func (st *State) Usage(t *lathe.Transcript) (tokens, window int64, cost float64) {
	s := t.Session()
	if s.Cost != nil {
		cost = s.Cost.Dollars()
	}
	for i := t.Count() - 1; i >= 0 && i >= t.Count()-200; i-- {
		a, ok := t.View(i).Data().(*lathe.Assistant)
		if !ok {
			continue
		}
		u := a.Tokens
		n := u.Input + u.Output + u.Reasoning + u.Cache.Read + u.Cache.Write
		if n == 0 {
			continue
		}
		if m, ok := st.FindModel(a.Model); ok {
			window = int64(m.Context)
		}
		return n, window, cost
	}
	return 0, 0, cost
}
