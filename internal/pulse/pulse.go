// Package pulse calls a function at an interval while it has users, and runs no goroutine otherwise. All methods may be
// called by many goroutines. Start reading at Pulse.
package pulse

import (
	"context"
	"sync"
	"time"
)

// Pulse calls a function at an interval while it has users.
type Pulse struct {
	every time.Duration
	beat  func()

	mu    sync.Mutex // guards the fields below
	users int
	stop  context.CancelFunc
	ended chan struct{} // closed when the goroutine has ended
}

// New returns a pulse without users.
func New(every time.Duration, beat func()) *Pulse { return &Pulse{every: every, beat: beat} }

// Enter adds a user until the returned function is called.
func (p *Pulse) Enter() (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users++; p.users == 1 {
		ctx, stop := context.WithCancel(context.Background())
		p.stop, p.ended = stop, make(chan struct{})
		go p.run(ctx, p.ended)
	}
	return p.leave
}

// leave removes a user. The last one ends the goroutine and waits for it.
func (p *Pulse) leave() {
	p.mu.Lock()
	p.users--
	last, stop, ended := p.users == 0, p.stop, p.ended
	p.mu.Unlock()
	if last {
		stop()
		<-ended
	}
}

func (p *Pulse) run(ctx context.Context, ended chan<- struct{}) {
	defer close(ended)
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.beat()
		}
	}
}
