//go:build unix

package main

import (
	"context"
	"net"
	"sync"
)

// proxy is a TCP connection between a node and a service that can be cut.
type proxy struct {
	listener net.Listener
	live     sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	heal   *sync.Cond
	target string
	link   link
	closed bool
	conns  map[net.Conn]bool
}

// link is the state of a network.
type link int

const (
	whole   link = iota
	stalled      // nothing arrives and nothing fails, as behind a broken switch; after it, all of it arrives
	cut          // connections are reset and refused
)

func newProxy(target string) (*proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, target: target, conns: map[net.Conn]bool{}}
	p.heal = sync.NewCond(&p.mu)
	p.live.Go(p.accept)
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// set changes the network.
func (p *proxy) set(to link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link = to
	if to == cut {
		p.reset()
	}
	p.heal.Broadcast()
}

// moveTo sends new connections to another address and ends the present ones.
func (p *proxy) moveTo(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	p.reset()
}

// reset closes all connections. The lock is held.
func (p *proxy) reset() {
	for c := range p.conns {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
		_ = c.Close()
	}
	clear(p.conns)
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.reset()
	p.heal.Broadcast()
	p.mu.Unlock()
	p.live.Wait()
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.live.Go(func() { p.serve(c) })
	}
}

// passes waits while the network is stalled, and reports whether a connection is still open.
func (p *proxy) passes(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.link == stalled && !p.closed && p.conns[c] {
		p.heal.Wait()
	}
	return p.conns[c]
}

// add registers a connection, unless there is no network.
func (p *proxy) add(c net.Conn) (target string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.link == cut {
		_ = c.Close()
		return "", false
	}
	p.conns[c] = true
	return p.target, true
}

func (p *proxy) remove(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	_ = c.Close()
	p.heal.Broadcast()
}

func (p *proxy) serve(in net.Conn) {
	target, ok := p.add(in)
	if !ok {
		return
	}
	defer p.remove(in)
	if !p.passes(in) {
		return
	}
	out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", target)
	if err != nil {
		return
	}
	if _, ok := p.add(out); !ok {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(out, in) })
	both.Go(func() { p.copy(in, out) })
	both.Wait()
}

// copy moves bytes until either side ends.
func (p *proxy) copy(to, from net.Conn) {
	defer p.remove(to)
	defer p.remove(from)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if !p.passes(from) {
			return
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}
