package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
)

// settleTime bounds writes that must outlive a cancel. It is longer than the store waits for
// another process: a release that failed would leave the session busy until this one ends.
const settleTime = 20 * time.Second

// runner is the one writer of a session, for as long as it holds the lease. It is for
// one goroutine.
type runner struct {
	engine *Engine
	lease  store.Lease
	texts  map[lathe.PartID]*growing
	saving *saving // nil while no checkpoint is under way

	// Of one that runs turns:
	sample
	began   sample // the last of this turn that could be had
	told    bool   // that the settings cannot be read
	actor   *actor
	place   workspace.Place
	mem     *history.Conversation
	results chan errandResult
	errands int        // under way
	titled  bool       // a title was sent for
	unkept  sync.Once  // tells that commands cannot be undone
	patched bool       // files were changed since the last summary
	summing bool       // a summary was sent for
	summed  lathe.Time // when
	worked  bool       // the session is not idle
	broken  int        // requests in a row that failed
	fallen  fallback
	read    check.Reader // of the turn's calls
	// preface is what goes before the conversation, once it was read.
	preface     *lathe.Preface
	prefaceRead bool
}

// growing is an open part of this runner: its text on the bus, and how much of it the
// store has.
type growing struct {
	message lathe.MessageID
	text    *bus.Text
	stored  int // bytes
}

// take makes a runner for a session nobody else works on; otherwise that is a conflict.
func (e *Engine) take(ctx context.Context, id lathe.SessionID) (*runner, error) {
	if err := e.unreleased.giveBack(ctx, e.store, id); err != nil {
		return nil, err
	}
	l, err := e.store.Take(ctx, id)
	if err != nil {
		return nil, err
	}
	return &runner{engine: e, lease: l, texts: map[lathe.PartID]*growing{}}, nil
}

// begin makes the runner of a session that is awake, with what it knows of it.
func (e *Engine) begin(ctx context.Context, a *actor) (*runner, error) {
	r, err := e.take(ctx, a.id)
	if err != nil {
		return nil, err
	}
	r.actor, r.results, r.summed = a, make(chan errandResult, 1), e.now()
	if err := r.remember(ctx); err != nil {
		return nil, errors.Join(err, r.release(ctx))
	}
	return r, nil
}

// remember finds what was kept of the session, or reads it.
func (r *runner) remember(ctx context.Context) (err error) {
	e := r.engine
	r.mem = e.memories.Take(r.lease.Session)
	if r.mem == nil || r.mem.Refresh(ctx, e.store) != nil {
		if r.mem, err = history.Load(ctx, e.store, r.lease.Session, &e.versions); err != nil {
			return err
		}
	}
	inst, err := e.Instance(ctx, r.mem.Session.Directory)
	if err != nil && ctx.Err() != nil {
		return err
	}
	r.place = inst.Place
	if err != nil { // the directory is gone: its tools will say so
		r.place = workspace.Place{Directory: r.mem.Session.Directory, Worktree: "/"}
	}
	return nil
}

// catchUp takes in what others have committed.
func (r *runner) catchUp() {
	after := r.engine.store.Last() // what is published up to here has been heard
	for _, ev := range r.actor.heard() {
		r.mem.Apply(ev)
	}
	r.mem.After = max(r.mem.After, after)
}

// result is the answer that callers get: the newest, else the newest message.
func (r *runner) result() lathe.Message {
	for _, h := range slices.Backward(r.mem.Messages) {
		if _, ok := h.Said.(*lathe.Assistant); ok {
			return h.Message
		}
	}
	if n := len(r.mem.Messages); n > 0 {
		return r.mem.Messages[n-1].Message
	}
	return lathe.Message{}
}

// rests says that the session is idle, if it was not.
func (r *runner) rests(ctx context.Context) error {
	if !r.worked || r.actor.isWoken() && ctx.Err() == nil {
		return nil // or goes on at once
	}
	r.worked = false
	return r.write(ctx, &lathe.StatusChanged{Session: r.lease.Session, Status: lathe.Status{Type: lathe.Idle}})
}

// release gives the lease back, also after a cancel. A text that the store does not have
// whole ends, since whoever goes on with its part begins with what is stored; any other
// stays open on the bus as it does in the store.
func (r *runner) release(ctx context.Context) error {
	if err := r.saved(); err != nil {
		r.engine.log.Warn("what a text has grown by was not written down", "session", r.lease.Session, "error", err)
	}
	for id, g := range r.texts {
		if g.text.Len() != g.stored {
			r.close(id)
		}
	}
	clear(r.texts)
	ctx, cancel := settle(ctx)
	defer cancel()
	err := r.engine.store.Release(ctx, r.lease)
	if err != nil {
		r.engine.unreleased.keep(r.lease)
	}
	return err
}

// unreleased are leases that could not be given back because the store failed. They are
// given back before their session is taken again: it would be busy until this process ends.
type unreleased struct {
	mu     sync.Mutex // guards leases
	leases map[lathe.SessionID]store.Lease
}

func (u *unreleased) keep(l store.Lease) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.leases == nil {
		u.leases = map[lathe.SessionID]store.Lease{}
	}
	u.leases[l.Session] = l
}

func (u *unreleased) giveBack(ctx context.Context, s *store.Store, id lathe.SessionID) error {
	u.mu.Lock()
	l, ok := u.leases[id]
	u.mu.Unlock()
	if !ok {
		return nil
	}
	if err := s.Release(ctx, l); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.leases[id] == l { // another may have taken and kept it meanwhile
		delete(u.leases, id)
	}
	return nil
}

// settle gives a context that outlives its parent's cancel, for a bounded time.
func settle(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTime)
}

// commit writes facts. A text part that opens here begins to grow on the bus; one that
// is written whole no longer does.
func (r *runner) commit(ctx context.Context, facts ...lathe.Fact) ([]lathe.Event, error) {
	if err := r.saved(); err != nil {
		return nil, err
	}
	events, err := r.engine.store.Commit(ctx, r.lease, facts...)
	if err != nil {
		return nil, err
	}
	r.committed(events)
	return events, nil
}

// committed lets the texts of parts follow what was written.
func (r *runner) committed(events []lathe.Event) {
	for i, ev := range events {
		if p, ok := ev.Fact.(*lathe.PartChanged); !ok || !overtaken(p.Part, events[i+1:]) {
			r.follow(ev)
		}
	}
}

// overtaken reports whether the same commit says something later about the part. Its text
// may have begun and ended already, and must not begin anew.
func overtaken(p lathe.Part, later []lathe.Event) bool {
	return slices.ContainsFunc(later, func(ev lathe.Event) bool {
		switch f := ev.Fact.(type) {
		case *lathe.PartChanged:
			return f.Part.ID == p.ID
		case *lathe.PartRemoved:
			return f.Part == p.ID
		case *lathe.MessageRemoved:
			return f.Message == p.Message
		default:
			return false
		}
	})
}

// follow keeps hold of the text of a part that is open, and lets go of one that is not.
func (r *runner) follow(ev lathe.Event) {
	switch f := ev.Fact.(type) {
	case *lathe.PartChanged:
		if f.Part.Open() {
			r.hold(ev, f.Part)
		} else {
			r.close(f.Part.ID)
		}
	case *lathe.PartRemoved:
		r.close(f.Part)
	case *lathe.MessageRemoved:
		for id, g := range r.texts {
			if g.message == f.Message {
				r.close(id)
			}
		}
	default: // says nothing about parts
	}
}

// hold finds the text of an open part on the bus. It goes on if it is what was written,
// or, of a part we let grow ourselves, continues that. Any other ends, and one begins that
// everyone is told.
func (r *runner) hold(ev lathe.Event, p lathe.Part) {
	text, b := p.GrowingText(), r.engine.bus
	t := b.Open(ev)
	if g := r.texts[p.ID]; t.String() != text && (g == nil || g.text != t || !strings.HasPrefix(t.String(), text)) {
		t.Close()
		t = b.Open(ev)
	}
	r.texts[p.ID] = &growing{p.Message, t, len(text)}
}

// grow extends an open part: clients see it at once, the store at the next checkpoint.
func (r *runner) grow(id lathe.PartID, delta string) error {
	g := r.texts[id]
	if g == nil {
		return lathe.Errorf(lathe.Conflict, "part %s is not open", id)
	}
	g.text.Append(delta)
	return nil
}

// checkpoint writes down what open parts have grown by since the last time, beside what the
// runner does. The context must last until then.
func (r *runner) checkpoint(ctx context.Context) error {
	if err := r.saved(); err != nil {
		return err
	}
	var facts []lathe.Fact
	for id, g := range r.texts {
		if more := g.text.Since(g.stored); more != "" {
			facts = append(facts, &lathe.Checkpoint{Session: r.lease.Session, Part: id, Offset: g.stored, Text: more})
		}
	}
	if len(facts) == 0 {
		return nil
	}
	r.saving = &saving{facts, make(chan error, 1)}
	e, lease, done := r.engine, r.lease, r.saving.done
	e.work.Go(func() {
		_, err := e.store.Commit(ctx, lease, facts...)
		done <- err
	})
	return nil
}

// saving is a checkpoint under way. Deltas go on meanwhile; whatever else is written waits
// for it.
type saving struct {
	facts []lathe.Fact
	done  chan error // holds one when it has ended
}

// underway is where the end of a checkpoint is told; nil while there is none.
func (r *runner) underway() <-chan error {
	if r.saving == nil {
		return nil
	}
	return r.saving.done
}

// saved waits for a checkpoint that is under way.
func (r *runner) saved() error {
	if r.saving == nil {
		return nil
	}
	return r.noted(<-r.saving.done)
}

// noted takes the end of a checkpoint in. What failed is written next time.
func (r *runner) noted(err error) error {
	facts := r.saving.facts
	r.saving = nil
	for _, f := range facts {
		if c := f.(*lathe.Checkpoint); err == nil && r.texts[c.Part] != nil {
			r.texts[c.Part].stored += len(c.Text)
		}
	}
	return err
}

func (r *runner) close(id lathe.PartID) {
	if g := r.texts[id]; g != nil {
		g.text.Close()
		delete(r.texts, id)
	}
}
