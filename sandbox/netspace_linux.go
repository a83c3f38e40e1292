package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// A process that was started in a network namespace of its own makes the sockets there for
// lathe, which is outside: a socket stays in the namespace where it was made. Nothing else
// crosses.

// netOrder is a request to such a process; one member is set.
type netOrder struct {
	Listen []uint16 `json:"listen,omitempty"` // sockets that listen on these ports of its loopback, and its tables
	Dial   string   `json:"dial,omitempty"`   // a socket to connect with: tcp4 or tcp6
}

// netAnswer comes with the requested sockets, in the order of the request.
type netAnswer struct {
	Ports []uint16 `json:"ports,omitempty"` // of the sockets that listen; the two tables follow
	Error string   `json:"error,omitempty"`
}

// serveNetwork does the first order, which waits already, and then others until the sender is
// gone. The process is in a network namespace of its own, in which nothing is up yet. Commands
// drop what it has of capabilities before they take over.
func serveNetwork(fd int) error {
	f := os.NewFile(uintptr(fd), "network")
	conn, err := net.FileConn(f)
	_ = f.Close() // conn has a copy
	if err != nil {
		return fmt.Errorf("the socket of the network: %w", err)
	}
	control, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("the socket of the network is of another kind")
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	if err := obeyNext(control); err != nil {
		return err
	}
	go func() { // until the socket is closed, which the end of lathe does
		for obeyNext(control) == nil {
		}
		_ = control.Close()
	}()
	return nil
}

// obeyNext does one order. That it cannot listen is its own error: without that nothing is started.
func obeyNext(control *net.UnixConn) error {
	buf := make([]byte, 4<<10)
	n, err := control.Read(buf)
	if err != nil || n == 0 {
		return errors.Join(errors.New("no request for sockets arrived"), err)
	}
	var o netOrder
	if err := json.Unmarshal(buf[:n], &o); err != nil {
		return err
	}
	if o.Dial != "" {
		files, err := dialSocket(o.Dial)
		answerNetwork(control, newNetAnswer(nil, err), files)
		return nil
	}
	ports, files, err := listenSockets(o.Listen)
	if err == nil {
		answerNetwork(control, newNetAnswer(ports, nil), files)
	}
	return err
}

func newNetAnswer(ports []uint16, err error) netAnswer {
	if err != nil {
		return netAnswer{Error: err.Error()}
	}
	return netAnswer{Ports: ports}
}

func answerNetwork(control *net.UnixConn, a netAnswer, files []*os.File) {
	b, err := json.Marshal(a)
	if err != nil {
		return
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, _ = control.WriteMsgUnix(b, oob, nil) // to the dead there is nothing to say
	closeAll(files...)                          // they have theirs
}

func dialSocket(kind string) ([]*os.File, error) {
	family := unix.AF_INET
	if kind == "tcp6" {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a socket: %w", err)
	}
	return []*os.File{os.NewFile(uintptr(fd), "socket")}, nil
}

// listenSockets listens on ports of the loopback, by IPv6 too where there is one, and opens the tables
// of sockets.
func listenSockets(ports []uint16) (at []uint16, files []*os.File, err error) {
	defer func() {
		if err != nil {
			closeAll(files...)
		}
	}()
	for _, port := range ports {
		for _, sa := range []unix.Sockaddr{&unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}, &unix.SockaddrInet6{Port: int(port), Addr: [16]byte{15: 1}}} {
			f, err := listenSocket(sa)
			_, six := sa.(*unix.SockaddrInet6)
			if err != nil && six {
				continue // there is none on this machine
			}
			if err != nil {
				return nil, files, fmt.Errorf("listen on port %d of the sandbox: %w", port, err)
			}
			at, files = append(at, port), append(files, f)
		}
	}
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			f, err = os.Open(os.DevNull) // a kernel without IPv6
		}
		if err != nil {
			return nil, files, fmt.Errorf("read the ports of the sandbox: %w", err)
		}
		files = append(files, f)
	}
	return at, files, nil
}

func listenSocket(sa unix.Sockaddr) (*os.File, error) {
	family := unix.AF_INET
	if _, six := sa.(*unix.SockaddrInet6); six {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "listener")
	if family == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	if err = errors.Join(err, unix.Bind(fd, sa)); err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// loopbackUp brings up the only interface there is.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring up the loopback of the sandbox: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring up the loopback of the sandbox: %w", err)
	}
	return nil
}
