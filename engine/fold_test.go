package engine_test

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/lathe-agent/lathe"
)

// fold is a client: it takes events in and has the state of all sessions it was reported. One
// half of it understands offsets, the other does not, as foreign clients.
type fold struct {
	exact, plain map[lathe.SessionID]*lathe.Transcript
	projects     map[string]lathe.Project
	// ahead says that the reader may know more than its cursor tells, because it was cut
	// off before it could note a number. It may then keep a request that was asked and
	// answered since: a resume tells neither.
	ahead bool
}

func newFold() *fold {
	return &fold{
		exact: map[lathe.SessionID]*lathe.Transcript{}, plain: map[lathe.SessionID]*lathe.Transcript{},
		projects: map[string]lathe.Project{},
	}
}

// apply takes events in, as often as they come.
func (f *fold) apply(events ...lathe.Event) {
	for _, e := range events {
		if p, ok := e.Fact.(*lathe.ProjectChanged); ok {
			f.projects[p.ID] = p.Project
		}
		id := lathe.SessionOf(e.Fact)
		if c, ok := e.Fact.(*lathe.SessionCreated); ok && f.exact[id] == nil {
			f.read(state{Session: c.Info})
		}
		if f.exact[id] == nil {
			continue
		}
		f.exact[id].Apply(e)
		if d, ok := e.Fact.(*lathe.PartDelta); ok {
			unset := *d
			unset.Offset = -1
			e.Fact = &unset
		}
		f.plain[id].Apply(e)
	}
}

// read begins with a session as it was read from the store.
func (f *fold) read(st state) {
	for _, half := range []map[lathe.SessionID]*lathe.Transcript{f.exact, f.plain} {
		t := lathe.NewTranscript(st.Session, st.Messages)
		if st.Status.Type != "" {
			t.Apply(lathe.Event{Fact: &lathe.StatusChanged{Session: st.Session.ID, Status: st.Status}})
		}
		t.Apply(lathe.Event{Fact: &lathe.TodosChanged{Session: st.Session.ID, Todos: st.Todos}})
		for _, ask := range st.Asks {
			t.Apply(lathe.Event{Fact: ask})
		}
		half[st.Session.ID] = t
	}
}

// state is all that is stored of a session that clients can see.
type state struct {
	Session  lathe.Session
	Messages []lathe.Message
	Todos    []lathe.Todo
	Status   lathe.Status
	Asks     []lathe.Fact
}

// stored reads the state of all sessions in scope.
func (w *fixture) stored(scope lathe.Scope) map[lathe.SessionID]state {
	w.Helper()
	out := map[lathe.SessionID]state{}
	busy := must(w.Statuses(w.Context(), scope))(w)
	for _, s := range must(w.List(w.Context(), lathe.Query{Archived: lathe.WithArchived}))(w) {
		in := lathe.Scope{Session: s.ID}
		if !scope.Includes(lathe.Event{Session: s.ID, Directory: s.Directory}) {
			continue
		}
		st := state{
			Session: s, Messages: w.history(s.ID), Status: lathe.Status{Type: lathe.Idle},
			Todos: must(w.Store().Todos(w.Context(), s.ID))(w), Asks: must(w.Store().Asks(w.Context(), in))(w),
		}
		if is, ok := busy[s.ID]; ok {
			st.Status = is
		}
		out[s.ID] = st
	}
	return out
}

// compare holds what was folded against what is stored. (I1)
func (f *fold) compare(w *fixture, scope lathe.Scope) {
	w.Helper()
	f.equals(w, scope, w.stored(scope))
}

// equals holds what was folded against a state.
func (f *fold) equals(w *fixture, scope lathe.Scope, want map[lathe.SessionID]state) {
	w.Helper()
	for name, half := range map[string]map[lathe.SessionID]*lathe.Transcript{"with offsets": f.exact, "without": f.plain} {
		got := map[lathe.SessionID]state{}
		for id, t := range half {
			if t.Stale() {
				w.Fatalf("%s: a delta of %s did not fit", name, id)
			}
			if !t.Deleted() && scope.Includes(lathe.Event{Session: id, Directory: t.Session().Directory}) {
				got[id] = state{
					Session: t.Session(), Messages: t.Messages(), Todos: t.Todos(), Status: t.Status(),
					Asks: f.asks(t, want[id].Asks),
				}
			}
		}
		same := len(got) == len(want)
		for id, st := range got {
			same = same && bytes.Equal(st.wire(), want[id].wire())
		}
		if !same { // looking for the difference takes its time
			w.same("the state that was folded "+name, got, want)
			w.Fatalf("the state that was folded %s differs on the wire alone", name)
		}
	}
}

// wire is the state as clients see it.
func (s state) wire() []byte {
	out := s.Session.AppendJSON(nil)
	for _, m := range s.Messages {
		out = m.AppendJSON(append(out, '\n'))
	}
	out = fmt.Appendf(out, "\n%v %v", s.Todos, s.Status)
	for _, ask := range s.Asks {
		out = lathe.Event{Fact: ask}.AppendJSON(append(out, '\n'))
	}
	return out
}

// asks is what waits for an answer, as far as the reader can know.
func (f *fold) asks(t *lathe.Transcript, stored []lathe.Fact) []lathe.Fact {
	if !f.ahead {
		return t.Asks()
	}
	return slices.DeleteFunc(t.Asks(), func(ask lathe.Fact) bool {
		return !slices.ContainsFunc(stored, func(s lathe.Fact) bool {
			return s.(*lathe.QuestionAsked).ID == ask.(*lathe.QuestionAsked).ID
		})
	})
}
