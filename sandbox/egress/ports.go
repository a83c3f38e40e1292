package egress

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"iter"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Listening reads the addresses that are listened on from a table as /proc/net/tcp and tcp6 are.
func Listening(table io.Reader) (out []netip.AddrPort) {
	for s := range Sockets(table) {
		out = append(out, s.At)
	}
	return out
}

// Socket is a socket that listens.
type Socket struct {
	At    netip.AddrPort
	Inode string // its number; "" is not known
}

// Sockets yields the sockets of such a table that listen.
func Sockets(table io.Reader) iter.Seq[Socket] {
	const listening, inode = "0A", 9
	return func(yield func(Socket) bool) {
		lines := bufio.NewScanner(table)
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			if len(fields) < 4 || fields[3] != listening {
				continue
			}
			s := Socket{At: ParseTableAddr(fields[1])}
			if len(fields) > inode {
				s.Inode = fields[inode]
			}
			if s.At.Port() > 0 && !yield(s) {
				return
			}
		}
	}
}

// ParseTableAddr reads an address as the kernel prints it there: words of 32 bits in the order of the
// machine, and the port. What is none is the zero value.
func ParseTableAddr(text string) netip.AddrPort {
	host, service, _ := strings.Cut(text, ":")
	port, err := strconv.ParseUint(service, 16, 16)
	b, bad := hex.DecodeString(host)
	if err != nil || bad != nil || len(b)%4 != 0 {
		return netip.AddrPort{}
	}
	for word := range slices.Chunk(b, 4) {
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	addr, ok := netip.AddrFromSlice(b)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(port))
}

// Namespace is a network namespace as [Watch] needs it.
type Namespace struct {
	// Ports are the addresses that are listened on inside; ours are left out.
	Ports func() ([]netip.AddrPort, error)
	// Dial connects to one of them.
	Dial func(netip.AddrPort) (net.Conn, error)
	// PortTaken is called for a port that cannot be listened on outside, once for each time it
	// appears.
	PortTaken func(port uint16, why error)
}

// mostPorts are forwarded at once.
const mostPorts = 64

// ForwardPorts lets each port that is listened on inside be reached at the same port on the host's
// 127.0.0.1, as long as it is, until ctx ends or the ports can no longer be read. It looks with every
// tick. A port is forwarded the second time it is seen: tests open many for a moment.
func ForwardPorts(ctx context.Context, in Namespace, tick <-chan time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	w := watcher{in: in, seen: map[uint16]bool{}, open: map[uint16]*opened{}}
	defer w.close()
	defer cancel() // ends the connections
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		list, err := in.Ports()
		if err != nil {
			return
		}
		w.update(ctx, list)
	}
}

type watcher struct {
	in   Namespace
	seen map[uint16]bool    // once at least
	open map[uint16]*opened // nil could not be opened
	work sync.WaitGroup
}

// opened is a port that is forwarded.
type opened struct {
	listener net.Listener
	mu       sync.Mutex
	at       netip.AddrPort // inside
}

func (w *watcher) update(ctx context.Context, list []netip.AddrPort) {
	now := map[uint16]netip.AddrPort{}
	for _, at := range list {
		if old, ok := now[at.Port()]; !ok || old.Addr().Is6() {
			now[at.Port()] = reachable(at)
		}
	}
	for _, port := range slices.Sorted(maps.Keys(now)) {
		o, known := w.open[port]
		switch {
		case known && o != nil:
			o.mu.Lock()
			o.at = now[port]
			o.mu.Unlock()
		case !known && w.seen[port] && len(w.open) < mostPorts:
			w.open[port] = w.listen(ctx, now[port])
		}
		w.seen[port] = true
	}
	maps.DeleteFunc(w.seen, func(port uint16, _ bool) bool { return !now[port].IsValid() })
	maps.DeleteFunc(w.open, func(port uint16, o *opened) bool {
		gone := !now[port].IsValid()
		if gone && o != nil {
			_ = o.listener.Close()
		}
		return gone
	})
}

// reachable is an address at which a socket that listens on all of them can be reached.
func reachable(at netip.AddrPort) netip.AddrPort {
	switch {
	case !at.Addr().IsUnspecified():
		return at
	case at.Addr().Is4():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return netip.AddrPortFrom(netip.IPv6Loopback(), at.Port())
}

func (w *watcher) listen(ctx context.Context, at netip.AddrPort) *opened {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(at.Port()))))
	if err != nil {
		if w.in.PortTaken != nil {
			w.in.PortTaken(at.Port(), err)
		}
		return nil
	}
	o := &opened{listener: l, at: at}
	w.work.Go(func() {
		acceptAll(ctx, l, make(chan struct{}, mostConns), &w.work, func(c net.Conn) { w.carry(ctx, c, o) })
	})
	return o
}

func (w *watcher) carry(ctx context.Context, c net.Conn, o *opened) {
	o.mu.Lock()
	at := o.at
	o.mu.Unlock()
	there, err := w.in.Dial(at)
	if err != nil {
		_ = c.Close()
		return
	}
	carry(ctx, c, newIdleConn(there), c)
}

// close ends all forwarding.
func (w *watcher) close() {
	for _, o := range w.open {
		if o != nil {
			_ = o.listener.Close()
		}
	}
	w.work.Wait()
}
