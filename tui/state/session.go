package state

import (
	"cmp"
	"slices"

	"github.com/lathe-agent/lathe"
)

// AddSessions takes in records that were read.
func (st *State) AddSessions(all ...lathe.Session) {
	for _, s := range all {
		st.sessions[s.ID] = s
	}
}

// AddAsks takes in what waits for a person, as it was read.
func (st *State) AddAsks(asks []lathe.Fact) {
	for _, f := range asks {
		st.addAsk(f)
	}
}

// SetStatuses takes in what sessions do, as it was read.
func (st *State) SetStatuses(all map[lathe.SessionID]lathe.Status) {
	for id, s := range all {
		st.setStatus(id, s)
		if o := st.open[id]; o != nil && o.Transcript != nil {
			o.Transcript.Apply(lathe.Event{Session: id, Fact: &lathe.StatusChanged{Session: id, Status: s}})
		}
	}
}

// Session returns a record.
func (st *State) Session(id lathe.SessionID) (lathe.Session, bool) {
	if o := st.open[id]; o != nil && o.Transcript != nil {
		return o.Transcript.Session(), true
	}
	s, ok := st.sessions[id]
	return s, ok
}

// Status returns what a session does.
func (st *State) Status(id lathe.SessionID) lathe.Status {
	if s, ok := st.statuses[id]; ok {
		return s
	}
	return lathe.Status{Type: lathe.Idle}
}

// Busy reports whether a session is at work.
func (st *State) Busy(id lathe.SessionID) bool { return st.Status(id).Type != lathe.Idle }

// AnyBusy reports whether something moves on the screen of a session: it or one that works for it.
func (st *State) AnyBusy(id lathe.SessionID) bool {
	if st.Busy(id) {
		return true
	}
	for other := range st.statuses {
		if st.IsBelow(other, id) {
			return true
		}
	}
	return false
}

// Track begins to keep a session's transcript. What is told from now on is not lost; what was before is to be
// read and given to Read.
func (st *State) Track(id lathe.SessionID) *Open {
	o := st.open[id]
	if o == nil {
		o = &Open{ID: id}
		st.open[id] = o
	}
	return o
}

// Tracked returns a session that is looked at, nil for others.
func (st *State) Tracked(id lathe.SessionID) *Open { return st.open[id] }

// KeepOnly forgets the transcripts of all sessions but those that are named, to free what they take.
func (st *State) KeepOnly(but ...lathe.SessionID) {
	for id := range st.open {
		if !slices.Contains(but, id) {
			delete(st.open, id)
		}
	}
}

// SetTranscript gives a session that is looked at its beginning: what was told meanwhile comes on top.
func (st *State) SetTranscript(s lathe.Session, page lathe.Page, todos []lathe.Todo, diff []lathe.FileDiff) *Open {
	o := st.Track(s.ID)
	t := lathe.NewTranscript(s, page.Messages)
	apply := func(f lathe.Fact) { t.Apply(lathe.Event{Session: s.ID, Fact: f}) }
	apply(&lathe.TodosChanged{Session: s.ID, Todos: todos})
	apply(&lathe.DiffChanged{Session: s.ID, Diff: diff})
	apply(&lathe.StatusChanged{Session: s.ID, Status: st.Status(s.ID)})
	for _, e := range o.queued {
		t.Apply(e)
	}
	st.sessions[s.ID] = t.Session()
	o.Transcript, o.Older, o.Loading, o.queued = t, page.Next, false, nil
	return o
}

// Asks returns what waits for an answer in a session and those that work for it, oldest first.
func (st *State) Asks(id lathe.SessionID) (out []lathe.Fact) {
	for _, f := range st.asks {
		if s := lathe.SessionOf(f); s == id || st.IsBelow(s, id) {
			out = append(out, f)
		}
	}
	return out
}

// AllAsks returns everything that waits for an answer.
func (st *State) AllAsks() []lathe.Fact { return st.asks }

// IsBelow reports whether a session works for another, near or far.
func (st *State) IsBelow(id, above lathe.SessionID) bool {
	for range 32 { // a circle of parents cannot be, but files can be damaged
		s, ok := st.sessions[id]
		if !ok || s.Parent == "" {
			return false
		}
		if s.Parent == above {
			return true
		}
		id = s.Parent
	}
	return false
}

// Children returns the sessions that were made for another, oldest first.
func (st *State) Children(id lathe.SessionID) (out []lathe.Session) {
	for _, s := range st.sessions {
		if s.Parent == id {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b lathe.Session) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Progress is what a session that works for another does at present, and how many calls it has made.
func (st *State) Progress(id lathe.SessionID) (doing string, calls int, known bool) {
	k := st.working[id]
	if k == nil {
		return "", 0, false
	}
	return k.doing, len(k.calls), true
}

// Forget drops a session's transcript: it is read afresh when it is looked at.
func (st *State) Forget(id lathe.SessionID) { delete(st.open, id) }

// Statuses are those of the sessions that do something. It is not to be changed.
func (st *State) Statuses() map[lathe.SessionID]lathe.Status { return st.statuses }
