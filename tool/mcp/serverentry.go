package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// Reconnecting to a server that ended: so often, with pauses that double. After a server has
// run for a while, the count starts over.
const (
	mostTries  = 5
	firstPause = time.Second
	mostPause  = 30 * time.Second
	steadyTime = time.Minute
	// refetchPause is the least time between two readings of lists that change.
	refetchPause = 500 * time.Millisecond
)

// serverEntry is one server of a hub: whether it is wanted, what it offers, and its connection.
type serverEntry struct {
	hub  *Hub
	def  Server
	wake chan struct{} // cuts the pause before an attempt short
	read sync.Once     // of the listing on disk

	mu      sync.Mutex
	now     state
	off     bool
	changed chan struct{} // closed and replaced when now changes
	quit    context.CancelFunc
	over    chan struct{} // closed when the goroutine that keeps it connected has returned; nil: there is none
	clash   []string      // tools left out because another server has their names
}

// state is the state of a server at one time.
type state struct {
	at     State
	err    error     // why the last attempt or connection ended
	known  *listing  // its offers; nil: not known yet
	since  time.Time // when that was last read from the server, where it comes from the disk
	proven bool      // it was connected since the hub was opened
	conn   *conn     // while it is connected
}

func newServerEntry(h *Hub, s Server) *serverEntry {
	p := &serverEntry{hub: h, def: s, wake: make(chan struct{}, 1), changed: make(chan struct{}), off: s.Disabled}
	p.now.at = Connecting
	if s.Disabled {
		p.now.at = Disabled
	}
	return p
}

// start connects to the server in the background, if it is enabled and no connection attempt is
// running.
func (p *serverEntry) start() {
	p.read.Do(p.recall)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off || p.over != nil {
		return
	}
	ctx, quit := context.WithCancel(p.hub.ctx)
	over := make(chan struct{})
	if !p.hub.spawn(func() {
		defer close(over)
		defer quit()
		p.keepConnected(ctx, over)
	}) {
		quit()
		p.now.at, p.now.err = Failed, errClosed
		return
	}
	p.quit, p.over = quit, over
	p.now.at = Connecting
	p.notify()
}

// errClosed is the error of a closed hub.
var errClosed = errors.New("the session's servers are being shut down")

// spawn runs f in a goroutine that Close waits for; false is that it is too late.
func (h *Hub) spawn(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.work.Go(f)
	return true
}

// notify wakes all who wait for a change; p.mu is held.
func (p *serverEntry) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// set changes the state, if over is still the goroutine in charge. A reader that sees the
// change also sees it in the hub.
func (p *serverEntry) set(over chan struct{}, change func(*state)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over != over {
		return false
	}
	change(&p.now)
	p.hub.noteChange()
	p.notify()
	return true
}

// stop switches the server off and waits for its end.
func (p *serverEntry) stop() {
	p.mu.Lock()
	over, quit := p.over, p.quit
	p.off, p.over, p.quit = true, nil, nil
	p.now.at, p.now.err, p.now.conn = Disabled, nil, nil
	p.hub.noteChange()
	p.notify()
	p.mu.Unlock()
	if over != nil {
		quit()
		<-over
	}
}

// on undoes stop; it connects to nothing yet.
func (p *serverEntry) on() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = false
}

// keepConnected connects, and connects again when the connection ends, until that is hopeless.
func (p *serverEntry) keepConnected(ctx context.Context, over chan struct{}) {
	for tries := 0; ; {
		began := time.Now()
		met, err := p.live(ctx, over)
		if ctx.Err() != nil { // the canceling caller has set the state
			p.give(over, Failed, errClosed)
			return
		}
		p.hub.o.Log.Info("mcp server disconnected", "server", p.def.Name, "error", p.show(err))
		if met && time.Since(began) > steadyTime {
			tries = 0
		}
		var denied *deniedError
		switch {
		case errors.As(err, &denied):
			p.give(over, denied.state, err)
			p.toast(p.absent(state{at: denied.state}).Error())
			return
		case !met && tries == 0: // it never worked: nothing says that waiting would help
			p.lost(over, err)
			return
		case tries >= mostTries:
			p.lost(over, fmt.Errorf("it ended %d times in a row: %w", tries+1, err))
			return
		}
		p.set(over, func(s *state) { s.at, s.err, s.conn = Connecting, err, nil })
		p.pause(ctx, p.hub.first<<tries)
		tries++
	}
}

// give ends the attempts with a state that lasts.
func (p *serverEntry) give(over chan struct{}, at State, err error) {
	p.set(over, func(s *state) {
		s.at, s.err, s.conn = at, err, nil
		p.over, p.quit = nil, nil
	})
}

// lost gives up a server that does not work, and tells the user: its tools are not there, and a
// model that misses them does not know of them.
func (p *serverEntry) lost(over chan struct{}, err error) {
	p.toast(p.absent(state{at: Failed, err: err}).Error() + "; lathe mcp debug " + p.def.Name + " shows more")
	p.give(over, Failed, err)
}

// pause waits before the next attempt. A call that needs the server does not.
func (p *serverEntry) pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(min(d, mostPause)):
	case <-p.wake:
	case <-ctx.Done():
	}
}

// live is one connection from its beginning to its end; met is that there was one.
func (p *serverEntry) live(ctx context.Context, over chan struct{}) (met bool, err error) {
	l, err := p.dial(ctx)
	if err != nil {
		return false, err
	}
	defer l.close()
	list, err := p.fetch(ctx, l)
	if err != nil {
		return false, err
	}
	p.adopt(over, l, list)
	for {
		select {
		case <-l.gone:
			return true, l.because(l.why())
		case <-l.ctx.Done():
			return true, l.because(errLost)
		case <-l.stale:
		}
		if list, err := p.fetch(ctx, l); err == nil {
			p.adopt(over, l, list)
		} else if ctx.Err() == nil {
			p.hub.o.Log.Warn("mcp lists could not be read again", "server", p.def.Name, "error", p.show(err))
		}
		select {
		case <-time.After(refetchPause):
		case <-l.gone:
		case <-l.ctx.Done():
		}
	}
}

// fetch asks a server what it offers.
func (p *serverEntry) fetch(ctx context.Context, l *conn) (*listing, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout(), p.slow("to list what it offers"))
	defer cancel()
	return l.list(ctx)
}

// adopt makes what a server offers known.
func (p *serverEntry) adopt(over chan struct{}, l *conn, list *listing) {
	var before *listing
	mine := p.set(over, func(s *state) {
		before = s.known
		s.at, s.err, s.known, s.proven, s.conn = Connected, nil, list, true, l
	})
	if !mine {
		return
	}
	if before.same(list) {
		p.confirmListing()
		return
	}
	p.saveListing(list)
	for _, note := range list.notes {
		p.hub.o.Log.Warn("mcp server", "server", p.def.Name, "note", note)
	}
	if !before.sameTools(list) {
		p.hub.o.Publish(&lathe.MCPToolsChanged{Server: p.def.Name})
	}
}

// freshTime is how long a listing is used before the server is asked again.
const freshTime = 24 * time.Hour

// fresh reports whether the server need not be asked what it offers.
func (p *serverEntry) fresh() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.known != nil && time.Since(p.now.since) < freshTime
}

// untried reports whether it has not been connected to yet.
func (p *serverEntry) untried() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over == nil && p.now.at == Connecting
}

func (p *serverEntry) isConnected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.conn != nil
}

// settled waits until the server is not about to be connected, or enough is known of it.
func (p *serverEntry) settled(ctx context.Context, enough func(state) bool) state {
	for {
		p.mu.Lock()
		now, news := p.now, p.changed
		p.mu.Unlock()
		between := now.at == Connecting || now.conn != nil && now.conn.ended() // which is about to be noticed
		if !between || enough(now) {
			return now
		}
		select {
		case <-news:
		case <-ctx.Done():
			return now
		}
	}
}

// connected returns the connection, waiting for it no longer than a call may take. A server that
// failed is tried once more; one that is off stays so.
func (p *serverEntry) connected(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	l := p.now.conn
	p.mu.Unlock()
	if l != nil && !l.ended() {
		return l, nil
	}
	p.start()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	wait, cancel := context.WithTimeout(ctx, p.timeout())
	defer cancel()
	now := p.settled(wait, func(s state) bool { return s.conn != nil && !s.conn.ended() })
	switch {
	case now.conn != nil && !now.conn.ended():
		return now.conn, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case wait.Err() != nil:
		return nil, lathe.Errorf(lathe.Unavailable, "MCP server %s: %w", p.def.Name, p.slow("to connect"))
	}
	return nil, p.absent(now)
}

// absent says why there is no connection, and what to do about it.
func (p *serverEntry) absent(s state) error {
	name := p.def.Name
	switch s.at {
	case Disabled:
		return lathe.Errorf(lathe.Unavailable, "MCP server %s is switched off", name)
	case NeedsAuth:
		return lathe.Errorf(lathe.Unauthorized, "MCP server %s needs a login; the user can run: lathe mcp auth %s", name, name)
	case NeedsClient:
		return lathe.Errorf(lathe.Unauthorized, "MCP server %s needs a login and registers no clients; the user must set \"oauth\": {\"clientId\": …} for it in the config", name)
	default:
		return lathe.Errorf(lathe.Unavailable, "MCP server %s is not connected: %s", name, p.show(s.err))
	}
}

func (p *serverEntry) timeout() time.Duration {
	switch {
	case p.def.Timeout > 0:
		return p.def.Timeout
	case p.hub.o.Timeout > 0:
		return p.hub.o.Timeout
	}
	return DefaultTimeout
}

// slow says that a deadline has passed.
func (p *serverEntry) slow(what string) error {
	return fmt.Errorf("it took longer than %v %s; raise \"timeout\" in its config", p.timeout(), what)
}

// show is an error as people and models may read it: one line without secrets.
func (p *serverEntry) show(err error) string {
	if err == nil {
		return "it has not been tried"
	}
	return hide(line(err.Error(), 1000), p.def.secrets())
}

// status is its entry in Status.
func (p *serverEntry) status() Status {
	p.mu.Lock()
	now, clash := p.now, p.clash
	p.mu.Unlock()
	s := Status{State: now.at}
	if now.err != nil {
		s.Error = p.show(now.err)
	}
	if list := now.offers(); list != nil {
		s.Tools, s.Notes = len(list.Tools)-len(clash), slices.Concat(list.notes, clash)
	}
	return s
}

// offers is what of the server can be used now; nil is nothing.
func (p *serverEntry) offers() *listing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.offers()
}

// offers is what of a server can be used: also while it is away, if it is likely to come back.
func (s state) offers() *listing {
	switch s.at {
	case Connected, Connecting:
		return s.known
	case Failed:
		if s.proven { // a call tries again
			return s.known
		}
	}
	return nil
}

// toast shows a problem that only the user can fix.
func (p *serverEntry) toast(message string) {
	p.hub.o.Publish(&lathe.TUIToast{Title: "MCP: " + phrase.Shorten(clean(p.def.Name), 100), Message: message, Variant: "warning", Duration: 8000})
}
