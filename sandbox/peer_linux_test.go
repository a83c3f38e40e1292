package sandbox_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/sandbox"
)

// connectAs is a client that sends a byte, and keeps its socket in some way or leaves.
func connectAs(how, address string) error {
	network := "tcp"
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	if how == "thread" { // whose files are its own
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_FILES); err != nil {
			return err
		}
	}
	fd, err := dialRaw(network, address)
	if err != nil {
		return err
	}
	switch how {
	case "leave":
		_, err := unix.Write(fd, []byte("x"))
		return errors.Join(err, unix.Close(fd))
	case "undumpable":
		err = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	case "send away": // into a queue, where no process has it
		var pair [2]int
		if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
			err = unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(fd), nil, 0)
		}
	}
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, []byte("x")); err != nil {
		return err
	}
	if how == "send away" {
		_ = unix.Close(fd)
		select {}
	}
	_, _ = unix.Read(fd, make([]byte, 1)) // until the server closes
	return nil
}

func dialRaw(network, address string) (int, error) {
	if network == "unix" {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrUnix{Name: address})
		}
		return fd, err
	}
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return 0, err
	}
	if ip := a.IP.To4(); ip != nil {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(ip)})
		}
		return fd, err
	}
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrInet6{Port: a.Port, Addr: [16]byte(a.IP)})
	}
	return fd, err
}

// judged accepts one connection, waits until the client has done what it wants, and judges it.
func judged(t *testing.T, l net.Listener, p *sandbox.PeerChecker, ended <-chan struct{}) error {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if ended != nil {
		<-ended
	}
	return p.Check(c)
}

func TestPeers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	for name, where := range map[string][2]string{
		"loopback": {"tcp", "127.0.0.1:0"}, "loopback 6": {"tcp", "[::1]:0"}, "both": {"tcp", ":0"}, "socket": {"unix", socket},
	} {
		l, err := net.Listen(where[0], where[1])
		if err != nil {
			t.Logf("%s is not there: %v", name, err)
			continue
		}
		t.Cleanup(func() { _ = l.Close() })
		address := l.Addr().String()
		if name == "both" {
			address = strings.Replace(address, "[::]", "127.0.0.1", 1)
		}
		for _, how := range []string{"stay", "leave", "undumpable", "thread", "send away"} {
			t.Run(name+" "+how, func(t *testing.T) {
				r := open(t, sandbox.Config{Launcher: sandbox.Self(), Grace: 100 * time.Millisecond})
				p := &sandbox.PeerChecker{Runner: r}
				// The user's own client, while no command has run: nothing is looked at.
				if err := p.Check(byUser(t, l, self, how, address)); err != nil {
					t.Errorf("no command runs, and the user's own client: %v", err)
				}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_, _ = r.Run(ctx, sandbox.Command{Path: self, Args: []string{"attempt", how, address}, Dir: "/"}, func([]byte) {})
				}()
				wait := ended
				if how != "leave" {
					wait = nil
				}
				if err := judged(t, l, p, wait); !errors.Is(err, sandbox.ErrCommandPeer) {
					t.Errorf("a command: %v", err)
				}
				stop()
				<-ended
				err := p.Check(byUser(t, l, self, how, address))
				found := how == "stay" || how == "thread" || how == "undumpable" && os.Geteuid() == 0 || where[0] == "unix" && how != "leave"
				if found != (err == nil) {
					t.Errorf("after a command, the user's own client: %v", err)
				}
			})
		}
	}
}

// byUser is the connection of a client that no launcher is above of.
func byUser(t *testing.T, l net.Listener, self, how, address string) net.Conn {
	t.Helper()
	cmd := exec.Command(self, "attempt", how, address)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	if how == "leave" {
		_ = cmd.Wait()
	}
	return c
}

// A command that the user typed may use the server if nothing confines it.
func TestPeers_Own(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r := open(t, sandbox.Config{Launcher: sandbox.Self(), Grace: 100 * time.Millisecond})
	s, err := r.Start(sandbox.Command{Path: self, Args: []string{"attempt", "stay", l.Addr().String()}, Dir: "/", UserTyped: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := judged(t, l, &sandbox.PeerChecker{Runner: r}, nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func BenchmarkPeers_NoCommand(b *testing.B) {
	p := &sandbox.PeerChecker{Runner: sandbox.Open(sandbox.Config{})}
	c, _ := net.Pipe()
	for b.Loop() {
		if err := p.Check(c); err != nil {
			b.Fatal(err)
		}
	}
}
