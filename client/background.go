package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// errClosed says that a client was closed.
var errClosed = errors.New("the client is closed")

// tasks tracks background requests, which end with the client.
type tasks struct {
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	stops  map[*context.CancelCauseFunc]bool
}

// begin counts a request in; done must be called when it has ended. ctx belongs to its caller,
// who may leave.
func (t *tasks) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, errClosed
	}
	own, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	if t.stops == nil {
		t.stops = map[*context.CancelCauseFunc]bool{}
	}
	t.stops[&stop] = true
	t.running.Add(1)
	return own, func() {
		t.mu.Lock()
		delete(t.stops, &stop)
		t.mu.Unlock()
		stop(nil)
		t.running.Done()
	}, nil
}

// close ends all requests and waits for them.
func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	for stop := range t.stops {
		(*stop)(errClosed)
	}
	t.mu.Unlock()
	t.running.Wait()
}

// lookEvery is how often we look whether a prompt has been written.
const lookEvery = 25 * time.Millisecond

// SubmitCommand runs a slash command and returns its prompt when that is written. The server answers only when the
// session is idle, so the request stays open in the background. Later errors arrive as events of the session.
func (c *Client) SubmitCommand(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error) {
	if call.Message == "" {
		call.Message = c.ids.Message()
	}
	own, done, err := c.tasks.begin(ctx)
	if err != nil {
		return lathe.Message{}, err
	}
	ended := make(chan error, 1)
	go func() {
		defer done()
		_, err := c.Command(own, id, call)
		ended <- err
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return lathe.Message{}, err
			}
			return c.Message(ctx, id, call.Message)
		case <-ctx.Done():
			return lathe.Message{}, context.Cause(ctx)
		case <-tick.C:
			if m, err := c.Message(ctx, id, call.Message); err == nil {
				return m, nil
			}
		}
	}
}
