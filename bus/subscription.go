package bus

import (
	"context"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
)

// The errors of an ended subscription are *[lathe.Error]. ErrLagged is Unavailable, because a
// retry helps. ErrClosed is Canceled, because no action is needed.
var (
	ErrLagged error = &lathe.Error{
		Code:    lathe.Unavailable,
		Message: "the reader fell behind and its queue was dropped; subscribe again and resume from the last number",
	}
	ErrClosed error = &lathe.Error{Code: lathe.Canceled, Message: "the subscription is closed"}
)

// Subscription is the queue of one reader. Next is for one goroutine at a time.
type Subscription struct {
	bus    *Bus
	scope  lathe.Scope
	last   int64
	joined []lathe.PartID

	group *group // in the index; guarded by the mutex of the bus
	at    int

	changed chan struct{} // holds one after a change of queue or err

	mu    sync.Mutex // guards the fields below
	queue queue
	err   error // why it has ended
	skip  int64 // the reader knows all numbers up to here
	held  bool  // omit texts until the bus has reached skip
}

// Last is the number of the last commit before the subscription, which gets all later
// ones. It is the id of a stream that starts without a cursor.
func (s *Subscription) Last() int64 { return s.last }

// OpenTexts lists the texts that were open in scope when the subscription began, oldest
// first.
func (s *Subscription) OpenTexts() []lathe.PartID { return slices.Clone(s.joined) }

// Skip drops all events up to number h, queued or late, because the reader has meanwhile
// read them from the store.
//
// Open texts are queued again, after the other items, and only once the bus has delivered h:
// the store may be a moment ahead, and a stale text of the bus must not reopen a part that
// the reader knows as settled. So for each open part of a reader at h or a later number,
// the settling event is still to come.
func (s *Subscription) Skip(h int64) {
	b := s.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	s.hold(h)
	if s.group != nil { // it has not ended
		b.held[s] = h
		b.release()
	}
}

// Next returns the next event and waits for one. It fails with [ErrLagged] once the queue
// has overflowed, with [ErrClosed] after a close, or with the cause of ctx. A context that
// is done takes precedence over queued events, which stay in the queue.
func (s *Subscription) Next(ctx context.Context) (lathe.Event, error) {
	for {
		if ctx.Err() != nil {
			return lathe.Event{}, context.Cause(ctx)
		}
		it, ok, err := s.take()
		if err != nil {
			return lathe.Event{}, err
		}
		if ok {
			return s.event(it), nil
		}
		select { // without a goroutine or allocation, because each delta has a wait
		case <-s.changed:
		case <-ctx.Done():
		}
	}
}

// Ready reports whether Next would return at once.
func (s *Subscription) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.len() > 0 || s.err != nil
}

// Close ends the subscription and frees its queue. A Next that waits returns.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	s.bus.index.leave(s)
	s.bus.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue, s.err = queue{}, ErrClosed
	s.wake()
}

// wake signals the reader to check its queue. The item may already be taken.
func (s *Subscription) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// take removes the first item.
func (s *Subscription) take() (it item, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.len() == 0 {
		return item{}, false, s.err
	}
	return s.queue.pop(), true, nil
}

// event builds the event of an item. Deltas and texts so far are built for one reader, so
// they get their ids here.
func (s *Subscription) event(it item) lathe.Event {
	e := it.readerEvent()
	if e.ID == "" {
		e.ID = s.bus.ids.Event()
	}
	return e
}

// push queues an item. It returns false if the queue was full and the subscription has ended.
func (s *Subscription) push(it item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leavesOut(it) || s.add(it)
}

// grow queues a delta. It extends the queued delta if that began after the last full update
// of the part.
func (s *Subscription) grow(d item, published int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leavesOut(d) || s.queue.extend(d, published) || s.add(d)
}

// leavesOut reports whether the reader already knows the item or will get it together with
// the rest of its text.
func (s *Subscription) leavesOut(it item) bool {
	if it.text != nil {
		return s.held
	}
	return it.event.Seq > 0 && it.event.Seq <= s.skip
}

// hold removes the items up to h and all items of texts from the queue.
func (s *Subscription) hold(h int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skip, s.held = h, true
	s.queue.filter(func(it item) bool { return !s.leavesOut(it) })
}

// join queues the texts so far.
func (s *Subscription) join(open []*Text) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	for _, t := range open {
		if !s.add(t.whole()) {
			return false
		}
	}
	return true
}

func (s *Subscription) add(it item) bool {
	if s.queue.len() > 0 && s.queue.bytes+it.cost > s.bus.limit {
		s.queue, s.err = queue{}, ErrLagged
		s.wake()
		return false
	}
	s.queue.push(it)
	s.wake()
	return true
}

// finish ends the subscription after the reader has read its queue.
func (s *Subscription) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = ErrClosed
	s.wake()
}
