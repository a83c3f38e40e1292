package storetest

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// sessionSet is all sessions, as the store has them or as a reader has built them.
type sessionSet map[lathe.SessionID]state

// state is one session.
type state struct {
	Session  lathe.Session
	Messages []lathe.Message
	Status   lathe.Status
	Todos    []lathe.Todo
	Diff     []lathe.FileDiff
	Asks     []lathe.Fact
}

// only is the set with one session or none.
func (w sessionSet) only(id lathe.SessionID) sessionSet {
	if st, ok := w[id]; ok {
		return sessionSet{id: st}
	}
	return sessionSet{}
}

// read reads all that is stored.
func read(r *env, s *store.Store) sessionSet {
	r.Helper()
	w := sessionSet{}
	statuses := must(s.Statuses(ctx(), lathe.Scope{}))(r)
	for _, rec := range must(s.Sessions(ctx(), lathe.Query{Archived: lathe.WithArchived}))(r) {
		st := state{
			Session:  rec,
			Messages: must(s.History(ctx(), rec.ID, lathe.Position{}, 0))(r).Messages,
			Status:   lathe.Status{Type: lathe.Idle},
			Todos:    must(s.Todos(ctx(), rec.ID))(r),
			Diff:     must(s.Diff(ctx(), rec.ID))(r),
			Asks:     must(s.Asks(ctx(), lathe.Scope{Session: rec.ID}))(r),
		}
		if at, ok := statuses[rec.ID]; ok {
			st.Status = at
		}
		w[rec.ID] = st
	}
	return w
}

// client folds events, as every front end does.
type client struct {
	r        *env
	sessions map[lathe.SessionID]*lathe.Transcript
	cursor   int64 // the last number it may resume from
}

// newClient starts with the stored state.
func newClient(r *env, w sessionSet, cursor int64) *client {
	c := &client{r: r, sessions: map[lathe.SessionID]*lathe.Transcript{}, cursor: cursor}
	for id, st := range w {
		t := lathe.NewTranscript(st.Session, st.Messages)
		for _, f := range append([]lathe.Fact{
			&lathe.StatusChanged{Session: id, Status: st.Status},
			&lathe.TodosChanged{Session: id, Todos: st.Todos}, &lathe.DiffChanged{Session: id, Diff: st.Diff},
		}, st.Asks...) {
			t.Apply(lathe.Event{Fact: f})
		}
		c.sessions[id] = t
	}
	return c
}

// take folds one event. It must be about a session that the client knows, unless it says
// that one came or went.
func (c *client) take(e lathe.Event) {
	c.r.Helper()
	if e.Last {
		c.cursor = e.Seq
	}
	id := lathe.SessionOf(e.Fact)
	if id == "" {
		return
	}
	t := c.sessions[id]
	switch f := e.Fact.(type) {
	case *lathe.SessionCreated:
		if t == nil {
			c.sessions[id] = lathe.NewTranscript(f.Info, nil)
			return
		}
	case *lathe.SessionDeleted:
		delete(c.sessions, id)
		return
	case *lathe.MessageRemoved, *lathe.PartRemoved:
		if t == nil {
			return // of a session that is gone too
		}
	default:
		if t == nil {
			c.r.Fatalf("%s of session %s, which was not published", e.Fact.Type(), id)
		}
	}
	t.Apply(e)
	if t.Stale() {
		c.r.Fatalf("%s did not fit", e.Fact.Type())
	}
}

// sessions is the state that the client has built.
func (c *client) sessionSet() sessionSet {
	w := sessionSet{}
	for id, t := range c.sessions {
		w[id] = state{t.Session(), t.Messages(), t.Status(), t.Todos(), t.Diff(), t.Asks()}
	}
	return w
}

// followed is the state that a client builds from all events.
func followed(r *env, events []lathe.Event) sessionSet {
	r.Helper()
	c := newClient(r, nil, 0)
	for _, e := range events {
		c.take(e)
	}
	return c.sessionSet()
}

// wire is the session as clients see it: a published message and one that was read
// back may spell the same JSON differently in Go, an absent input as nil or as {}.
func (st state) wire() string {
	b := st.Session.AppendJSON(nil)
	for _, m := range st.Messages {
		b = m.AppendJSON(append(b, '\n'))
	}
	for _, f := range append([]lathe.Fact{
		&lathe.StatusChanged{Status: st.Status}, &lathe.TodosChanged{Todos: st.Todos}, &lathe.DiffChanged{Diff: st.Diff},
	}, st.Asks...) {
		b = lathe.Event{Fact: f}.AppendJSON(append(b, '\n'))
	}
	return string(b)
}

// differ says how two worlds differ on the wire, "" if they do not.
func differ(want, got sessionSet) string {
	out := ""
	for id, st := range want {
		is, ok := got[id]
		if !ok {
			out += fmt.Sprintf("session %s is missing\n", id)
		} else if a, b := st.wire(), is.wire(); a != b {
			out += fmt.Sprintf("session %s (-want +got):\n%s\n", id, cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")))
		}
	}
	for id := range got {
		if _, ok := want[id]; !ok {
			out += fmt.Sprintf("session %s should not be there\n", id)
		}
	}
	return out
}
