package postgres

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgrestest"
)

// mute is a connection whose answers stop at some point: the server gets a message and the answer is lost.
type mute struct {
	net.Conn
	mu    sync.Mutex
	armed func([]byte) (cut, deliver bool)
	lost  bool
}

func (m *mute) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.armed != nil {
		if cut, deliver := m.armed(b); cut {
			m.lost = true
			if !deliver {
				_ = m.Conn.Close()
				return 0, net.ErrClosed
			}
		}
	}
	return m.Conn.Write(b)
}

func (m *mute) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost {
		_ = m.Conn.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// A commit whose answer is lost is neither reported as lost nor done twice.
func TestCommit_AnswerIsLost(t *testing.T) {
	server, err := postgrestest.Start(postgrestest.Options{})
	if errors.Is(err, postgrestest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for _, c := range []struct {
		name    string
		deliver bool
	}{{"after the server got it", true}, {"before the server got it", false}} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Open(t.Context(), Options{DSN: server.Fresh(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			var last *mute
			dial := d.config.DialFunc
			d.config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				if last == nil { // others come to cancel and to ask
					last = &mute{Conn: conn}
					return last, err
				}
				return conn, err
			}
			_ = d.write.close()
			tx, err := d.Begin(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(`UPDATE feed SET counter = 7`); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(); err != nil { // which prepares the statements of the next one
				t.Fatal(err)
			}
			if tx, err = d.Begin(t.Context(), true); err == nil {
				_, err = tx.Exec(`UPDATE feed SET counter = 9`)
			}
			if err != nil {
				t.Fatal(err)
			}
			last.mu.Lock()
			last.armed = func([]byte) (bool, bool) { return true, c.deliver }
			last.mu.Unlock()
			err = tx.Commit()
			if c.deliver && err != nil || !c.deliver && !errors.Is(err, store.ErrLost) {
				t.Errorf("commit: %v", err)
			}
			counter := int64(-1)
			err = d.Read(t.Context(), func(r store.Reader) error {
				return r.Query(`SELECT counter FROM feed`, nil, func(row store.Row) error {
					counter = row.Int(0)
					return nil
				})
			})
			if want := map[bool]int64{true: 9, false: 7}[c.deliver]; err != nil || counter != want {
				t.Errorf("counter %d, want %d (%v)", counter, want, err)
			}
		})
	}
}

func TestEscape_KeepsAnyBytes(t *testing.T) {
	for _, s := range []string{"", "plain", "\x00", "\xff", escape, escape + "00", "a" + escape + "\x00\xe2\x82", "\xf4\x8f\xbf"} {
		e := escapeText(s)
		if got := unescapeText(e); got != s {
			t.Errorf("%q became %q and then %q", s, e, got)
		}
	}
	for _, damaged := range []string{escape, escape + "0", escape + "zz", "a" + escape} { // not ours, and no crash
		_ = unescapeText(damaged)
	}
}
