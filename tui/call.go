package tui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/toast"
)

// calls are those to the engine that are under way. The terminal library starts a goroutine for each and does
// not wait for them; we do.
type calls struct {
	mu     sync.Mutex // guards what follows
	closed bool
	wg     sync.WaitGroup
}

// enter begins a call, unless the program has ended.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Add(1)
	return true
}

// wait lets calls come to their end, which their context tells them to do, for at most so long.
func (c *calls) wait(most time.Duration) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	done := make(chan struct{})
	go func() { c.wg.Wait(); close(done) }()
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// then is what is done with the answer of a call, in Update.
type then func() tea.Cmd

// answered carries it there.
type answered struct {
	then then
	err  error
	what string
}

// callLimit is how long an engine may take for a call that should be quick.
const callLimit = 60 * time.Second

// call asks the engine something beside the screen. what says in words what is tried, for the note that tells
// of a failure.
func (p *program) call(what string, work func(ctx context.Context, e host.Engine) (then, error)) tea.Cmd {
	return p.longCall(what, func(ctx context.Context, e host.Engine) (then, error) {
		ctx, cancel := context.WithTimeout(ctx, callLimit)
		defer cancel()
		return work(ctx, e)
	})
}

// longCall is call for what may take as long as it takes.
func (p *program) longCall(what string, work func(ctx context.Context, e host.Engine) (then, error)) tea.Cmd {
	ctx, e := p.ctx, p.engine
	if e == nil {
		return p.say(toast.Warning, "Not ready yet: "+what)
	}
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		next, err := work(ctx, e)
		return answered{next, err, what}
	}
}

// answer goes on with what a call brought.
func (p *program) answer(a answered) tea.Cmd {
	var cmd tea.Cmd
	if a.err != nil && !errors.Is(a.err, context.Canceled) {
		p.log("%s: %v", a.what, a.err)
		cmd = p.say(toast.Error, fmt.Sprintf("Could not %s: %s", a.what, words(a.err)))
	}
	if a.then != nil {
		cmd = tea.Batch(cmd, a.then())
	}
	return cmd
}

// words are what an error says to people.
func words(err error) string {
	var e *lathe.Error
	if errors.As(err, &e) && e.Message != "" {
		return e.Message
	}
	return err.Error()
}
