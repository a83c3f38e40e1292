package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// queue gives out the places of requests to models. Those who wait have their turn by session:
// one that makes many requests waits behind each other one that waits, not the others behind
// all of its own. Of one session who came first is first.
type queue struct {
	mu    sync.Mutex // guards the fields below
	free  int
	lines map[lathe.SessionID][]*ticket // of those who wait
	order []lathe.SessionID             // whose turn is next; each session that waits, once
}

// ticket is one who waits.
type ticket struct{ given chan struct{} } // closed when it has a place

func newQueue(places int) *queue {
	return &queue{free: places, lines: map[lathe.SessionID][]*ticket{}}
}

// enter waits for a place; leave gives it back.
func (q *queue) enter(ctx context.Context, session lathe.SessionID) (leave func(), err error) {
	q.mu.Lock()
	if q.free > 0 { // then nobody waits
		q.free--
		q.mu.Unlock()
		return q.leave, nil
	}
	t := &ticket{given: make(chan struct{})}
	if len(q.lines[session]) == 0 {
		q.order = append(q.order, session)
	}
	q.lines[session] = append(q.lines[session], t)
	q.mu.Unlock()
	select {
	case <-t.given:
		return q.leave, nil
	case <-ctx.Done():
	}
	if !q.forget(session, t) {
		q.leave() // it was given in the same instant
	}
	return nil, context.Cause(ctx)
}

// forget takes back a ticket, and reports whether it was still waiting.
func (q *queue) forget(session lathe.SessionID, t *ticket) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.lines[session], t)
	if at < 0 {
		return false
	}
	q.setLine(session, slices.Delete(q.lines[session], at, at+1))
	if len(q.lines[session]) == 0 {
		q.order = slices.DeleteFunc(q.order, func(s lathe.SessionID) bool { return s == session })
	}
	return true
}

// leave gives a place to the next one.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		q.free++
		return
	}
	session := q.order[0]
	q.order = q.order[1:]
	line := q.lines[session]
	q.setLine(session, line[1:])
	if len(line) > 1 {
		q.order = append(q.order, session)
	}
	close(line[0].given)
}

// setLine keeps no line that is empty. The mutex is held.
func (q *queue) setLine(session lathe.SessionID, line []*ticket) {
	if len(line) == 0 {
		delete(q.lines, session)
		return
	}
	q.lines[session] = line
}

// waiting is how many have no place.
func (q *queue) waiting() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, line := range q.lines {
		n += len(line)
	}
	return n
}

// enter waits for a place among the requests under way; leave gives it back.
func (e *Engine) enter(ctx context.Context, session lathe.SessionID) (leave func(), err error) {
	began := time.Now()
	give, err := e.places.enter(ctx, session)
	if err != nil {
		return nil, err
	}
	e.meters.waited.Observe(time.Since(began))
	e.meters.asking.Add(1)
	return func() {
		e.meters.asking.Add(-1)
		give()
	}, nil
}
