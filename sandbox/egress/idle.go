package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// idleTime is how long a connection may carry nothing, either way, before it is closed.
const idleTime = 30 * time.Minute

// idleConn is a connection that ends when nothing was carried for some time. Deadlines that are set
// count in its place.
type idleConn struct {
	net.Conn
	idle time.Duration
	last atomic.Int64 // when a byte was carried, in Unix nanoseconds

	mu          sync.Mutex // held while a deadline is set, so that the one of a caller wins
	read, write bool       // a caller has set one
}

func newIdleConn(c net.Conn) *idleConn {
	out := &idleConn{Conn: c, idle: idleTime}
	out.touch(1)
	return out
}

func (c *idleConn) touch(n int) {
	if n > 0 {
		c.last.Store(time.Now().UnixNano())
	}
}

func (c *idleConn) Read(b []byte) (int, error) {
	return c.wait(&c.read, c.Conn.SetReadDeadline, func() (int, error) { return c.Conn.Read(b) })
}

func (c *idleConn) Write(b []byte) (int, error) {
	return c.wait(&c.write, c.Conn.SetWriteDeadline, func() (int, error) { return c.Conn.Write(b) })
}

// wait does one read or write, and again if the time is up while the other way is busy.
func (c *idleConn) wait(taken *bool, limit func(time.Time) error, do func() (int, error)) (int, error) {
	for {
		until := time.Unix(0, c.last.Load()).Add(c.idle)
		c.mu.Lock()
		ours := !*taken
		if ours {
			_ = limit(until) // of a closed connection; do says so
		}
		c.mu.Unlock()
		n, err := do()
		c.touch(n)
		if n == 0 && ours && errors.Is(err, os.ErrDeadlineExceeded) && time.Unix(0, c.last.Load()).Add(c.idle).After(time.Now()) {
			continue
		}
		return n, err
	}
}

func (c *idleConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = !t.IsZero()
	return c.Conn.SetReadDeadline(t)
}

func (c *idleConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write = !t.IsZero()
	return c.Conn.SetWriteDeadline(t)
}

func (c *idleConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite tells the other side that nothing more comes.
func (c *idleConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// carry passes bytes between two connections until both ways have ended, and closes them. first is
// what was already read from a.
func carry(ctx context.Context, a, b net.Conn, first io.Reader) {
	stop := context.AfterFunc(ctx, func() { _, _ = a.Close(), b.Close() })
	defer stop()
	defer func() { _, _ = a.Close(), b.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		pass(b, first)
	}()
	pass(a, b)
	<-done
}

func pass(to net.Conn, from io.Reader) {
	_, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	half, ok := to.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		_ = to.Close() // the other way cannot be of use
	}
}
