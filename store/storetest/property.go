package storetest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// property lets one or two processes do random things to a few sessions, and checks
//
//   - I1: what was read at any number, with the feed from there on, is what is stored;
//     and so is what a live reader has built;
//   - I2: numbers rise in the order of publishing, and a reader that stops at any event
//     and resumes from the last number it was given misses nothing;
//   - I6: an operation changes the messages it is about and no other.
func (s *suite) property(t *testing.T, processes int) {
	t.Parallel()
	parent := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(parent, "")
		if err != nil {
			rt.Fatal(err)
		}
		r := s.newEnvIn(rt, dir, s.fresh(t, dir))
		h := &actors{env: r, t: rt, now: sessionSet{}, leases: map[lathe.SessionID]held{}}
		h.stores = append(h.stores, r.Store)
		h.published = append(h.published, r.published)
		for len(h.stores) < processes {
			next, published := r.other()
			h.stores, h.published = append(h.stores, next), append(h.published, published)
		}
		h.note()
		for range rapid.IntRange(1, 20).Draw(rt, "length") {
			h.step()
		}
		for _, st := range h.stores {
			r.ok(st.Poll(ctx()))
		}
		h.checkCuts()
		for _, published := range h.published {
			h.checkLive(published)
		}
	})
}

// actors are the processes of one random history, and what the store held after each of
// their steps.
type actors struct {
	*env
	t           *rapid.T
	stores      []*store.Store
	published   []*listener
	leases      map[lathe.SessionID]held
	sessionSets []moment
	now         sessionSet
	serial      int
}

// held is a lease and the process that has it.
type held struct {
	by    *store.Store
	lease store.Lease
}

// moment is the stored state at a number.
type moment struct {
	number     int64
	sessionSet sessionSet
}

// note records the stored state.
func (h *actors) note() {
	h.now = read(h.env, h.Store)
	n := h.counter()
	if len(h.sessionSets) > 0 && h.sessionSets[len(h.sessionSets)-1].number == n {
		h.sessionSets = h.sessionSets[:len(h.sessionSets)-1] // nothing a client could see has changed
	}
	h.sessionSets = append(h.sessionSets, moment{n, h.now})
}

// checkCuts resumes from every number at which a client could have read the store (I1).
func (h *actors) checkCuts() {
	for _, m := range h.sessionSets {
		c := newClient(h.env, m.sessionSet, m.number)
		for _, e := range h.since(m.number, lathe.Scope{}) {
			c.take(e)
		}
		if d := differ(h.now, c.sessionSet()); d != "" {
			h.Fatalf("I1: read at %d and resumed to %d: %s", m.number, h.counter(), d)
		}
	}
	for i, id := range h.all() { // and a few of them for one session alone
		m := h.sessionSets[i%len(h.sessionSets)]
		c := newClient(h.env, m.sessionSet.only(id), m.number)
		for _, e := range h.since(m.number, lathe.Scope{Session: id}) {
			c.take(e)
		}
		if d := differ(h.now.only(id), c.sessionSet()); d != "" {
			h.Fatalf("I1: one session read at %d and resumed to %d: %s", m.number, h.counter(), d)
		}
	}
}

// all lists the sessions that were ever there.
func (h *actors) all() []lathe.SessionID {
	seen := map[lathe.SessionID]bool{}
	for _, m := range h.sessionSets {
		for id := range m.sessionSet {
			seen[id] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// checkLive follows what a process has published, and stops and resumes at every event.
func (h *actors) checkLive(published *listener) {
	events := published.events()
	last, noted := int64(0), int64(0)
	for _, e := range events {
		if e.Seq != 0 && e.Seq < last {
			h.Fatalf("I2: %s has number %d, after %d", e.Fact.Type(), e.Seq, last)
		}
		last = max(last, e.Seq)
		if e.Last && e.Seq <= noted {
			h.Fatalf("I2: a second commit ends with %d", e.Seq)
		}
		if e.Last {
			noted = e.Seq
		}
	}
	resumed := map[int64][]lathe.Event{}
	for cut := 0; cut <= len(events); cut++ {
		c := newClient(h.env, nil, 0)
		for _, e := range events[:cut] {
			c.take(e)
		}
		if cut < len(events) {
			if _, ok := resumed[c.cursor]; !ok {
				resumed[c.cursor] = h.since(c.cursor, lathe.Scope{})
			}
			for _, e := range resumed[c.cursor] {
				c.take(e)
			}
		}
		if d := differ(h.now, c.sessionSet()); d != "" {
			h.Fatalf("I1, I2: stopped at event %d of %d, resumed from %d: %s", cut, len(events), c.cursor, d)
		}
	}
}

// step lets a process do something, and checks that nothing else changed (I6).
func (h *actors) step() {
	before := h.now
	by := h.stores[rapid.IntRange(0, len(h.stores)-1).Draw(h.t, "process")]
	var may touched
	switch what := rapid.IntRange(0, 19).Draw(h.t, "what"); {
	case what == 0 || len(h.now) == 0:
		may = h.create(by)
	case what == 1:
		may = h.edit(by)
	case what <= 4:
		may = h.admitPrompt(by)
	case what == 5:
		may = h.admitOther(by)
	case what == 6:
		may = h.fork(by)
	case what == 7:
		may = h.bring(by)
	case what == 8:
		may = h.remove(by)
	case what <= 10:
		h.ok(by.Poll(ctx()))
	default:
		may = h.commit(by)
	}
	h.note()
	for id, was := range before {
		is, there := h.now[id]
		if m, ok := may[id]; ok {
			if there {
				h.untouched(was.Messages, is.Messages, m)
			}
			continue
		}
		if !there {
			h.Fatalf("I6: session %s is gone", id)
		}
		if d := differ(sessionSet{id: was}, sessionSet{id: is}); d != "" {
			h.Fatalf("I6: not meant: %s", d)
		}
	}
}

// touched is which messages of which sessions a step may change.
type touched map[lathe.SessionID][]lathe.MessageID

func (h *actors) untouched(was, is []lathe.Message, may []lathe.MessageID) {
	for _, m := range was {
		if slices.Contains(may, m.ID) {
			continue
		}
		i := slices.IndexFunc(is, func(n lathe.Message) bool { return n.ID == m.ID })
		if i < 0 {
			h.Fatalf("I6: message %s is gone", m.ID)
		}
		if a, b := string(m.AppendJSON(nil)), string(is[i].AppendJSON(nil)); a != b {
			h.Fatalf("I6: message %s was not meant (-before +after):\n%s", m.ID, cmp.Diff(a, b))
		}
	}
}

// any draws a session that is there.
func (h *actors) any() lathe.SessionID {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(h.now))).Draw(h.t, "session")
}

func (h *actors) create(by *store.Store) touched {
	rec := h.record()
	if len(h.now) > 0 && rapid.Bool().Draw(h.t, "child") {
		rec.Parent = h.any()
	}
	h.ok(by.Create(ctx(), rec))
	return touched{rec.ID: nil}
}

func (h *actors) edit(by *store.Store) touched {
	id := h.any()
	all := columns(h.next())
	c := all[rapid.IntRange(0, len(all)-1).Draw(h.t, "column")]
	c.edit.Touch = rapid.Bool().Draw(h.t, "touch")
	must(by.Edit(ctx(), id, c.edit))(h.env)
	return touched{id: nil}
}

// next counts, for names that differ.
func (h *actors) next() int {
	h.serial++
	return h.serial
}

func (h *actors) admitPrompt(by *store.Store) touched {
	id := h.any()
	p := h.prompt(id, fmt.Sprint("prompt ", h.next()))
	p.Delivery = rapid.SampledFrom([]lathe.Delivery{lathe.Steer, lathe.Queue}).Draw(h.t, "delivery")
	p.NoReply = rapid.IntRange(0, 3).Draw(h.t, "quiet") == 0
	must(by.Admit(ctx(), id, p))(h.env)
	if rapid.IntRange(0, 3).Draw(h.t, "again") == 0 {
		must(by.Admit(ctx(), id, p))(h.env)
	}
	return touched{id: nil}
}

func (h *actors) admitOther(by *store.Store) touched {
	id := h.any()
	in := lathe.Input(lathe.Cancel{})
	if rapid.Bool().Draw(h.t, "resume") {
		in = lathe.Resume{}
	}
	for _, f := range h.now[id].Asks {
		switch f := f.(type) {
		case *lathe.PermissionAsked:
			in = lathe.PermissionAnswer{Ask: f.ID, Reply: lathe.Once}
		case *lathe.QuestionAsked:
			in = lathe.QuestionAnswer{Ask: f.ID, Answers: [][]string{{"One"}}, Reject: h.next()%2 == 0}
		default:
		}
	}
	must(by.Admit(ctx(), id, in))(h.env)
	return touched{id: nil}
}

func (h *actors) fork(by *store.Store) touched {
	id := h.any()
	var before lathe.MessageID
	if m := h.now[id].Messages; len(m) > 0 && rapid.Bool().Draw(h.t, "cut") {
		before = m[rapid.IntRange(0, len(m)-1).Draw(h.t, "before")].ID
	}
	rec := h.record()
	h.ok(by.Fork(ctx(), id, before, rec))
	return touched{rec.ID: nil}
}

// remove takes a session away; so are those below it.
func (h *actors) remove(by *store.Store) touched {
	id := h.any()
	gone := touched{id: nil}
	for more := true; more; {
		more = false
		for child, st := range h.now {
			_, below := gone[st.Session.Parent]
			if _, known := gone[child]; below && !known {
				gone[child], more = nil, true
			}
		}
	}
	h.ok(by.Remove(ctx(), id))
	for id := range gone {
		if l, ok := h.leases[id]; ok {
			_, err := l.by.Commit(ctx(), l.lease)
			h.is(err, lathe.Conflict)
			delete(h.leases, id)
		}
	}
	return gone
}
