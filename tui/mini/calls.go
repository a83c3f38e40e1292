package mini

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// calls counts the running calls of the engine.
type calls struct {
	done chan func() // continuations for the loop

	mu     sync.Mutex // guards the fields below
	closed bool
	wg     sync.WaitGroup
}

// enter registers a call, unless the program has ended.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Add(1)
	return true
}

// wait waits for the calls, whose context has ended, up to a timeout.
func (c *calls) wait(most time.Duration) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	done := make(chan struct{})
	go func() { c.wg.Wait(); close(done) }() // leaks only when the program exits anyway
	select {
	case <-done:
	case <-time.After(most):
	}
}

// inBackground runs work in a goroutine. The function that it returns runs in the loop.
func (p *program) inBackground(work func(ctx context.Context) func()) {
	if !p.calls.enter() {
		return
	}
	go func() {
		defer p.calls.wg.Done()
		if then := work(p.ctx); then != nil {
			select {
			case p.calls.done <- then:
			case <-p.ctx.Done():
			}
		}
	}()
}

// call runs work with the engine in the background. what names the attempt for the notice about a failure.
func (p *program) call(what string, work func(ctx context.Context, e Engine) (func(), error)) {
	e := p.engine
	if e == nil {
		p.face.note("Still starting: cannot " + what + " yet")
		return
	}
	p.active++ // in the loop, as all callers of call
	p.inBackground(func(ctx context.Context) func() {
		then, err := work(ctx, e)
		return func() {
			p.active--
			if err != nil && !errors.Is(err, context.Canceled) {
				p.face.note("Could not " + what + ": " + errorText(err))
			}
			if then != nil {
				then()
			}
		}
	})
}

// errorText is the message of an error for the user.
func errorText(err error) string {
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Message != "" {
		return e.Message
	}
	return err.Error()
}
