package bus

import (
	"context"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
)

// Why a subscription has ended. Both are *[lathe.Error]: of a lag the code is Unavailable,
// because reading again helps; of a close it is Canceled, because nobody need act.
var (
	ErrLagged error = &lathe.Error{
		Code:    lathe.Unavailable,
		Message: "the reader fell behind and its queue was dropped; subscribe again and resume from the last number",
	}
	ErrClosed error = &lathe.Error{Code: lathe.Canceled, Message: "the subscription is closed"}
)

// Subscription is what one reader has yet to read. Next is for one goroutine at a time.
type Subscription struct {
	bus    *Bus
	scope  lathe.Scope
	last   int64
	joined []lathe.PartID

	group *group // its place in the index; the mutex of the bus guards it
	at    int

	changed chan struct{} // holds one after a change of queue or err

	mu    sync.Mutex // guards the fields below
	queue queue
	err   error // why it has ended
	skip  int64 // numbers up to here are known to the reader
	held  bool  // texts are left out until the bus has come to skip
}

// Last is the number of the last commit handed out before the subscription; all later
// ones come. It is the id of a stream that begins without a cursor.
func (s *Subscription) Last() int64 { return s.last }

// OpenTexts lists the texts that were open in scope when the subscription began, the
// oldest first.
func (s *Subscription) OpenTexts() []lathe.PartID { return slices.Clone(s.joined) }

// Skip says that the reader has meanwhile read the store up to number h, so that what is
// queued up to there, or comes late, is left out.
//
// Texts join anew behind what is queued, and only once the bus has handed out h as well:
// the store may be a moment ahead, and a part that it has shown as settled must not be
// opened again by what the bus still has of its text. So a reader that has noted h, or any
// later number, holds no open part whose settling is not still to come.
func (s *Subscription) Skip(h int64) {
	b := s.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	s.hold(h)
	if s.group != nil { // else it has ended
		b.held[s] = h
		b.release()
	}
}

// Next returns the next event and waits for one. It fails with [ErrLagged] once the queue
// has overflowed, with [ErrClosed] after a close, or with the cause of ctx; a context that
// is done comes before what is queued, and takes nothing from it.
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
		select { // without a goroutine or garbage: there is a wait for each delta
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

// wake lets the reader look. It may look in vain: what it is woken for may be taken
// already.
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

// event makes what is told of an item. Deltas and texts so far are made for one reader,
// so they get their ids here.
func (s *Subscription) event(it item) lathe.Event {
	e := it.readerEvent()
	if e.ID == "" {
		e.ID = s.bus.ids.Event()
	}
	return e
}

// push queues an item; false says that there was no room and the subscription has ended.
func (s *Subscription) push(it item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leavesOut(it) || s.add(it)
}

// grow queues a delta, by extending one that waits if that began after the part was told
// whole for the last time.
func (s *Subscription) grow(d item, told int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leavesOut(d) || s.queue.extend(d, told) || s.add(d)
}

// leavesOut reports whether the reader knows it already or will be told at once with
// the rest of its text.
func (s *Subscription) leavesOut(it item) bool {
	if it.text != nil {
		return s.held
	}
	return it.event.Seq > 0 && it.event.Seq <= s.skip
}

// hold takes out of the queue what is known up to h, and all that is told of texts.
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

// finish lets the reader come to the end of its queue.
func (s *Subscription) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = ErrClosed
	s.wake()
}
