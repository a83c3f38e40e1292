package engine

import (
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/store"
)

// live hands what the store has committed to the bus. What this process streams itself
// is on the bus already; the open parts of other processes come through the store a
// piece a second, and grow on the bus like our own. It is for the store's writer alone.
type live struct {
	bus  *bus.Bus
	told map[lathe.PartID]lathe.Part // open parts of others as they were told, texts left out
	tell func([]lathe.Event)         // for the runners of this process
	// awake reports whether there are any.
	awake func() bool
}

// wanted reports whether what others wrote is worth reading. While a text is open it is,
// also when nobody listens: the text must end when its part does, or whoever comes next
// is shown it as open.
func (l *live) wanted() bool { return l.bus.Subscribers() > 0 || l.bus.Texts() > 0 || l.awake() }

// publish is the store's way out. It must not block, and the bus never does.
func (l *live) publish(b store.Batch) {
	events := b.Events
	if b.Foreign {
		events = l.grown(events)
	}
	l.tell(b.Events)
	l.bus.Publish(events...) // at once: nobody who comes in between gets half of them
	l.bus.Advance(b.Counter)
	for id := range l.told {
		if l.bus.Text(id) == nil { // it has ended
			delete(l.told, id)
		}
	}
}

// grown lets the texts of others grow and returns what there is to tell besides.
func (l *live) grown(events []lathe.Event) []lathe.Event {
	var out []lathe.Event
	for _, e := range events {
		p, ok := e.Fact.(*lathe.PartChanged)
		switch {
		case !ok || !p.Part.Open() || !l.grow(p.Part):
			out = append(out, e)
		case e.Last && len(out) > 0: // a reader may note the number one event earlier
			out[len(out)-1].Seq, out[len(out)-1].Last = e.Seq, true
		}
	}
	return out
}

// grow tells what an open part has gained since it was last seen, and reports whether
// that is all. A part that is new to us, whose text does not continue what we have, or
// that differs in more than its text, is to be told whole.
func (l *live) grow(p lathe.Part) bool {
	before, known := l.told[p.ID]
	l.told[p.ID] = p.WithText("")
	t := l.bus.Text(p.ID)
	if t == nil {
		return false
	}
	more, ok := strings.CutPrefix(p.GrowingText(), t.String())
	if !ok {
		t.Close()
		return false
	}
	t.Append(more)
	return known && lathe.SameBody(before, l.told[p.ID])
}
