package plugin

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

const (
	eventHook = "event"
	// deltaHook is the hook that a plugin lists to receive growing texts too.
	deltaHook = "event.part.delta"

	queueMost = 4096      // events that wait for one process
	batchMost = 64        // events in one message
	batchSize = 256 << 10 // bytes in one message, but for a single event
	eventTime = 10 * time.Second
)

// Event sends an event to the plugins that listen. It never blocks: events they cannot take are
// dropped and counted, and of several queued states of one part only the last is sent. Before
// the plugins are loaded some events are queued for them; an event alone does not load them.
func (c *Hub) Event(e lathe.Event) {
	if len(c.members) == 0 || e.Fact == nil {
		return
	}
	if !c.started.Load() {
		c.mu.Lock()
		if !c.started.Load() { // asked again under the lock, with which it is set
			if _, delta := e.Fact.(*lathe.PartDelta); !delta && len(c.early) < earlyMost {
				c.early = append(c.early, e)
			}
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
	}
	c.spread(e)
}

// spread puts an event into the queue of each process with a listener.
func (c *Hub) spread(e lathe.Event) {
	hook := eventHook
	if _, delta := e.Fact.(*lathe.PartDelta); delta {
		hook = deltaHook
	}
	for _, p := range c.processes() {
		for _, m := range p.plugins {
			if m.has(hook) {
				p.events.add(e)
				break
			}
		}
	}
}

// queue holds the events for one process. Its goroutine runs while there are some.
type queue struct {
	peer *supervisor

	mu         sync.Mutex
	waiting    []lathe.Event
	parts      map[lathe.PartID]int // where in waiting the last state of a part is
	busy       bool
	closed     bool
	dropped    int // altogether
	unreported int // since the last message
}

func newQueue(p *supervisor) *queue { return &queue{peer: p, parts: map[lathe.PartID]int{}} }

// add queues an event and replaces an older state of the same part, so that a slow plugin gets the newest.
func (q *queue) add(e lathe.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	part, isPart := e.Fact.(*lathe.PartChanged)
	if isPart {
		if i, ok := q.parts[part.Part.ID]; ok {
			q.waiting[i] = e
			return
		}
	}
	if len(q.waiting) >= queueMost {
		q.dropped++
		q.unreported++
		return
	}
	if isPart {
		q.parts[part.Part.ID] = len(q.waiting)
	} else {
		// A state after this event must not be sent before it.
		clear(q.parts)
	}
	q.waiting = append(q.waiting, e)
	if !q.busy && q.peer.hub.enter() == nil {
		q.busy = true
		go q.run()
	}
}

// run sends what waits until nothing does.
func (q *queue) run() {
	defer q.peer.hub.work.Done()
	for {
		batch, dropped := q.next()
		if batch == nil {
			return
		}
		q.send(batch, dropped)
	}
}

// next takes the events of one message; nil means that there are none and run ends.
func (q *queue) next() ([]lathe.Event, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 || q.closed {
		q.busy = false
		q.waiting = nil
		return nil, 0
	}
	n := min(len(q.waiting), batchMost)
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	clear(q.parts)
	dropped := q.unreported
	q.unreported = 0
	return batch, dropped
}

// send sends events to a process; one that does not read them loses them.
func (q *queue) send(batch []lathe.Event, dropped int) {
	ctx, cancel := context.WithTimeoutCause(q.peer.hub.life, eventTime, errSlow)
	defer cancel()
	l, err := q.peer.ready(ctx)
	if err != nil {
		q.lose(len(batch))
		return
	}
	for len(batch) > 0 {
		list := []byte{'['}
		n := 0
		for n < len(batch) && (n == 0 || len(list) < batchSize) {
			if n > 0 {
				list = append(list, ',')
			}
			list = batch[n].AppendJSON(list)
			n++
		}
		o := (&object{}).raw("events", json.RawMessage(append(list, ']')))
		if dropped > 0 {
			o.num("dropped", dropped)
		}
		if err := l.conn.Notify(ctx, "event", o.done()); err != nil {
			q.lose(len(batch))
			if ctx.Err() != nil {
				l.suspect(nil)
			}
			return
		}
		batch, dropped = batch[n:], 0
	}
}

func (q *queue) lose(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += n
	q.unreported += n
}

func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}
