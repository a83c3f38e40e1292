package state

import (
	"cmp"
	"slices"

	"github.com/lathe-agent/lathe"
)

// AddSessions stores session records.
func (st *State) AddSessions(all ...lathe.Session) {
	for _, s := range all {
		st.sessions[s.ID] = s
	}
}

// AddAsks adds open requests.
func (st *State) AddAsks(asks []lathe.Fact) {
	for _, f := range asks {
		st.addAsk(f)
	}
}

// SetStatuses stores the statuses of sessions.
func (st *State) SetStatuses(all map[lathe.SessionID]lathe.Status) {
	for id, s := range all {
		st.setStatus(id, s)
		if o := st.open[id]; o != nil && o.Transcript != nil {
			o.Transcript.Apply(lathe.Event{Session: id, Fact: &lathe.StatusChanged{Session: id, Status: s}})
		}
	}
}

// Session returns a session record.
func (st *State) Session(id lathe.SessionID) (lathe.Session, bool) {
	if o := st.open[id]; o != nil && o.Transcript != nil {
		return o.Transcript.Session(), true
	}
	s, ok := st.sessions[id]
	return s, ok
}

// Status returns the status of a session.
func (st *State) Status(id lathe.SessionID) lathe.Status {
	if s, ok := st.statuses[id]; ok {
		return s
	}
	return lathe.Status{Type: lathe.Idle}
}

// Busy reports whether a session is running.
func (st *State) Busy(id lathe.SessionID) bool { return st.Status(id).Type != lathe.Idle }

// AnyBusy reports whether a session or one of its subagents is running.
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

// Track starts to record the events of a session. Older messages must be
// loaded and passed to SetTranscript.
func (st *State) Track(id lathe.SessionID) *Open {
	o := st.open[id]
	if o == nil {
		o = &Open{ID: id}
		st.open[id] = o
	}
	return o
}

// Tracked returns a tracked session, nil for others.
func (st *State) Tracked(id lathe.SessionID) *Open { return st.open[id] }

// KeepOnly drops the transcripts of all other sessions, to free memory.
func (st *State) KeepOnly(but ...lathe.SessionID) {
	for id := range st.open {
		if !slices.Contains(but, id) {
			delete(st.open, id)
		}
	}
}

// SetTranscript sets the loaded messages of a session and applies the events received meanwhile.
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

// Asks returns the open requests of a session and its subagents, oldest first.
func (st *State) Asks(id lathe.SessionID) (out []lathe.Fact) {
	for _, f := range st.asks {
		if s := lathe.SessionOf(f); s == id || st.IsBelow(s, id) {
			out = append(out, f)
		}
	}
	return out
}

// AllAsks returns all open requests.
func (st *State) AllAsks() []lathe.Fact { return st.asks }

// IsBelow reports whether a session is a direct or indirect subagent of another.
func (st *State) IsBelow(id, above lathe.SessionID) bool {
	for range 32 { // a limit, in case of a cycle in damaged data
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

// Children returns the subagents of a session, oldest first.
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

// Progress is the current tool call of a subagent, and the number of its calls.
func (st *State) Progress(id lathe.SessionID) (doing string, calls int, known bool) {
	k := st.working[id]
	if k == nil {
		return "", 0, false
	}
	return k.doing, len(k.calls), true
}

// Forget drops a session's transcript: it is loaded again when it is opened.
func (st *State) Forget(id lathe.SessionID) { delete(st.open, id) }

// Statuses are the statuses of running sessions. Do not modify the map.
func (st *State) Statuses() map[lathe.SessionID]lathe.Status { return st.statuses }
