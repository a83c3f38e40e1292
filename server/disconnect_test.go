package server_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

// TestDisconnect_LeavesTheTurnRunning goes away while a prompt is being answered: before the model
// has said anything, in the middle of its words, and while a tool works.
func TestDisconnect_LeavesTheTurnRunning(t *testing.T) {
	for name, c := range map[string]struct{ script, until string }{
		"before the first word": {"pause 200ms\ntext \"done\"\nfinish stop", "session.status"},
		"in the middle":         {"text \"half \"\npause 200ms\ntext \"done\"\nfinish stop", "message.part.delta"},
		"while a tool works":    {"call wait {\"ms\":200}\nfinish tool-calls\n--\ntext \"done\"\nfinish stop", "message.part.updated"},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, c.script)
			s := w.session()
			l := w.listen("/event")
			l.next()
			ctx, leave := context.WithCancel(t.Context())
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				r, _ := http.NewRequestWithContext(ctx, "POST", w.url+"/session/"+string(s.ID)+"/message", strings.NewReader(prompt("hi")))
				r.Header.Set("Content-Type", "application/json")
				if res, err := w.http.Do(r); err == nil {
					res.Body.Close()
				}
			}()
			l.until(c.until)
			leave()
			<-gone
			l.until("session.idle")
			var all []lathe.Message
			w.want(http.StatusOK, &all, "GET", "/session/"+string(s.ID)+"/message", "")
			last := all[len(all)-1]
			if a := last.Data.(*lathe.Assistant); a.Error != nil || !strings.HasSuffix(textOf(last), "done") {
				t.Errorf("the turn ended with %s", last.AppendJSON(nil))
			}
		})
	}
}

// TestDisconnect_HalfRequests ends connections in the middle of requests; the server continues.
func TestDisconnect_HalfRequests(t *testing.T) {
	addr := served(t, server.Options{Directory: t.TempDir()})
	whole := "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n" + `{"title":"x"}`
	for n := 0; n < len(whole); n += 7 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, whole[:n])
		c.Close()
	}
	if got := send(t, addr, "GET /session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("afterwards: %s", got)
	}
}

// pipes is a listener whose connections need no socket, so that time can be made to pass.
type pipes struct {
	ready chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.ready:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// TestLimits_SlowClients sends headers and bodies that never end, a byte now and then.
func TestLimits_SlowClients(t *testing.T) {
	for name, c := range map[string]struct {
		begin, drip string
		most        time.Duration
		want        string
	}{
		"headers":             {"GET /session HTTP/1.1\r\nHost: localhost\r\nX-A: ", "a", 15 * time.Second, ""},
		"a silent body":       {"POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n{", "", 30 * time.Second, "HTTP/1.1 400"},
		"a body drop by drop": {"PATCH /global/config HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n{", " ", 6 * time.Minute, "HTTP/1.1 408"},
		"a body nobody wants": {"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n{", "", 15 * time.Second, "HTTP/1.1 404"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &pipes{ready: make(chan net.Conn), done: make(chan struct{})}
				ctx, stop := context.WithCancel(t.Context())
				s, ended := server.New(server.Backend{}, server.Options{Directory: "/"}), make(chan error, 1)
				go func() { ended <- s.Serve(ctx, l) }()
				mine, theirs := net.Pipe()
				l.ready <- theirs
				began := time.Now()
				var dripping sync.WaitGroup
				dripping.Go(func() {
					_, err := io.WriteString(mine, c.begin)
					for err == nil && c.drip != "" {
						time.Sleep(5 * time.Second)
						_, err = io.WriteString(mine, c.drip)
					}
				})
				line, _ := bufio.NewReader(mine).ReadString('\n')
				if took := time.Since(began); took > c.most || !strings.HasPrefix(line, c.want) {
					t.Errorf("after %v came %q", took, line)
				}
				mine.Close()
				dripping.Wait()
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
