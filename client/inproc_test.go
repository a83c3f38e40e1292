package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
)

// inside is a client in the process of the server, which knows no password.
func (w *world) inside() *client.Client {
	w.Helper()
	s, terminals := newServer(w, "")
	c, err := client.New("", client.Options{Handler: s, Directory: w.dir, Timeout: 20 * time.Second})
	w.ok(err)
	w.Cleanup(func() {
		s.Close()
		_ = terminals.Close()
		_ = c.Close()
	})
	return c
}

// A whole turn without a port: prompt, stream, permission, history.
func TestInproc_Turn(t *testing.T) {
	w := begin(t, `
text "I look."
call ask {"permission":"look","patterns":["x"]}
finish tool-calls
--
text "One " "two " "three."
finish stop
`)
	c, ctx := w.inside(), t.Context()
	if version, err := c.Health(ctx); err != nil || version != "1.2.3" || !c.IsLocal() {
		t.Errorf("version %q, %v", version, err)
	}
	s, err := c.Create(ctx, "", lathe.NewSession{Title: "t"})
	w.ok(err)
	words := ""
	for ev, err := range c.Events(ctx, lathe.Scope{Directory: w.dir}, lathe.Opt[lathe.Cursor]{}) {
		w.ok(err)
		switch f := ev.Fact.(type) {
		case *lathe.ServerConnected:
			_, err := c.Submit(ctx, s.ID, text("look"))
			w.ok(err)
		case *lathe.PermissionAsked:
			w.ok(c.Reply(ctx, f.ID, lathe.Once, ""))
		case *lathe.PartDelta:
			words += f.Delta
		case *lathe.StatusChanged:
			if f.Status.Type == lathe.Idle {
				goto rested
			}
		default:
		}
	}
rested:
	if !strings.HasSuffix(words, "One two three.") {
		t.Errorf("heard %q", words)
	}
	page, err := c.Messages(ctx, s.ID, lathe.Place{}, 0)
	if err != nil || len(page.Messages) != 3 {
		t.Errorf("%d messages, %v", len(page.Messages), err)
	}
	if _, err := c.Get(ctx, "ses_nobody"); lathe.CodeOf(err) != lathe.Invalid && lathe.CodeOf(err) != lathe.NotFound {
		t.Errorf("a session that is none: %v", err)
	}
}

// echo answers with its body, in pieces.
func echo(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"version":%q}`, fmt.Sprintf("%s %s %d", r.Method, r.RequestURI, len(data)))
}

func TestInproc_LargeBodies(t *testing.T) {
	const size = 8 << 20
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if len(data) < size {
			t.Errorf("got %d bytes", len(data))
		}
		_, _ = w.Write([]byte(`{"id":"msg_1","sessionID":"`))
		_, _ = w.Write(bytes.Repeat([]byte("x"), size))
		_, _ = w.Write([]byte(`"}`))
	})
	c, err := client.New("", client.Options{Handler: h, MaxBody: size})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	// The answer is longer than allowed: the handler, which still writes, must not stay.
	_, err = c.Submit(t.Context(), "ses_1", text(strings.Repeat("y", size)))
	if lathe.CodeOf(err) != lathe.Overflow {
		t.Errorf("got %v", err)
	}
}

// Who gives up ends the handler, whether it has begun to answer or not.
func TestInproc_Cancel(t *testing.T) {
	for _, begun := range []bool{false, true} {
		t.Run(fmt.Sprint(begun), func(t *testing.T) {
			ended := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if begun {
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
				}
				cancel()
				<-r.Context().Done()
				_, err := w.Write([]byte("more"))
				ended <- err
			})
			c, err := client.New("", client.Options{Handler: h})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Health(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if err := <-ended; err == nil {
				t.Error("somebody took what was written")
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Close ends what is under way, waits for it, and lets nothing begin.
func TestInproc_Close(t *testing.T) {
	began := make(chan struct{})
	var over bool
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		runtime.Gosched()
		over = true // the race detector would tell if nobody waited
	})
	c, err := client.New("", client.Options{Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := c.Health(context.Background())
		got <- err
	}()
	<-began
	if err := c.Close(); err != nil || !over {
		t.Errorf("%v, ended %v", err, over)
	}
	if err := <-got; lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("who waited: %v", err)
	}
	if _, err := c.Health(t.Context()); lathe.CodeOf(err) != lathe.Unavailable || strings.Contains(err.Error(), "lathe serve") {
		t.Errorf("who came late: %v", err)
	}
}

func TestInproc_Panic(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"before": func(http.ResponseWriter, *http.Request) { panic("oh") },
		"amid": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"ver`))
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.New("", client.Options{Handler: h})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := c.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "panicked") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestInproc_Many(t *testing.T) {
	c, err := client.New("", client.Options{Handler: http.HandlerFunc(echo)})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				if v, err := c.Health(t.Context()); err != nil || v != "GET /global/health 0" {
					t.Errorf("%q, %v", v, err)
				}
			}
		})
	}
	all.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkInproc_Deltas is what a word that streams costs on its way from the server's feed to a reader in
// the same process.
func BenchmarkInproc_Deltas(b *testing.B) {
	frame := []byte(`data: {"id":"evt_1","type":"message.part.delta","properties":{"sessionID":"ses_1","messageID":"msg_1","partID":"prt_1","field":"text","delta":"some words "}}` + "\n\n")
	n := b.N
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/global/event" {
			echo(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		_, _ = w.Write([]byte("data: {\"payload\":{\"id\":\"evt_0\",\"type\":\"server.connected\",\"properties\":{}}}\n\n"))
		global := append([]byte(`data: {"directory":"/d","payload":`), bytes.TrimSuffix(bytes.TrimPrefix(frame, []byte("data: ")), []byte("\n\n"))...)
		global = append(global, "}\n\n"...)
		for range n {
			if _, err := w.Write(global); err != nil {
				return
			}
			_ = out.Flush()
		}
		<-r.Context().Done()
	})
	c, err := client.New("", client.Options{Handler: h})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	got := 0
	for ev, err := range c.Events(b.Context(), lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := ev.Fact.(*lathe.PartDelta); ok {
			if got++; got == n {
				break
			}
		}
	}
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)*1000/1e7, "%cpu@1000/s")
}
