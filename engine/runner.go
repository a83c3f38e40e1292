package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/store"
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
	l, err := e.store.Take(ctx, id)
	if err != nil {
		return nil, err
	}
	return &runner{engine: e, lease: l, texts: map[lathe.PartID]*growing{}}, nil
}

// release gives the lease back, also after a cancel. A text that the store does not have
// whole ends, since whoever goes on with its part begins with what is stored; any other
// stays open on the bus as it does in the store.
func (r *runner) release(ctx context.Context) error {
	for id, g := range r.texts {
		if g.text.Len() != g.stored {
			r.close(id)
		}
	}
	clear(r.texts)
	ctx, cancel := settle(ctx)
	defer cancel()
	return r.engine.store.Release(ctx, r.lease)
}

// settle gives a context that outlives its parent's cancel, for a bounded time.
func settle(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTime)
}

// commit writes facts. A text part that opens here begins to grow on the bus; one that
// is written whole no longer does.
func (r *runner) commit(ctx context.Context, facts ...lathe.Fact) ([]lathe.Event, error) {
	events, err := r.engine.store.Commit(ctx, r.lease, facts...)
	if err != nil {
		return nil, err
	}
	for i, ev := range events {
		if p, ok := ev.Fact.(*lathe.PartChanged); !ok || !overtaken(p.Part, events[i+1:]) {
			r.follow(ev)
		}
	}
	return events, nil
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

// checkpoint writes down what open parts have grown by since the last time.
func (r *runner) checkpoint(ctx context.Context) error {
	var facts []lathe.Fact
	for id, g := range r.texts {
		if more := g.text.Since(g.stored); more != "" {
			facts = append(facts, &lathe.Checkpoint{Session: r.lease.Session, Part: id, Offset: g.stored, Text: more})
		}
	}
	if len(facts) == 0 {
		return nil
	}
	if _, err := r.engine.store.Commit(ctx, r.lease, facts...); err != nil {
		return err
	}
	for _, f := range facts { // not before it is written: what failed is written next time
		c := f.(*lathe.Checkpoint)
		r.texts[c.Part].stored += len(c.Text)
	}
	return nil
}

func (r *runner) close(id lathe.PartID) {
	if g := r.texts[id]; g != nil {
		g.text.Close()
		delete(r.texts, id)
	}
}
