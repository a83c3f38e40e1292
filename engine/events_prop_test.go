package engine_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/lathetest"
)

// Whatever happens to sessions, and wherever a reader's stream is cut and resumed, what it
// has folded is what is stored: for readers of everything, of a directory and of a session,
// with a cursor and without, with offsets and without. (I1, I2, I6)
func TestEvents_PropertyOneProcess(t *testing.T) {
	t.Parallel()
	property(t, 1)
}

// The same with two processes on one file: each session is worked on by either, and each
// has readers.
func TestEvents_PropertyTwoProcesses(t *testing.T) {
	t.Parallel()
	property(t, 2)
}

func property(t *testing.T, processes int) {
	root := gittest.RealTemp(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		if n++; raced && n > 8 {
			return // the rest run without the detector, in less time
		}
		p := newPlay(t, filepath.Join(root, fmt.Sprint(n)), processes)
		for range 3 {
			t.Repeat(p.actions())
			p.check()
		}
		p.everyNumber()
	})
}

// play is a database with actors: processes that write and clients that read.
type play struct {
	*fixture
	dirs    []string
	engines []*fixture
	clients []*client
	open    map[lathe.PartID]*growing // parts that a runner lets grow
	runners map[lathe.SessionID]*work
	past    []moment
}

// work is a runner and where it runs.
type work struct {
	engine.Runner
	w *fixture
}

// growing is an open part of a runner.
type growing struct {
	part lathe.Part
	by   *work
}

// moment is what was stored when the store had come to a number.
type moment struct {
	number int64
	stored map[lathe.SessionID]state
}

// client reads a stream and may be cut off. It keeps what it has.
type client struct {
	w     *fixture
	scope lathe.Scope
	fold  *fold
	at    lathe.Cursor
	l     *listener // nil while it is cut off
}

func newPlay(t *rapid.T, dir string, processes int) *play {
	p := &play{open: map[lathe.PartID]*growing{}, runners: map[lathe.SessionID]*work{}}
	for _, name := range []string{"a", "b"} {
		p.dirs = append(p.dirs, filepath.Join(dir, name))
		if err := os.MkdirAll(p.dirs[len(p.dirs)-1], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.fixture = fixtureIn(t, filepath.Join(dir, "data"), p.dirs[0])
	p.engines = []*fixture{p.fixture}
	for len(p.engines) < processes {
		p.engines = append(p.engines, p.another())
	}
	p.clock.forward(1)
	must(p.Create(t.Context(), p.dirs[0], lathe.NewSession{}))(p.fixture)
	must(p.Create(t.Context(), p.dirs[1], lathe.NewSession{}))(p.fixture)
	return p
}

var (
	propWords = rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'é', '€', '😀'}), 1, 8, -1)
	propTitle = rapid.StringOfN(rapid.SampledFrom([]rune{'x', 'Ü', ' '}), 1, 5, -1)
)

// pick draws one of a list; an action that has nothing to act on is skipped.
func pick[T any](t *rapid.T, from []T, what string) T {
	if len(from) == 0 {
		t.Skip("no " + what)
	}
	return from[rapid.IntRange(0, len(from)-1).Draw(t, what)]
}

func (p *play) anyEngine(t *rapid.T) *fixture { return pick(t, p.engines, "engine") }

// anySession draws a session, in the order of their creation.
func (p *play) anySession(t *rapid.T) lathe.Session {
	all := must(p.List(t.Context(), lathe.Query{Archived: lathe.WithArchived}))(p.fixture)
	slices.SortFunc(all, func(a, b lathe.Session) int { return -compare(a.ID, b.ID) })
	return pick(t, all, "session")
}

func compare(a, b lathe.SessionID) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func (p *play) anyMessage(t *rapid.T, id lathe.SessionID) lathe.Message {
	return pick(t, p.history(id), "message")
}

// at returns an engine that may write below a session, and its runner if it has one.
func (p *play) at(t *rapid.T, id lathe.SessionID) (*fixture, *work) {
	if r := p.runners[id]; r != nil {
		return r.w, r
	}
	return p.anyEngine(t), nil
}

// writes commits a fact by the runner of its session, or by a client that takes the lease.
func (p *play) writes(t *rapid.T, f lathe.Fact) {
	w, r := p.at(t, lathe.SessionOf(f))
	if r != nil {
		must(r.Commit(t.Context(), f))(w)
		return
	}
	one := w.runner(lathe.SessionOf(f))
	must(one.Commit(t.Context(), f))(w)
	w.ok(one.Release(t.Context()))
}

func (p *play) anyOpen(t *rapid.T) *growing {
	keys := slices.Sorted(maps.Keys(p.open))
	return p.open[pick(t, keys, "open part")]
}

func (p *play) actions() map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){}
	for _, family := range []map[string]func(*rapid.T){p.sessionActions(), p.messageActions(), p.runnerActions(), p.clientActions()} {
		maps.Copy(all, family)
	}
	for name, do := range all { // time continues, and now and then a moment is remembered
		all[name] = func(t *rapid.T) {
			p.clock.forward(1)
			do(t)
			if len(p.past) < 8 && rapid.IntRange(0, 9).Draw(t, "remember") == 0 {
				p.past = append(p.past, moment{p.counter(), p.stored(lathe.Scope{})})
			}
		}
	}
	return all
}

func (p *play) sessionActions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"create": func(t *rapid.T) {
			in := lathe.NewSession{Title: propTitle.Draw(t, "title")}
			if rapid.Bool().Draw(t, "child") {
				in.Parent = p.anySession(t).ID
			}
			must(p.anyEngine(t).Create(t.Context(), pick(t, p.dirs, "dir"), in))(p.fixture)
		},
		"edit": func(t *rapid.T) {
			e := pick(t, []lathe.Edit{
				{Title: lathe.Some(propTitle.Draw(t, "title"))},
				{Touch: true},
				{Agent: lathe.Some("plan")},
				{Share: lathe.Some(&lathe.Share{URL: "u"})},
				{Share: lathe.Some[*lathe.Share](nil)},
			}, "edit")
			must(p.anyEngine(t).Update(t.Context(), p.anySession(t).ID, e))(p.fixture)
		},
		"fork": func(t *rapid.T) {
			s := p.anySession(t)
			before := lathe.MessageID("")
			if h := p.history(s.ID); len(h) > 0 && rapid.Bool().Draw(t, "cut") {
				before = pick(t, h, "before").ID
			}
			must(p.anyEngine(t).Fork(t.Context(), pick(t, p.dirs, "dir"), s.ID, before))(p.fixture)
		},
		"remove": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "chance") > 0 {
				t.Skip("not now")
			}
			p.ok(p.anyEngine(t).Remove(t.Context(), p.anySession(t).ID))
			for id, r := range p.runners { // it or one above it
				if _, err := p.Get(t.Context(), id); err != nil {
					p.ok(r.Release(t.Context()))
					p.forget(func(g *growing) bool { return g.by == r })
					delete(p.runners, id)
				}
			}
		},
	}
}

func (p *play) messageActions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"message": func(t *rapid.T) {
			s := p.anySession(t)
			w, _ := p.at(t, s.ID)
			m := lathe.Message{ID: w.ids.Message(), Session: s.ID, Created: p.clock.now(), Data: &lathe.User{Agent: "build"}}
			if h := p.history(s.ID); len(h) > 0 {
				m.Data = &lathe.Assistant{Parent: h[len(h)-1].ID, Agent: "build", Mode: "build"}
			}
			p.writes(t, &lathe.MessageChanged{Info: m})
		},
		"message again": func(t *rapid.T) {
			m := p.anyMessage(t, p.anySession(t).ID)
			m.Parts = nil
			if a, ok := m.Data.(*lathe.Assistant); ok {
				next := *a
				next.Completed = p.clock.now()
				m.Data = &next
			}
			p.writes(t, &lathe.MessageChanged{Info: m})
		},
		"part": func(t *rapid.T) {
			m := p.anyMessage(t, p.anySession(t).ID)
			part := pick(t, lathetest.Parts(m.Session, m.ID), "part")
			part.ID = p.ids.Part()
			p.writes(t, &lathe.PartChanged{Part: part})
		},
		"remove message": func(t *rapid.T) {
			m := p.anyMessage(t, p.anySession(t).ID)
			p.writes(t, &lathe.MessageRemoved{Session: m.Session, Message: m.ID})
			p.forget(func(g *growing) bool { return g.part.Message == m.ID })
		},
		"remove part": func(t *rapid.T) {
			m := p.anyMessage(t, p.anySession(t).ID)
			part := pick(t, m.Parts, "part")
			p.writes(t, &lathe.PartRemoved{Session: m.Session, Message: m.ID, Part: part.ID})
			delete(p.open, part.ID)
		},
		"prompt": func(t *rapid.T) {
			s := p.anySession(t)
			w := p.anyEngine(t)
			m := lathe.Message{ID: w.ids.Message(), Session: s.ID, Created: p.clock.now(), Data: &lathe.User{Agent: "build"}}
			m.Parts = []lathe.Part{{ID: w.ids.Part(), Session: s.ID, Message: m.ID, Body: &lathe.Text{Text: propWords.Draw(t, "words")}}}
			must(w.Store().Admit(t.Context(), s.ID, lathe.Submission{Message: m, Digest: "d"}))(p.fixture)
		},
		"promote": func(t *rapid.T) {
			s := p.anySession(t)
			waiting, _, err := p.Store().Inbox(t.Context(), s.ID)
			p.ok(err)
			p.writes(t, &lathe.Promote{Session: s.ID, Message: pick(t, waiting, "prompt").Message})
		},
		"todos": func(t *rapid.T) {
			todo := lathe.Todo{Content: propWords.Draw(t, "words"), Status: "pending", Priority: "low"}
			p.writes(t, &lathe.TodosChanged{Session: p.anySession(t).ID, Todos: []lathe.Todo{todo}})
		},
		"ask": func(t *rapid.T) {
			id := p.anySession(t).ID
			p.writes(t, &lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{
				ID: lathe.AskID(p.ids.New(lathe.PrefixQuestion)), Session: id, Questions: []lathe.Question{{Question: "Which?"}},
			}})
		},
		"answer": func(t *rapid.T) {
			id := p.anySession(t).ID
			asks := must(p.Store().Asks(t.Context(), lathe.Scope{Session: id}))(p.fixture)
			ask := pick(t, asks, "ask").(*lathe.QuestionAsked)
			must(p.anyEngine(t).Store().Admit(t.Context(), id, lathe.QuestionAnswer{Ask: ask.ID, Answers: [][]string{{"this"}}}))(p.fixture)
		},
		"delta": func(t *rapid.T) { // to a part that no runner lets grow
			s := p.anySession(t)
			if p.runners[s.ID] != nil {
				t.Skip("busy")
			}
			m := p.anyMessage(t, s.ID)
			open := slices.DeleteFunc(m.Parts, func(part lathe.Part) bool { return !part.Open() })
			must(p.anyEngine(t).UpdatePart(t.Context(), pick(t, open, "open part"), propWords.Draw(t, "words")))(p.fixture)
		},
	}
}

func (p *play) runnerActions() map[string]func(*rapid.T) {
	grow := func(t *rapid.T) {
		g := p.anyOpen(t)
		words := propWords.Draw(t, "words")
		cut := rapid.IntRange(0, len(words)).Draw(t, "cut")
		p.ok(g.by.Grow(g.part.ID, words[:cut]))
		p.ok(g.by.Grow(g.part.ID, words[cut:]))
	}
	return map[string]func(*rapid.T){
		"take": func(t *rapid.T) {
			s := p.anySession(t)
			if p.runners[s.ID] != nil {
				t.Skip("busy")
			}
			w := p.anyEngine(t)
			p.runners[s.ID] = &work{w.runner(s.ID), w}
			p.writes(t, &lathe.StatusChanged{Session: s.ID, Status: lathe.Status{Type: lathe.Busy}})
		},
		"open": func(t *rapid.T) {
			id := pick(t, slices.Sorted(maps.Keys(p.runners)), "runner")
			r := p.runners[id]
			part := r.w.growing(p.anyMessage(t, id), rapid.SampledFrom([]string{"", "so far "}).Draw(t, "text"))
			if rapid.Bool().Draw(t, "thought") {
				part.Body = &lathe.Reasoning{Text: part.GrowingText(), Time: lathe.Span{Start: p.clock.now()}}
			}
			must(r.Commit(t.Context(), &lathe.PartChanged{Part: part}))(p.fixture)
			p.open[part.ID] = &growing{part, r}
		},
		"grow":      grow,
		"grow more": grow,
		"checkpoint": func(t *rapid.T) {
			p.ok(p.runners[pick(t, slices.Sorted(maps.Keys(p.runners)), "runner")].Checkpoint(t.Context()))
		},
		"write an open part again": func(t *rapid.T) {
			g := p.anyOpen(t)
			g.part = g.part.WithText(g.by.Text(g.part.ID))
			switch b := g.part.Body.(type) {
			case *lathe.Text:
				b.Synthetic = lathe.Yes
			case *lathe.Reasoning:
				b.Metadata = []byte(`{"acme":1}`)
			default:
			}
			must(g.by.Commit(t.Context(), &lathe.PartChanged{Part: g.part}))(p.fixture)
		},
		"settle":  func(t *rapid.T) { p.settle(p.anyOpen(t)) },
		"release": func(t *rapid.T) { p.release(t, pick(t, slices.Sorted(maps.Keys(p.runners)), "runner")) },
		"give up": func(t *rapid.T) { // without a checkpoint; then someone repairs
			id := pick(t, slices.Sorted(maps.Keys(p.runners)), "runner")
			r := p.runners[id]
			delete(p.runners, id)
			p.ok(r.Release(t.Context()))
			repair := p.anyEngine(t).runner(id)
			for _, m := range p.history(id) {
				for _, part := range m.Parts {
					if part.Open() {
						must(repair.Commit(t.Context(), &lathe.PartChanged{Part: closeFacts(part)}))(p.fixture)
					}
				}
			}
			p.ok(repair.Release(t.Context()))
			p.forget(func(g *growing) bool { return g.by == r })
		},
	}
}

// closeFacts is an open part at its end, with the text it has.
func closeFacts(p lathe.Part) lathe.Part {
	p = p.WithText(p.GrowingText()) // a copy
	switch b := p.Body.(type) {
	case *lathe.Text:
		span := *b.Time
		span.End = span.Start + 1
		b.Time = &span
	case *lathe.Reasoning:
		b.Time.End = b.Time.Start + 1
	default:
	}
	return p
}

func (p *play) settle(g *growing) {
	must(g.by.Commit(p.Context(), &lathe.PartChanged{Part: closeFacts(g.part.WithText(g.by.Text(g.part.ID)))}))(p.fixture)
	delete(p.open, g.part.ID)
}

// release ends a turn: what is open is settled or at least stored.
func (p *play) release(t *rapid.T, id lathe.SessionID) {
	r := p.runners[id]
	for _, key := range slices.Sorted(maps.Keys(p.open)) {
		if g := p.open[key]; g.by == r && rapid.Bool().Draw(t, "settle") {
			p.settle(g)
		}
	}
	p.ok(r.Checkpoint(t.Context()))
	must(r.Commit(t.Context(), &lathe.StatusChanged{Session: id, Status: lathe.Status{Type: lathe.Idle}}))(p.fixture)
	p.ok(r.Release(t.Context()))
	delete(p.runners, id)
	p.forget(func(g *growing) bool { return g.by == r })
}

func (p *play) forget(matches func(*growing) bool) {
	maps.DeleteFunc(p.open, func(_ lathe.PartID, g *growing) bool { return matches(g) })
}

func (p *play) clientActions() map[string]func(*rapid.T) {
	connected := func(want bool) []*client {
		return slices.DeleteFunc(slices.Clone(p.clients), func(c *client) bool { return (c.l != nil) != want })
	}
	scope := func(t *rapid.T) lathe.Scope {
		switch rapid.IntRange(0, 2).Draw(t, "scope") {
		case 0:
			return lathe.Scope{}
		case 1:
			return lathe.Scope{Directory: pick(t, p.dirs, "dir")}
		default:
			return lathe.Scope{Session: p.anySession(t).ID}
		}
	}
	return map[string]func(*rapid.T){
		"come": func(t *rapid.T) { // without a cursor: connect, then read what there is
			if len(p.clients) >= 6 {
				t.Skip("enough")
			}
			c := &client{w: p.anyEngine(t), scope: scope(t), fold: newFold()}
			c.l = c.w.listen(c.scope)
			c.at = c.l.at
			for _, st := range c.w.stored(c.scope) {
				c.fold.read(st)
			}
			p.clients = append(p.clients, c)
		},
		"come with a cursor": func(t *rapid.T) { // what was read long ago, and its number
			if len(p.clients) >= 6 || len(p.past) == 0 {
				t.Skip("not now")
			}
			c := &client{w: p.anyEngine(t), scope: scope(t), fold: newFold()}
			c.begin(pick(t, p.past, "moment"))
			p.clients = append(p.clients, c)
		},
		"read": func(t *rapid.T) {
			c := pick(t, connected(true), "client")
			p.ok(c.w.Store().Poll(t.Context()))
			c.fold.apply(c.l.received()...)
			c.at = c.l.at
		},
		"cut": func(t *rapid.T) { // in the middle, where nothing can be noted
			c := pick(t, connected(true), "client")
			p.ok(c.w.Store().Poll(t.Context()))
			events := c.l.received()
			n := rapid.IntRange(0, len(events)).Draw(t, "events")
			for _, e := range events[:n] {
				if c.fold.apply(e); e.Last {
					c.at = lathe.Cursor{Seq: e.Seq, Feed: c.w.Feed()}
				}
			}
			c.l.stop()
			c.l, c.fold.ahead = nil, true
		},
		"resume": func(t *rapid.T) {
			c := pick(t, connected(false), "client")
			c.w = p.anyEngine(t) // a cursor is good for all processes
			c.connect()
			if rapid.Bool().Draw(t, "cut at once") {
				over := c.l.hello.Last // reading on would wait
				for range rapid.IntRange(0, 3).Draw(t, "events") {
					if !over {
						e := c.l.read()
						over = e.Last
						c.fold.apply(e)
					}
				}
				c.at = lathe.Cursor{Seq: max(c.at.Seq, c.l.at.Seq), Feed: c.w.Feed()}
				c.l.stop()
				c.l, c.fold.ahead = nil, true
			}
		},
	}
}

// begin lets a client know what was stored at a moment, in its scope.
func (c *client) begin(m moment) {
	for id, st := range m.stored {
		if c.scope.Includes(lathe.Event{Session: id, Directory: st.Session.Directory}) {
			c.fold.read(st)
		}
	}
	c.at = lathe.Cursor{Seq: m.number, Feed: c.w.Feed()}
}

func (c *client) connect() { c.l = c.w.listen(c.scope, c.at) }

// check lets everything be stored and published, and compares each client with the store.
func (p *play) check() {
	p.Helper()
	for _, r := range p.runners {
		p.ok(r.Checkpoint(p.Context()))
	}
	for id, g := range p.open {
		if got := must(p.Store().Part(p.Context(), g.part.Session, g.part.Message, id))(p.fixture).GrowingText(); got != g.by.Text(id) {
			p.Fatalf("of %s %q is stored, %q was streamed", id, got, g.by.Text(id))
		}
	}
	for _, c := range p.clients {
		if c.l == nil {
			c.connect()
		}
		p.ok(c.w.Store().Poll(p.Context()))
		c.fold.apply(c.l.received()...)
		c.at = c.l.at
		c.fold.compare(c.w, c.scope)
	}
}

// everyNumber resumes from each number there is, onto what was stored at that moment or
// the next that was remembered: the end is the same.
func (p *play) everyNumber() {
	p.Helper()
	now := p.counter()
	last := moment{now, p.stored(lathe.Scope{})}
	p.past = append(p.past, last)
	slices.SortFunc(p.past, func(a, b moment) int { return int(a.number - b.number) })
	for n := int64(0); n <= now; n++ {
		i := slices.IndexFunc(p.past, func(m moment) bool { return m.number >= n })
		c := &client{w: p.engines[int(n)%len(p.engines)], fold: newFold()}
		if n > 0 { // at 0 nothing is known
			c.begin(p.past[i])
		}
		c.at.Seq, c.fold.ahead = n, true
		c.connect()
		c.fold.apply(c.l.received()...)
		c.fold.equals(c.w, c.scope, last.stored)
		c.l.stop()
	}
}
