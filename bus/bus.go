// Package bus sends stored and ephemeral events to every subscriber in one process.
//
// It owns the order of delivery, a bounded queue for each subscriber,
// and the texts of open parts while they grow. It stores nothing: a reader that
// falls behind is disconnected with [ErrLagged] and resumes from the store
// by its number. It does no I/O and starts no goroutine.
//
// # Texts
//
// A [Text] is the append-only buffer of one open part. A delta in a queue is a range of
// it, so that a thousand subscribers share the bytes and merging two deltas is joining
// two ranges; a [lathe.PartDelta] is made only when it is read.
//
// A text begins and ends inside [Bus.Publish], together with its event: a
// message.part.updated with an open part begins it. One with a settled part, or a removal,
// ends it. A subscriber that joins before the settling event gets the text so far and later
// that event. One that joins after it gets nothing of the text and reads the settled part
// from the store. No subscriber keeps an open copy of a settled part. For the
// runner that means:
//
//	commit the open part      the store's writer publishes it: the text begins
//	t := Open(event)          finds it
//	t.Append(…)               deltas
//	commit the settled part   published: the text has ended
//	t.Close()                 nothing left to do, unless the commit failed
//
// A resuming reader calls Subscribe, reads the store from its number, passes the last number
// to [Subscription.Skip], and then calls Next.
//
// # Concurrency
//
// All methods may be called from any goroutine. The mutex of the Bus guards the index of
// subscribers and the texts, the mutex of a Subscription its queue. The second is taken inside
// the first, never the other way round. Neither is held during a wait: a slow reader does not
// delay a publisher.
//
// Start reading at Publish, then text.go, subscription.go and queue.go. Package bustest
// tests the rules of the feed one by one.
package bus

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
)

// DefaultLimit is the size of a subscriber's queue in bytes.
const DefaultLimit = 4 << 20

// Bus delivers events in number order. The zero value is not usable; see [New].
type Bus struct {
	limit int
	ids   *lathe.IDs
	grown func(Delta) // nil without other nodes

	mu     sync.Mutex
	last   int64
	index  index
	texts  map[lathe.PartID]*Text  // open texts
	opened int64                   // number of texts so far, to order them by age
	held   map[*Subscription]int64 // subscriptions that wait until last reaches a number
	closed bool
}

// Option configures a new bus.
type Option func(*Bus)

// IDs sets the generator of event ids.
func IDs(g *lathe.IDs) Option { return func(b *Bus) { b.ids = g } }

// Grown sets a function that receives each delta of the texts that this process opened, for other nodes. It is called
// in order, with the bus locked: it must not block and not call the bus.
func Grown(f func(Delta)) Option { return func(b *Bus) { b.grown = f } }

// New returns a bus without events or subscribers.
func New(options ...Option) *Bus {
	b := &Bus{limit: DefaultLimit, texts: map[lathe.PartID]*Text{}, held: map[*Subscription]int64{}}
	for _, o := range options {
		o(b)
	}
	if b.ids == nil {
		b.ids = lathe.NewIDs()
	}
	return b
}

// Publish delivers the events of a commit, or ephemeral ones, to all subscribers in scope, and
// never waits for them. The store's single writer calls it in number order. A number that is
// not above [Bus.Last] was delivered before (a poll of another process's changes may overlap
// our own commit) and is dropped, so that numbers never decrease for a reader. Facts without
// a wire name are not delivered.
//
// Publish even without subscribers: it costs little then, and texts begin and end here. An
// event about a part with an open text gets that text, not its own.
func (b *Bus) Publish(events ...lathe.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		if e.Seq != 0 && e.Seq <= b.last {
			continue
		}
		if e.Last { // a reader cannot resume from this number before
			b.last = max(b.last, e.Seq)
		}
		b.follow(&e)
		b.handOut(e)
	}
	b.release()
}

// handOut queues an event for every subscriber in scope.
func (b *Bus) handOut(e lathe.Event) {
	if e.Fact.Type() == "" || !b.index.reaches(e.Session, e.Directory) {
		return
	}
	shared := e
	if shared.ID == "" { // all readers get the same id
		shared.ID = b.ids.Event()
	}
	it := item{event: &shared, cost: size(e.Fact)}
	b.index.each(e.Session, e.Directory, func(s *Subscription) bool { return s.push(it) })
}

// follow begins and ends texts according to the event.
func (b *Bus) follow(e *lathe.Event) {
	switch f := e.Fact.(type) {
	case *lathe.PartChanged:
		t := b.texts[f.Part.ID]
		switch {
		case t == nil && f.Part.Open():
			b.begin(*e)
		case t != nil && growing(f.Part):
			t.setText(e)
		case t != nil:
			b.end(t)
		}
	case *lathe.PartRemoved:
		if t := b.texts[f.Part]; t != nil {
			b.end(t)
		}
	case *lathe.MessageRemoved:
		b.endAll(func(t *Text) bool { return t.message == f.Message })
	case *lathe.SessionDeleted:
		b.endAll(func(t *Text) bool { return t.event.Session == f.Info.ID })
	default: // not about parts
	}
}

// Last is the number of the last completely delivered commit.
func (b *Bus) Last() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// Advance marks all numbers up to seq as delivered: the store's counter at the
// start, or the numbers of facts without events, such as checkpoints.
func (b *Bus) Advance(seq int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, seq)
	b.release()
}

// HasSubscriber reports whether an event in this scope would reach a subscriber, so that the
// caller can skip expensive events. Call it after the commit: later subscribers read the
// commit from the store. Always publish events that open, settle or remove parts.
func (b *Bus) HasSubscriber(s lathe.Scope) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.index.reaches(s.Session, s.Directory)
}

// Subscribers is the number of subscriptions.
func (b *Bus) Subscribers() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.index.count
}

// Subscribe starts a subscription. From now on it gets every event in scope until it lags.
// The open texts in scope come first, each as message.part.updated with the
// text so far. Their deltas continue from exactly there.
func (b *Bus) Subscribe(scope lathe.Scope) *Subscription {
	s := &Subscription{bus: b, scope: scope, changed: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	s.last = b.last
	if b.closed {
		s.finish()
		return s
	}
	open := b.open(scope)
	for _, t := range open {
		s.joined = append(s.joined, t.id)
	}
	b.index.enter(s)
	b.join(s, open)
	return s
}

// open lists the published texts in scope, oldest first.
func (b *Bus) open(scope lathe.Scope) []*Text {
	var open []*Text
	for _, t := range b.texts {
		if !t.quiet && scope.Includes(t.event) {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b *Text) int { return cmp.Compare(a.order, b.order) })
	return open
}

func (b *Bus) join(s *Subscription, open []*Text) {
	if !s.join(open) {
		b.index.leave(s)
	}
}

// release joins the subscriptions whose number has now been delivered.
func (b *Bus) release() {
	for s, h := range b.held {
		if s.group != nil && b.last < h {
			continue
		}
		delete(b.held, s)
		if s.group != nil { // it has not ended
			b.join(s, b.open(s.scope))
		}
	}
}

// Close ends all subscriptions: each may still read its queue, then gets
// [ErrClosed]. Texts can still be appended to, without an effect on readers.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.endAll(func(*Text) bool { return true })
	for _, s := range b.index.members() {
		s.finish()
		b.index.leave(s)
	}
}
