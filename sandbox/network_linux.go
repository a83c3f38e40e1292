package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/sandbox/egress"
)

// netTime is how long the process inside may take to make a socket, and portTick how often its ports
// are looked at.
const (
	netTime  = 30 * time.Second
	portTick = 250 * time.Millisecond
)

// network is lathe's side of a network namespace: the proxy, and the forwarded ports.
type network struct {
	control *net.UnixConn // to the process inside
	theirs  *os.File      // its end, until it is started
	list    egress.List
	ours    []uint16 // ports inside that we listen on
	private bool     // other ports are not forwarded
	never   func(netip.AddrPort) bool
	notes   notes

	asking sync.Mutex // held from an order to its answer
	life   sync.Mutex // held while it begins or ends

	tables []*os.File
	proxy  *egress.Proxy
	watch  sync.WaitGroup // for ports
	stop   context.CancelFunc
}

// newNetwork makes the socket to a process that is yet to be started.
func newNetwork(n Network, never func(netip.AddrPort) bool) (*network, error) {
	list, err := egress.Parse(n.Hosts)
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a socket for the network: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "network"), os.NewFile(uintptr(pair[1]), "network")
	conn, err := net.FileConn(ours)
	_ = ours.Close() // conn has a copy
	control, ok := conn.(*net.UnixConn)
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("a socket for the network: %w", err), theirs.Close())
	}
	w := &network{control: control, theirs: theirs, list: list, never: never, stop: func() {}, ours: list.LocalPorts(), private: n.Private}
	if !n.None() {
		w.ours = append(w.ours, proxyPort(list))
	}
	if err := w.order(netOrder{Listen: w.ours}); err != nil { // it waits there for the process
		w.close()
		return nil, err
	}
	return w, nil
}

// begin serves what the process inside listens on.
func (w *network) begin() error {
	if w == nil {
		return nil
	}
	w.life.Lock()
	defer w.life.Unlock()
	_ = w.theirs.Close() // or its death would not be noticed
	a, files, err := w.answer()
	if err != nil {
		return err
	}
	tables := len(a.Ports)
	if len(files) != tables+2 {
		closeAll(files...)
		return errors.New("the network of the sandbox: sockets got lost")
	}
	w.tables = files[tables:]
	w.proxy = egress.Open(egress.Config{List: w.list, Forbidden: w.never, OnRefusal: func(r *egress.Refusal) { w.notes.add(refusalNote(r)) }})
	for i, f := range files[:tables] {
		l, err := net.FileListener(f)
		_ = f.Close() // l has a copy
		if err != nil {
			closeAll(files[i+1 : tables]...)
			return fmt.Errorf("listen in the network of the sandbox: %w", err)
		}
		w.serve(l, a.Ports[i])
	}
	if w.private {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.watch.Go(func() {
		tick := time.NewTicker(portTick)
		defer tick.Stop()
		egress.ForwardPorts(ctx, egress.Namespace{Ports: w.ports, Dial: w.dial, PortTaken: func(port uint16, why error) {
			w.notes.add(fmt.Sprintf("Port %d is open in the sandbox only: this machine's 127.0.0.1:%d cannot be listened on (%v). Use another port if the user should reach it.", port, port, errors.Unwrap(why)))
		}}, tick.C)
	})
	return nil
}

func refusalNote(r *egress.Refusal) string {
	text := r.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func (w *network) serve(l net.Listener, port uint16) {
	if slices.Contains(w.list.LocalPorts(), port) {
		w.proxy.Forward(l, port)
	} else {
		w.proxy.Serve(l)
	}
}

// ask gives an order and waits for the answer.
func (w *network) ask(o netOrder) (netAnswer, []*os.File, error) {
	w.asking.Lock()
	defer w.asking.Unlock()
	if err := w.order(o); err != nil {
		return netAnswer{}, nil, err
	}
	return w.answer()
}

func (w *network) order(o netOrder) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(netTime))
	if _, err := w.control.Write(b); err != nil {
		return fmt.Errorf("ask for a socket of the sandbox: %w", err)
	}
	return nil
}

func (w *network) answer() (a netAnswer, _ []*os.File, err error) {
	_ = w.control.SetReadDeadline(time.Now().Add(netTime))
	buf, oob := make([]byte, 16<<10), make([]byte, 4<<10)
	n, m, _, _, err := w.control.ReadMsgUnix(buf, oob)
	if err != nil || n == 0 {
		return a, nil, fmt.Errorf("ask for a socket of the sandbox: it has ended (%w)", err)
	}
	files, err := passedFiles(oob[:m])
	if err = errors.Join(err, json.Unmarshal(buf[:n], &a)); err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	if err != nil {
		closeAll(files...)
		return a, nil, err
	}
	return a, files, nil
}

func passedFiles(oob []byte) (out []*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return out, err
		}
		for _, fd := range fds {
			out = append(out, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return out, nil
}

// ports are the ports with a listener inside.
func (w *network) ports() (out []netip.AddrPort, err error) {
	for _, t := range w.tables {
		if _, err := t.Seek(0, 0); err != nil {
			return nil, err
		}
		for _, at := range egress.Listening(t) {
			if !slices.Contains(w.ours, at.Port()) {
				out = append(out, at)
			}
		}
	}
	return out, nil
}

// dial connects to a port inside, from inside.
func (w *network) dial(at netip.AddrPort) (net.Conn, error) {
	kind, sa := "tcp6", unix.Sockaddr(&unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	if at.Addr().Is4() {
		kind, sa = "tcp4", &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	_, files, err := w.ask(netOrder{Dial: kind})
	if err != nil {
		return nil, err
	}
	defer closeAll(files...)
	if len(files) != 1 {
		return nil, errors.New("the network of the sandbox: a socket got lost")
	}
	fd := int(files[0].Fd())
	// The limit of sending is that of connecting as well.
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 10})
	if err := unix.Connect(fd, sa); err != nil {
		return nil, err
	}
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{})
	return net.FileConn(files[0])
}

// close ends the proxy and all forwarding.
func (w *network) close() {
	if w == nil {
		return
	}
	w.life.Lock()
	defer w.life.Unlock()
	w.stop()
	if w.proxy != nil {
		w.proxy.Close()
	}
	_ = w.control.Close() // no order waits for its answer any more
	w.watch.Wait()
	closeAll(w.tables...)
	_ = w.theirs.Close()
}
