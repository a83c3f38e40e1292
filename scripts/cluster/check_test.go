//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

const session = lathe.SessionID("ses_1")

// noticed are the violations of a session that n1.1 had from second 1 and n2.1 from second 9, with a call k1 at second 2
// of the process asked, and these lines in its file of marks, with seconds instead of nanoseconds.
func noticed(t *testing.T, asked string, lines ...string) string {
	t.Helper()
	second := func(n int) time.Time { return time.Unix(int64(1000+n), 0) }
	c := &cluster{dir: t.TempDir()}
	c.primary.Store(&postgres{})
	c.place = c.dir
	l := newLoad(c)
	l.provider = &provider{calls: map[string]call{}}
	if err := os.MkdirAll(l.effects(), 0o755); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, line := range lines {
		var key string
		var n int
		if _, err := fmt.Sscan(line, &key, &n); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s %d\n", key, second(n).UnixNano())
	}
	if err := os.WriteFile(filepath.Join(l.effects(), string(session)), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	history := []lathe.Message{{Session: session, Data: &lathe.Assistant{Completed: 1}, Parts: []lathe.Part{{Body: &lathe.ToolCall{
		CallID: "call_k1", Tool: "bash", State: &lathe.Completed{Input: json.RawMessage(`{}`), Metadata: json.RawMessage(`{"exit":0}`), Start: 1, End: 2},
	}}}}}
	changes := []lease{{at: second(1), life: "n1.1", epoch: 5}, {at: second(9), life: "n2.1", epoch: 8}}
	if err := l.calls(session, history, map[string]call{"k1": {key: "k1", life: asked, session: session, asked: second(2)}}, changes, &result{}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(l.wrong, "\n")
}

// A checker that notices nothing would make every campaign good.
func TestCheck_Notices(t *testing.T) {
	for name, c := range map[string]struct {
		asked string
		lines []string
		want  string
	}{
		"nothing":                 {"n1.1", []string{"k1 3", "k1. 4", "k1. 5"}, ""},
		"no mark":                 {"n1.1", nil, "is completed and left no mark"},
		"a call that ran twice":   {"n1.1", []string{"k1 3", "k1 4"}, "left its mark 2 times"},
		"a call of no history":    {"n1.1", []string{"k1 3", "k2 4"}, "call k2 left its mark 1 times; it is in the history: false"},
		"a start after the take":  {"n1.1", []string{"k1 10"}, "left the mark k1 1s after n2.1 took the session"},
		"an end after the take":   {"n1.1", []string{"k1 3", "k1. 12"}, "left the mark k1. 3s after n2.1 took the session"},
		"a process without lease": {"n3.1", []string{"k1 3"}, "n3.1 left the mark k1 and never had the session"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := noticed(t, c.asked, c.lines...); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCheck_Epochs(t *testing.T) {
	at := time.Now()
	for name, c := range map[string]struct {
		changes []lease
		bad     bool
	}{
		"rising":   {[]lease{{at: at, life: "n1.1", epoch: 3}, {at: at, life: "", epoch: 3}, {at: at, life: "n2.1", epoch: 4}}, false},
		"the same": {[]lease{{at: at, life: "n1.1", epoch: 3}, {at: at, life: "n2.1", epoch: 3}}, true},
		"falling":  {[]lease{{at: at, life: "n1.1", epoch: 3}, {at: at, life: "", epoch: 3}, {at: at, life: "n2.1", epoch: 2}}, true},
	} {
		l := newLoad(&cluster{})
		l.epochs(session, c.changes)
		if (len(l.wrong) > 0) != c.bad {
			t.Errorf("%s: noticed %q", name, l.wrong)
		}
	}
}

func TestTakeover(t *testing.T) {
	began := time.Now()
	after := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	for name, c := range map[string]struct {
		kind    string
		changes []lease
		want    time.Duration
		ok      bool
	}{
		"killed":               {"kill", []lease{{at: after(-1), life: "n1.1", epoch: 1}, {at: after(4), life: "n2.1", epoch: 2}}, 4 * time.Second, true},
		"released before":      {"kill", []lease{{at: after(-2), life: "n1.1", epoch: 1}, {at: after(-1), life: "", epoch: 1}, {at: after(4), life: "n2.1", epoch: 2}}, 0, false},
		"drained, from then":   {"drain", []lease{{at: after(-1), life: "n1.1", epoch: 1}, {at: after(3), epoch: 1, given: true}, {at: after(4), life: "n2.1", epoch: 2}}, time.Second, true},
		"drained, never taken": {"drain", []lease{{at: after(-1), life: "n1.1", epoch: 1}, {at: after(3), epoch: 1, given: true}}, 0, false},
		"ended while drained":  {"drain", []lease{{at: after(-1), life: "n1.1", epoch: 1}, {at: after(3), epoch: 1}, {at: after(4), life: "n2.1", epoch: 2}}, 0, false},
		"stopped, came back":   {"stop", []lease{{at: after(-1), life: "n1.1", epoch: 1}, {at: after(3), life: "", epoch: 1}, {at: after(4), life: "n1.1", epoch: 2}}, 0, false},
	} {
		got, ok := takeover(fault{c.kind, "n1.1", began}, c.changes)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %s, %t", name, got, ok)
		}
	}
}

// A test build that no longer fits the source would make the control of the campaign a plain run.
func TestBuild_ChangesFit(t *testing.T) {
	goroot := goroot(t)
	for name, changes := range map[string]func() ([]change, error){
		"epoch": func() ([]change, error) { return control("epoch") },
		"fence": func() ([]change, error) { return control("fence") },
		"clock": func() ([]change, error) { return skewedClock(), nil },
	} {
		all, err := changes()
		if err == nil {
			_, err = writeOverlay(t.TempDir(), filepath.Join("..", ".."), goroot, all)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := control("other"); err == nil {
		t.Error("an unknown control is accepted")
	}
}

func TestProxy_CutsAndStalls(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	p, err := newProxy(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	dial := func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	echo := func(c net.Conn, limit time.Duration) error {
		_ = c.SetDeadline(time.Now().Add(limit))
		buf := make([]byte, 4)
		if _, err := c.Write([]byte("ping")); err != nil {
			return err
		}
		_, err := io.ReadFull(c, buf)
		if err == nil && !bytes.Equal(buf, []byte("ping")) {
			err = fmt.Errorf("got %q", buf)
		}
		return err
	}
	c := dial()
	if err := echo(c, time.Minute); err != nil {
		t.Fatal(err)
	}
	p.set(stalled)
	if err := echo(c, 20*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("stalled: %v", err)
	}
	p.set(whole)
	buf := make([]byte, 4)
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(c, buf); err != nil {
		t.Errorf("what was sent meanwhile does not arrive: %v", err)
	}
	p.set(cut)
	if err := echo(c, time.Minute); err == nil {
		t.Error("a connection survives the cut")
	}
	if err := echo(dial(), time.Minute); err == nil {
		t.Error("a connection is made during the cut")
	}
	p.set(whole)
	if err := echo(dial(), time.Minute); err != nil {
		t.Errorf("after the cut: %v", err)
	}
}

// The demo starts the nodes that users of Docker Compose start.
func TestCompose_Nodes(t *testing.T) {
	path := filepath.Join("..", "..", composeFile)
	seen := map[string]bool{}
	for _, name := range []string{"lathe1", "lathe2", "lathe3"} {
		s, err := readComposed(path, name)
		if err != nil {
			t.Fatal(err)
		}
		if at := slices.Index(s.Command, "--node-addr"); at < 0 || seen[s.Command[at+1]] || s.Command[at+1] != "http://"+name+":4096" {
			t.Errorf("%s has the address %q", name, s.Command)
		} else {
			seen[s.Command[at+1]] = true
		}
	}
	if _, err := readComposed(path, "postgres"); err == nil {
		t.Error("PostgreSQL counts as a node")
	}
}
