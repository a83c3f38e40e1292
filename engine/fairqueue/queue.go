// Package fairqueue is a semaphore that is fair between sessions: waiting sessions take turns,
// so a session with many requests does not delay the others. Within a session it is first come,
// first served.
package fairqueue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/metric"
)

// Queue gives out places. It is safe for use by many goroutines.
type Queue struct {
	Waited metric.Histogram // how long it took to get a place

	mu    sync.Mutex // guards the fields below
	size  int
	free  int
	lines map[lathe.SessionID][]*ticket // waiting tickets
	order []lathe.SessionID             // whose turn is next; each session that waits, once
}

// ticket is a waiting caller.
type ticket struct{ granted chan struct{} } // closed when it has a place

// New returns a queue for so many places.
func New(places int) *Queue {
	return &Queue{size: places, free: places, lines: map[lathe.SessionID][]*ticket{}}
}

// Acquire waits for a place; leave gives it back.
func (q *Queue) Acquire(ctx context.Context, session lathe.SessionID) (leave func(), err error) {
	began := time.Now()
	if err := q.wait(ctx, session); err != nil {
		return nil, err
	}
	q.Waited.Observe(time.Since(began))
	return q.release, nil
}

// wait queues the caller after other calls of its session and returns when a slot is its own.
func (q *Queue) wait(ctx context.Context, session lathe.SessionID) error {
	q.mu.Lock()
	if q.free > 0 { // then the queue is empty
		q.free--
		q.mu.Unlock()
		return nil
	}
	t := &ticket{granted: make(chan struct{})}
	if len(q.lines[session]) == 0 {
		q.order = append(q.order, session)
	}
	q.lines[session] = append(q.lines[session], t)
	q.mu.Unlock()
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
	}
	if !q.cancel(session, t) {
		q.release() // it was given in the same instant
	}
	return context.Cause(ctx)
}

// cancel withdraws a ticket and reports whether it was still waiting.
func (q *Queue) cancel(session lathe.SessionID, t *ticket) bool {
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

// release gives a place to the next one.
func (q *Queue) release() {
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
	close(line[0].granted)
}

// setLine stores a line, or deletes an empty one. The mutex is held.
func (q *Queue) setLine(session lathe.SessionID, line []*ticket) {
	if len(line) == 0 {
		delete(q.lines, session)
		return
	}
	q.lines[session] = line
}

// Counts are how many places are taken, and how many wait for one.
func (q *Queue) Counts() (taken, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, line := range q.lines {
		waiting += len(line)
	}
	return q.size - q.free, waiting
}
