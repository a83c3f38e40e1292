// Package bus is live fan-out in one process: stored events and ephemeral ones,
// to every subscriber.
//
// It owns the order in which events are handed out, a bounded queue for each subscriber,
// and the texts of open parts while they grow. It does not own the truth: nothing here is
// kept, a reader that falls behind is cut off with [ErrLagged] and resumes from the store
// by its number. It never reads or writes anything, and starts no goroutine.
//
// # Texts
//
// A [Text] is the append-only buffer of one open part. A delta in a queue is a range of
// it, so that a thousand subscribers share the bytes and merging two deltas is joining
// two ranges; a [lathe.PartDelta] is made only when it is read.
//
// A text begins and ends inside [Bus.Publish], together with the event that says so: a
// message.part.updated with an open part begins it, one with a settled part, or a removal,
// ends it. A subscriber therefore comes either before the settling event, gets the text
// so far and later that event, or after it, gets nothing of the text and reads the
// settled part from the store. Nobody is left with an open copy of a settled part. For the
// runner that means:
//
//	commit the open part      the store's writer publishes it: the text begins
//	t := Open(event)          finds it
//	t.Append(…)               deltas
//	commit the settled part   published: the text has ended
//	t.Close()                 nothing left to do, unless the commit failed
//
// A reader that resumes calls Subscribe, reads the store from its number, says how far that
// went with [Subscription.Skip], and then takes what comes from Next.
//
// # Concurrency
//
// All methods may be called from any goroutine. Two mutexes: that of the Bus guards the
// index of subscribers and the texts, that of a Subscription its queue; the second is
// taken inside the first, never the other way round. Neither is held while anyone waits:
// a slow reader costs a publisher nothing.
//
// Start reading at Publish, then text.go, subscription.go and queue.go. The rules are
// those of the feed, tested sentence by sentence in package bustest.
package bus

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
)

// DefaultLimit is how many bytes may wait in the queue of one subscriber.
const DefaultLimit = 4 << 20

// Bus hands out events in number order. The zero value is not usable; see [New].
type Bus struct {
	limit int
	ids   *lathe.IDs

	mu     sync.Mutex
	last   int64
	index  index
	texts  map[lathe.PartID]*Text  // those that are open
	opened int64                   // texts so far, to tell which is older
	held   map[*Subscription]int64 // those that wait for last to reach a number
	closed bool
}

// Option changes how a bus is made.
type Option func(*Bus)

// IDs lets the bus take event ids from the process's generator.
func IDs(g *lathe.IDs) Option { return func(b *Bus) { b.ids = g } }

// New returns a bus that has handed out nothing.
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

// Publish hands out the events of a commit, or ephemeral ones, to all whose scope holds them, and
// never waits for any of them. Numbered events come in number order; the one writer sees
// to that. A number that is not above [Bus.Last] was handed out before (a look at another
// process's changes may overlap a commit of our own), and is dropped, so that no reader
// sees its number fall. Facts without a name on the wire are not handed out.
//
// Publish even when nobody listens: it costs little then, and texts begin and end here. An
// event about a part whose text is open gets the text from there, whatever it says itself.
func (b *Bus) Publish(events ...lathe.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		if e.Seq != 0 && e.Seq <= b.last {
			continue
		}
		if e.Last { // before it, a reader could not resume from this number either
			b.last = max(b.last, e.Seq)
		}
		b.follow(&e)
		b.handOut(e)
	}
	b.release()
}

// handOut queues an event for everyone in whose scope it is.
func (b *Bus) handOut(e lathe.Event) {
	if e.Fact.Type() == "" || !b.index.reaches(e.Session, e.Directory) {
		return
	}
	shared := e
	if shared.ID == "" { // one event, one id, whoever reads it
		shared.ID = b.ids.Event()
	}
	it := item{event: &shared, cost: size(e.Fact)}
	b.index.each(e.Session, e.Directory, func(s *Subscription) bool { return s.push(it) })
}

// follow lets the texts begin and end as the event says.
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
	default: // says nothing about parts
	}
}

// Last is the number of the last commit that was handed out whole.
func (b *Bus) Last() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// Advance says that no number up to seq will come any more: the store's counter at the
// start, or the numbers of facts that clients are not told, such as checkpoints.
func (b *Bus) Advance(seq int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, seq)
	b.release()
}

// HasSubscriber reports whether an event of this session and directory would reach anyone, so
// that what costs to build can be left out. Ask after the commit: whoever subscribes
// later then reads it from the store. Events that open, settle or remove parts are to be
// published in any case.
func (b *Bus) HasSubscriber(s lathe.Scope) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.index.reaches(s.Session, s.Directory)
}

// Subscribers is how many listen.
func (b *Bus) Subscribers() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.index.count
}

// Subscribe begins a subscription. From here on nothing in scope is lost until it lags.
// The texts that are open in scope come first, each as message.part.updated with the
// text so far; their deltas continue from exactly there.
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

// open lists the texts in scope that are told, the oldest first.
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

// release lets those join that waited for a number which has now been handed out.
func (b *Bus) release() {
	for s, h := range b.held {
		if s.group != nil && b.last < h {
			continue
		}
		delete(b.held, s)
		if s.group != nil { // it is still there
			b.join(s, b.open(s.scope))
		}
	}
}

// Close ends all subscriptions: each may still read what it has queued, then gets
// [ErrClosed]. Texts can be appended to as before; nobody hears.
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
