package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/client"
)

var engineNew = lathe.NewSession{Title: "one of many"}

// TestEvents_SurviveARestart ends the server while a stream is read, changes what can be
// changed meanwhile, begins it again and holds that nothing was missed.
func TestEvents_SurviveARestart(t *testing.T) {
	w := begin(t, "")
	c := w.dial()
	ctx, stop := context.WithTimeout(t.Context(), 60*time.Second)
	defer stop()
	a, err := c.Create(ctx, "", lathe.NewSession{Title: "a"})
	w.ok(err)
	b, err := c.Create(ctx, "", lathe.NewSession{Title: "b"})
	w.ok(err)
	var seen []string
	for ev, err := range c.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		w.ok(err)
		switch f := ev.Fact.(type) {
		case *lathe.ServerConnected:
			seen = append(seen, "connected")
			go func() {
				w.end()
				w.start()
				_, _ = w.engine.Rename(ctx, a.ID, "a2")
				_ = w.engine.Remove(ctx, b.ID)
				_, _ = w.engine.Create(ctx, w.dir, lathe.NewSession{Title: "c"})
			}()
		case *lathe.SessionChanged:
			if ev.Directory != w.dir {
				t.Errorf("it happened in %q", ev.Directory)
			}
			seen = append(seen, "changed "+f.Info.Title)
		case *lathe.SessionDeleted:
			seen = append(seen, "deleted "+f.Info.Title)
		case *lathe.SessionCreated:
			seen = append(seen, "created "+f.Info.Title)
		default:
			seen = append(seen, ev.Fact.Type())
		}
		all := strings.Join(seen, ", ")
		if strings.Contains(all, "created c") && strings.Contains(all, "changed a2") && strings.Contains(all, "deleted b") {
			if strings.Count(all, "connected") != 1 || strings.Contains(all, "resync") {
				t.Errorf("told %s", all)
			}
			break
		}
	}
	if c.Feed() == "" {
		t.Error("the feed has no name")
	}
}

// TestEvents_OfASession holds what a stream of one session tells: text as it grows, with offsets,
// and nothing of others.
func TestEvents_OfASession(t *testing.T) {
	w := begin(t, "text \"Hello \"\ntext \"there.\"\nfinish stop\n")
	c := w.dial()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	s, err := c.Create(ctx, "", lathe.NewSession{Title: "t"})
	w.ok(err)
	transcript := lathe.NewTranscript(s, nil)
	for ev, err := range c.Events(ctx, lathe.Scope{Session: s.ID}, lathe.Opt[lathe.Cursor]{}) {
		w.ok(err)
		if _, ok := ev.Fact.(*lathe.ServerConnected); ok {
			_, err := c.Create(ctx, "", lathe.NewSession{Title: "another"})
			w.ok(err)
			_, err = c.Submit(ctx, s.ID, text("hi"))
			w.ok(err)
			continue
		}
		if ev.Session != s.ID {
			t.Errorf("%s of %s", ev.Fact.Type(), ev.Session)
		}
		transcript.Apply(ev)
		if _, ok := ev.Fact.(*lathe.SessionIdle); ok {
			break
		}
	}
	messages := transcript.Messages()
	if len(messages) != 2 || messages[1].Parts[1].Body.(*lathe.Text).Text != "Hello there." {
		t.Errorf("folded to %+v", messages)
	}
}

// TestEvents_ResumeAfterACursor begins where another stream was.
func TestEvents_ResumeAfterACursor(t *testing.T) {
	w := begin(t, "")
	c := w.dial()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	var at lathe.Cursor
	for ev, err := range c.Events(ctx, lathe.Scope{Directory: w.dir}, lathe.Opt[lathe.Cursor]{}) {
		w.ok(err)
		at = lathe.Cursor{Seq: ev.Seq, Feed: c.Feed()}
		break
	}
	_, err := c.Create(ctx, "", lathe.NewSession{Title: "missed"})
	w.ok(err)
	for ev, err := range c.Events(ctx, lathe.Scope{Directory: w.dir}, lathe.Some(at)) {
		w.ok(err)
		if f, ok := ev.Fact.(*lathe.SessionCreated); ok {
			if f.Info.Title != "missed" {
				t.Errorf("told %q", f.Info.Title)
			}
			break
		}
	}
	for ev, err := range c.Events(ctx, lathe.Scope{}, lathe.Some(lathe.Cursor{Seq: 1, Feed: "another"})) {
		w.ok(err)
		if _, ok := ev.Fact.(*lathe.ServerResync); ok {
			return
		}
	}
	t.Error("a cursor of another database was taken")
}

// TestEvents_BadServers holds a stream against servers that break off, talk nonsense, fall silent
// or have no numbers: it finds back, and says when something may be missing.
func TestEvents_BadServers(t *testing.T) {
	const hello = "data: {\"payload\":{\"id\":\"evt_1\",\"type\":\"server.connected\",\"properties\":{}}}\n\n"
	const end = "data: {\"payload\":{\"id\":\"evt_2\",\"type\":\"server.instance.disposed\",\"properties\":{\"directory\":\"/x\"}}}\n\n"
	for name, one := range map[string]struct {
		first, after string // what the first connection says, and what the second must be asked for
		resync       bool
	}{
		"breaks off":       {"id: 7.feed\n" + hello, "7.feed", false},
		"cut in a frame":   {"id: 7.feed\n" + hello + "data: {\"payl", "7.feed", false},
		"nonsense":         {"id: 7.feed\n" + hello + "data: what?\n\n", "7.feed", false},
		"falls silent":     {"id: 7.feed\n" + hello + "silence", "7.feed", false},
		"has no numbers":   {hello, "", true},
		"numbers are none": {"id: x\n" + hello, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch asked.Add(1) {
				case 1:
					says, silent := strings.CutSuffix(one.first, "silence")
					_, _ = io.WriteString(w, says)
					_ = http.NewResponseController(w).Flush()
					if silent {
						<-r.Context().Done()
					}
				case 2:
					w.WriteHeader(http.StatusServiceUnavailable)
				default:
					if got := r.Header.Get("Last-Event-ID"); got != one.after {
						t.Errorf("it resumes after %q, not %q", got, one.after)
					}
					_, _ = io.WriteString(w, hello+end)
				}
			}))
			defer h.Close()
			c, _ := client.New(h.URL, client.Options{IdleTimeout: 200 * time.Millisecond})
			var reports []string
			for ev, err := range c.Events(t.Context(), lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
				if err != nil {
					t.Fatal(err)
				}
				reports = append(reports, ev.Fact.Type())
				if _, last := ev.Fact.(*lathe.InstanceDisposed); last {
					break
				}
			}
			want := "[server.connected server.instance.disposed]"
			if one.resync {
				want = "[server.connected server.resync server.instance.disposed]"
			}
			if fmt.Sprint(reports) != want {
				t.Errorf("told %s, not %s", reports, want)
			}
		})
	}
}

func TestEvents_End(t *testing.T) {
	w := begin(t, "")
	foreign := w.dial(func(o *client.Options) { o.Password = "wrong" })
	for _, err := range foreign.Events(t.Context(), lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		if lathe.CodeOf(err) != lathe.Unauthorized {
			t.Errorf("with a wrong password: %v", err)
		}
	}
	impatient := w.dial(func(o *client.Options) { o.ReconnectTimeout = time.Millisecond })
	var last error
	for _, err := range impatient.Events(t.Context(), lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		if last = err; err == nil {
			w.end()
		}
	}
	if lathe.CodeOf(last) != lathe.Unavailable {
		t.Errorf("a server that stays away: %v", last)
	}
	for _, err := range w.dial().Events(t.Context(), lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		if lathe.CodeOf(err) != lathe.Unavailable { // the first connection is not tried again
			t.Errorf("no server: %v", err)
		}
	}
}

// TestEvents_ReportsBreaks ends the server while a stream is read by a user who wants to know:
// the break is reported and its end, however long that takes and whatever patience others have.
func TestEvents_ReportsBreaks(t *testing.T) {
	w := begin(t, "")
	c := w.dial(func(o *client.Options) { o.ReconnectTimeout, o.Persistent = time.Nanosecond, true })
	ctx, stop := context.WithTimeout(t.Context(), 60*time.Second)
	defer stop()
	var reports []string
	for ev, err := range c.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		if broken := (*api.ConnectionChanged)(nil); errors.As(err, &broken) {
			reports = append(reports, fmt.Sprint(lathe.CodeOf(broken.Err) == lathe.Unavailable))
			if broken.Err != nil {
				w.start()
			}
			continue
		}
		w.ok(err)
		if _, first := ev.Fact.(*lathe.ServerConnected); first {
			w.end()
			continue
		}
		break
	}
	if got := strings.Join(reports, " "); got != "true false" {
		t.Errorf("told %s", got)
	}
}
