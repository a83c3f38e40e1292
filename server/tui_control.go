package server

import (
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// typeOf is the type that a pointer points to.
func typeOf(p any) reflect.Type { return reflect.TypeOf(p).Elem() }

// controlRequest is a request to terminal clients, as one that asks for it gets it.
type controlRequest struct {
	Path string          `json:"path"`
	Body json.RawMessage `json:"body"`
}

// control queues requests for clients that take them one by one. A directory has a queue only while
// clients ask for it now and then, or requests would pile up.
type control struct {
	mu   sync.Mutex // guards dirs
	dirs map[string]*controlQueue
}

type controlQueue struct {
	requests chan controlRequest
	asked    time.Time // time of the last request for the queue
	waiting  int       // number of waiting clients
}

const (
	maxControlRequests = 100         // requests that wait; more are dropped
	controlTime        = time.Minute // how long requests are queued after a client asked
)

// put queues a request if a client is there to take it.
func (q *control) put(dir string, r controlRequest) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, one := range q.dirs {
		if one.waiting == 0 && time.Since(one.asked) > controlTime {
			delete(q.dirs, name)
		}
	}
	if one := q.dirs[dir]; one != nil {
		select {
		case one.requests <- r:
		default: // a client this slow has missed it anyway
		}
	}
}

// enter counts a waiting client; leave removes it.
func (q *control) enter(dir string) (requests <-chan controlRequest, leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.dirs[dir]
	if one == nil {
		one = &controlQueue{requests: make(chan controlRequest, maxControlRequests)}
		if q.dirs == nil {
			q.dirs = map[string]*controlQueue{}
		}
		q.dirs[dir] = one
	}
	one.waiting++
	return one.requests, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		one.waiting--
		one.asked = time.Now()
	}
}

// nextControl waits for a request until the client goes away, or the server shuts down.
func (a *tuiAPI) nextControl(c *call, _, _ none) (controlRequest, error) {
	at, _, err := c.place()
	if err != nil {
		return controlRequest{}, err
	}
	ctx, stop := c.longContext()
	defer stop()
	requests, leave := a.control.enter(at.Directory)
	defer leave()
	select {
	case r := <-requests:
		return r, nil
	case <-ctx.Done():
		return controlRequest{}, lathe.Errorf(lathe.Unavailable, "the server is shutting down")
	}
}

// answerControl ignores the answer: the driver already has its response.
func (a *tuiAPI) answerControl(c *call, _ none, _ json.RawMessage) (bool, error) {
	_, _, err := c.place()
	return err == nil, err
}
