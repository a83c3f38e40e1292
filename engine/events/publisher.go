package events

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/store"
)

// Publisher hands what the store has committed to the bus. What this process streams itself is on the bus
// already; the open parts of other processes come through the store a piece a second, and grow on the bus
// like our own. It is for the store's writer alone.
type Publisher struct {
	bus     *bus.Bus
	open    map[lathe.PartID]lathe.Part // open parts of others as they were published, texts left out
	receive func([]lathe.Event)         // for the sessions of this process
	awake   func() bool                 // reports whether there are any
	relay   Relay                       // nil without other nodes
}

// NewPublisher returns a publisher to a bus. Committed events go to receive as well, which must not block; awake
// says that someone there waits for them. A relay, if not nil, tells other nodes.
func NewPublisher(b *bus.Bus, receive func([]lathe.Event), awake func() bool, relay Relay) *Publisher {
	return &Publisher{bus: b, open: map[lathe.PartID]lathe.Part{}, receive: receive, awake: awake, relay: relay}
}

// HasListeners reports whether events of other processes are worth reading. While a text is open they are, also
// without listeners: the text must end when its part does, or the next listener sees it as open.
func (pub *Publisher) HasListeners() bool {
	return pub.bus.Subscribers() > 0 || pub.bus.Texts() > 0 || pub.awake()
}

// Publish publishes a commit. It must not block, and the bus never does.
func (pub *Publisher) Publish(b store.Batch) {
	events := b.Events
	if b.Foreign {
		events = pub.growTexts(events)
	}
	pub.bus.Publish(events...) // in one call: a new subscriber must not get half of them
	pub.bus.Advance(b.Counter)
	pub.receive(b.Events) // last: what a session does about an event comes after the event
	for id := range pub.open {
		if pub.bus.Text(id) == nil { // it has ended
			delete(pub.open, id)
		}
	}
	if pub.relay != nil {
		pub.tell(b)
	}
}

// tell tells other nodes of our own commit, and the relay of theirs.
func (pub *Publisher) tell(b store.Batch) {
	if !b.Foreign {
		pub.relay.Announce(b.Counter)
		return
	}
	for _, e := range b.Events {
		if e.Session != "" && pub.bus.HasSubscriber(lathe.Scope{Session: e.Session, Directory: e.Directory}) {
			pub.relay.Follow(e.Session)
		}
		if p, ok := e.Fact.(*lathe.PartChanged); ok {
			pub.relay.Release(p.Part.ID)
		}
	}
}

// growTexts lets the texts of others grow and returns the events to publish besides.
func (pub *Publisher) growTexts(events []lathe.Event) []lathe.Event {
	var out []lathe.Event
	for _, e := range events {
		p, ok := e.Fact.(*lathe.PartChanged)
		switch {
		case !ok || !p.Part.Open() || !pub.grow(p.Part):
			out = append(out, e)
		case e.Last && len(out) > 0: // a reader may note the number one event earlier
			out[len(out)-1].Seq, out[len(out)-1].Last = e.Seq, true
		}
	}
	return out
}

// grow publishes what an open part has gained since it was last seen, and reports whether
// that is all. A part that is new to us, whose text does not continue what we have, or
// that differs in more than its text, must be published whole.
func (pub *Publisher) grow(p lathe.Part) bool {
	before, known := pub.open[p.ID]
	pub.open[p.ID] = p.WithText("")
	t := pub.bus.Text(p.ID)
	if t == nil {
		return false
	}
	if !t.Follow(p.GrowingText()) {
		t.Close()
		return false
	}
	return known && lathe.SameBody(before, pub.open[p.ID])
}
