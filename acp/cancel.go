package acp

import (
	"context"
	"sync"

	"github.com/lathe-agent/lathe"
)

// cancels are the notifications that cancel turns, from the moment they are read: they are handled at once with
// requests, and without this one that is handled late would cancel the next turn.
type cancels struct {
	mu   sync.Mutex
	open map[lathe.SessionID]*openCancels
}

type openCancels struct {
	n    int
	last int64         // number of the newest among all messages
	done chan struct{} // closed when all are handled
}

// begin is for the goroutine that reads.
func (c *cancels) begin(id lathe.SessionID, number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.open[id]
	if o == nil {
		o = &openCancels{done: make(chan struct{})}
		c.open[id] = o
	}
	o.n++
	o.last = number
}

func (c *cancels) end(id lathe.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.open[id]
	if o.n--; o.n == 0 {
		close(o.done)
		delete(c.open, id)
	}
}

// wait waits until no notification of a session is being handled, and reports whether one came after a message.
func (c *cancels) wait(ctx context.Context, id lathe.SessionID, number int64) (after bool) {
	c.mu.Lock()
	o := c.open[id]
	c.mu.Unlock()
	if o == nil {
		return false
	}
	select {
	case <-o.done:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return o.last > number
}

// cancelTurn cancels the turns of a session that were asked for before a message. Repeated requests join the one that
// is running.
func (l *loop) cancelTurn(id lathe.SessionID, before int64) {
	var begin bool
	err := l.run(l.ctx, func() {
		v := l.views[id]
		if v == nil {
			return
		}
		begin = l.canceling[id] == 0
		if v.root.view == v {
			for _, t := range v.root.turns {
				if t.number < before && !t.canceled {
					begin, t.canceled = true, true
				}
			}
		}
		if begin {
			l.canceling[id]++
		}
	})
	if err != nil || !begin {
		return
	}
	ctx, stop := context.WithTimeout(l.ctx, closeTime)
	defer stop()
	if err := l.backend.Cancel(ctx, id); err != nil {
		l.server.Log.Warn("acp: turn not canceled", "session", id, "error", err)
	}
	_ = l.run(l.ctx, func() { // or the loop has ended
		if l.canceling[id]--; l.canceling[id] == 0 {
			delete(l.canceling, id)
		}
	})
}

// revoke cancels the turn of a request if the client revoked it, and reports that. A turn whose client is gone can be resumed.
func (l *loop) revoke(ctx context.Context, id lathe.SessionID, t *turn) bool {
	if ctx.Err() == nil || l.server.conn.Err() != nil {
		return false
	}
	l.cancelTurn(id, t.number+1)
	return true
}
