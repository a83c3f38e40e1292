package world

import (
	"cmp"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Learn takes in records that were read.
func (w *World) Learn(all ...lathe.Session) {
	for _, s := range all {
		w.sessions[s.ID] = s
	}
}

// LearnAsks takes in what waits for a person, as it was read.
func (w *World) LearnAsks(asks []lathe.Fact) {
	for _, f := range asks {
		w.asked(f)
	}
}

// LearnStatuses takes in what sessions do, as it was read.
func (w *World) LearnStatuses(all map[lathe.SessionID]lathe.Status) {
	for id, s := range all {
		w.status(id, s)
		if o := w.open[id]; o != nil && o.Transcript != nil {
			o.Transcript.Apply(lathe.Event{Session: id, Fact: &lathe.StatusChanged{Session: id, Status: s}})
		}
	}
}

// Session returns a record.
func (w *World) Session(id lathe.SessionID) (lathe.Session, bool) {
	if o := w.open[id]; o != nil && o.Transcript != nil {
		return o.Transcript.Session(), true
	}
	s, ok := w.sessions[id]
	return s, ok
}

// Status returns what a session does.
func (w *World) Status(id lathe.SessionID) lathe.Status {
	if s, ok := w.statuses[id]; ok {
		return s
	}
	return lathe.Status{Type: lathe.Idle}
}

// Busy reports whether a session is at work.
func (w *World) Busy(id lathe.SessionID) bool { return w.Status(id).Type != lathe.Idle }

// AnyBusy reports whether something moves on the screen of a session: it or one that works for it.
func (w *World) AnyBusy(id lathe.SessionID) bool {
	if w.Busy(id) {
		return true
	}
	for other := range w.statuses {
		if w.IsBelow(other, id) {
			return true
		}
	}
	return false
}

// Look begins to keep a session's transcript. What is told from now on is not lost; what was before is to be
// read and given to Read.
func (w *World) Look(id lathe.SessionID) *Open {
	o := w.open[id]
	if o == nil {
		o = &Open{ID: id}
		w.open[id] = o
	}
	return o
}

// Opened returns a session that is looked at, nil for others.
func (w *World) Opened(id lathe.SessionID) *Open { return w.open[id] }

// Leave forgets the transcripts of all sessions but those that are named, to free what they take.
func (w *World) Leave(but ...lathe.SessionID) {
	for id := range w.open {
		if !slices.Contains(but, id) {
			delete(w.open, id)
		}
	}
}

// Read gives a session that is looked at its beginning: what was told meanwhile comes on top.
func (w *World) Read(s lathe.Session, page []lathe.Message, older string, todos []lathe.Todo, diff []lathe.FileDiff) *Open {
	o := w.Look(s.ID)
	t := lathe.NewTranscript(s, page)
	apply := func(f lathe.Fact) { t.Apply(lathe.Event{Session: s.ID, Fact: f}) }
	apply(&lathe.TodosChanged{Session: s.ID, Todos: todos})
	apply(&lathe.DiffChanged{Session: s.ID, Diff: diff})
	apply(&lathe.StatusChanged{Session: s.ID, Status: w.Status(s.ID)})
	for _, e := range o.waiting {
		t.Apply(e)
	}
	w.sessions[s.ID] = t.Session()
	o.Transcript, o.Older, o.Fetching, o.waiting = t, older, false, nil
	return o
}

// Asks returns what waits for an answer in a session and those that work for it, oldest first.
func (w *World) Asks(id lathe.SessionID) (out []lathe.Fact) {
	for _, f := range w.asks {
		if s := lathe.SessionOf(f); s == id || w.IsBelow(s, id) {
			out = append(out, f)
		}
	}
	return out
}

// AllAsks returns everything that waits for an answer.
func (w *World) AllAsks() []lathe.Fact { return w.asks }

// IsBelow reports whether a session works for another, near or far.
func (w *World) IsBelow(id, above lathe.SessionID) bool {
	for range 32 { // a circle of parents cannot be, but files can be damaged
		s, ok := w.sessions[id]
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
func (w *World) Children(id lathe.SessionID) (out []lathe.Session) {
	for _, s := range w.sessions {
		if s.Parent == id {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b lathe.Session) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Work is what a session that works for another does at present, and how many calls it has made.
func (w *World) Work(id lathe.SessionID) (doing string, calls int, known bool) {
	k := w.working[id]
	if k == nil {
		return "", 0, false
	}
	return k.doing, len(k.calls), true
}

// Forget drops a session's transcript: it is read afresh when it is looked at.
func (w *World) Forget(id lathe.SessionID) { delete(w.open, id) }

// Statuses are those of the sessions that do something. It is not to be changed.
func (w *World) Statuses() map[lathe.SessionID]lathe.Status { return w.statuses }
