package engine

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/store"
)

// sessionLog writes what happens in a session, under its lease: facts to the store, texts that grow to
// the bus, and checkpoints of those texts to the store. It is for one goroutine.
type sessionLog struct {
	store  *store.Store
	bus    *bus.Bus
	work   *sync.WaitGroup // checkpoints under way
	lease  store.Lease
	texts  map[lathe.PartID]*growing
	saving *saving // nil while no checkpoint is under way
}

// growing is an open part: its text on the bus, and how much of it the
// store has.
type growing struct {
	message lathe.MessageID
	text    *bus.Text
	stored  int // bytes
}

// commit writes facts. A text part that opens here begins to grow on the bus; one that
// is written whole no longer does.
func (l *sessionLog) commit(ctx context.Context, facts ...lathe.Fact) ([]lathe.Event, error) {
	if err := l.saved(); err != nil {
		return nil, err
	}
	events, err := l.store.Commit(ctx, l.lease, facts...)
	if err != nil {
		return nil, err
	}
	l.committed(events)
	return events, nil
}

// committed lets the texts of parts follow what was written.
func (l *sessionLog) committed(events []lathe.Event) {
	for i, ev := range events {
		if p, ok := ev.Fact.(*lathe.PartChanged); !ok || !overtaken(p.Part, events[i+1:]) {
			l.follow(ev)
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
func (l *sessionLog) follow(ev lathe.Event) {
	switch f := ev.Fact.(type) {
	case *lathe.PartChanged:
		if f.Part.Open() {
			l.hold(ev, f.Part)
		} else {
			l.close(f.Part.ID)
		}
	case *lathe.PartRemoved:
		l.close(f.Part)
	case *lathe.MessageRemoved:
		for id, g := range l.texts {
			if g.message == f.Message {
				l.close(id)
			}
		}
	default: // says nothing about parts
	}
}

// hold finds the text of an open part on the bus. It goes on if it is what was written,
// or, of a part we let grow ourselves, continues that. Any other ends, and one begins that
// everyone is told.
func (l *sessionLog) hold(ev lathe.Event, p lathe.Part) {
	text, b := p.GrowingText(), l.bus
	t := b.Open(ev)
	if g := l.texts[p.ID]; t.String() != text && (g == nil || g.text != t || !strings.HasPrefix(t.String(), text)) {
		t.Close()
		t = b.Open(ev)
	}
	l.texts[p.ID] = &growing{p.Message, t, len(text)}
}

// grow extends an open part: clients see it at once, the store at the next checkpoint.
func (l *sessionLog) grow(id lathe.PartID, delta string) error {
	g := l.texts[id]
	if g == nil {
		return lathe.Errorf(lathe.Conflict, "part %s is not open", id)
	}
	g.text.Append(delta)
	return nil
}

// checkpoint writes down what open parts have grown by since the last time, beside what the
// runner does. The context must last until then.
func (l *sessionLog) checkpoint(ctx context.Context) error {
	if err := l.saved(); err != nil {
		return err
	}
	var facts []lathe.Fact
	for id, g := range l.texts {
		if more := g.text.Since(g.stored); more != "" {
			facts = append(facts, &lathe.Checkpoint{Session: l.lease.Session, Part: id, Offset: g.stored, Text: more})
		}
	}
	if len(facts) == 0 {
		return nil
	}
	l.saving = &saving{facts, make(chan error, 1)}
	done := l.saving.done
	l.work.Go(func() {
		_, err := l.store.Commit(ctx, l.lease, facts...)
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
func (l *sessionLog) underway() <-chan error {
	if l.saving == nil {
		return nil
	}
	return l.saving.done
}

// saved waits for a checkpoint that is under way.
func (l *sessionLog) saved() error {
	if l.saving == nil {
		return nil
	}
	return l.noted(<-l.saving.done)
}

// noted takes the end of a checkpoint in. What failed is written next time.
func (l *sessionLog) noted(err error) error {
	facts := l.saving.facts
	l.saving = nil
	for _, f := range facts {
		if c := f.(*lathe.Checkpoint); err == nil && l.texts[c.Part] != nil {
			l.texts[c.Part].stored += len(c.Text)
		}
	}
	return err
}

func (l *sessionLog) close(id lathe.PartID) {
	if g := l.texts[id]; g != nil {
		g.text.Close()
		delete(l.texts, id)
	}
}

// letGo ends the log, and says what could not be written. A text that the store does not have whole
// ends, since whoever goes on with its part begins with what is stored; any other stays open on the bus
// as it does in the store.
func (l *sessionLog) letGo() error {
	err := l.saved()
	for id, g := range l.texts {
		if g.text.Len() != g.stored {
			l.close(id)
		}
	}
	clear(l.texts)
	return err
}
