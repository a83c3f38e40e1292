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

// growingTexts are the open parts of a session: their texts grow on the bus, and a checkpoint now and
// then writes to the store what they have grown by. It is for one goroutine.
type growingTexts struct {
	store  *store.Store
	bus    *bus.Bus
	work   *sync.WaitGroup // running checkpoints
	lease  store.Lease
	open   map[lathe.PartID]*growing
	saving *saving // nil while no checkpoint is running
}

// growing is an open part: its text on the bus, and how much of it the store has.
type growing struct {
	message lathe.MessageID
	text    *bus.Text
	stored  int // bytes
}

// saving is a running checkpoint. Texts grow meanwhile; every other write waits for it.
type saving struct {
	facts []lathe.Fact
	done  chan error // holds one when it has ended
}

// followAll lets the texts of parts follow what was committed. A part that opens begins to grow on the
// bus; one that is written whole no longer does.
func (t *growingTexts) followAll(events []lathe.Event) {
	for i, ev := range events {
		if p, ok := ev.Fact.(*lathe.PartChanged); !ok || !isSuperseded(p.Part, events[i+1:]) {
			t.follow(ev)
		}
	}
}

// isSuperseded reports whether a later event of the same commit changes the part. Its text
// may have ended already and must not start again.
func isSuperseded(p lathe.Part, later []lathe.Event) bool {
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

// follow opens the text of an open part and closes the text of a closed one.
func (t *growingTexts) follow(ev lathe.Event) {
	switch f := ev.Fact.(type) {
	case *lathe.PartChanged:
		if f.Part.Open() {
			t.ensure(ev, f.Part)
		} else {
			t.close(f.Part.ID)
		}
	case *lathe.PartRemoved:
		t.close(f.Part)
	case *lathe.MessageRemoved:
		for id, g := range t.open {
			if g.message == f.Message {
				t.close(id)
			}
		}
	default: // says nothing about parts
	}
}

// ensure finds the text of an open part on the bus. It stays if it is what was written,
// or, of a part that grows here, continues that. Any other text ends, and a new one is published.
func (t *growingTexts) ensure(ev lathe.Event, p lathe.Part) {
	written, text := p.GrowingText(), t.bus.Open(ev)
	if g := t.open[p.ID]; text.String() != written && (g == nil || g.text != text || !strings.HasPrefix(text.String(), written)) {
		text.Close()
		text = t.bus.Open(ev)
	}
	t.open[p.ID] = &growing{p.Message, text, len(written)}
}

// grow extends an open part: clients see it at once, the store at the next checkpoint.
func (t *growingTexts) grow(id lathe.PartID, delta string) error {
	g := t.open[id]
	if g == nil {
		return lathe.Errorf(lathe.Conflict, "part %s is not open", id)
	}
	g.text.Append(delta)
	return nil
}

// checkpoint starts to write what open parts have grown by since the last time. The context must last
// until that is done.
func (t *growingTexts) checkpoint(ctx context.Context) error {
	if err := t.wait(); err != nil {
		return err
	}
	var facts []lathe.Fact
	for id, g := range t.open {
		if more := g.text.Since(g.stored); more != "" {
			facts = append(facts, &lathe.Checkpoint{Session: t.lease.Session, Part: id, Offset: g.stored, Text: more})
		}
	}
	if len(facts) == 0 {
		return nil
	}
	t.saving = &saving{facts, make(chan error, 1)}
	done := t.saving.done
	t.work.Go(func() {
		_, err := t.store.Commit(ctx, t.lease, facts...)
		done <- err
	})
	return nil
}

// done is where the end of a checkpoint is sent, for noteSaved; nil while there is none.
func (t *growingTexts) done() <-chan error {
	if t.saving == nil {
		return nil
	}
	return t.saving.done
}

// wait waits for a checkpoint that is running.
func (t *growingTexts) wait() error {
	if t.saving == nil {
		return nil
	}
	return t.noteSaved(<-t.saving.done)
}

// noteSaved handles the end of a checkpoint. The next one repeats failed writes.
func (t *growingTexts) noteSaved(err error) error {
	facts := t.saving.facts
	t.saving = nil
	for _, f := range facts {
		if c := f.(*lathe.Checkpoint); err == nil && t.open[c.Part] != nil {
			t.open[c.Part].stored += len(c.Text)
		}
	}
	return err
}

func (t *growingTexts) close(id lathe.PartID) {
	if g := t.open[id]; g != nil {
		g.text.Close()
		delete(t.open, id)
	}
}

// release lets go of all texts, and says what could not be written. A text that the store does not have
// whole ends, since the next writer of its part begins with what is stored; any other stays open on the
// bus as it does in the store.
func (t *growingTexts) release() error {
	err := t.wait()
	for id, g := range t.open {
		if g.text.Len() != g.stored {
			t.close(id)
		}
		g.text.Disown()
	}
	clear(t.open)
	return err
}
