package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// interrupted is how many sessions a dead process has left.
const interrupted = 1000

// BenchmarkRecover is how long it takes to close what 1,000 sessions have open, each in the
// middle of an answer with a call that runs. A reader asks for sessions all the while:
// worst-read is the longest it had to wait.
func BenchmarkRecover(b *testing.B) {
	left := filepath.Join(leaveInterrupted(b), "lathe.db")
	longest := time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		data := b.TempDir()
		copyFile(b, left, filepath.Join(data, "lathe.db"))
		e := openPlain(b, data)
		stop, worst := make(chan struct{}), make(chan time.Duration)
		go readMeanwhile(e, stop, worst)
		b.StartTimer()
		n, err := e.Recover(context.Background(), false)
		b.StopTimer()
		close(stop)
		longest = max(longest, <-worst)
		if n != interrupted || err != nil {
			b.Fatalf("%d were looked after: %v", n, err)
		}
		if found, err := e.Interruptions(context.Background()); err != nil || len(found) != interrupted || found[0].Dead {
			b.Fatalf("%d are interrupted, the first %+v: %v", len(found), found[0], err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/op")
	b.ReportMetric(longest.Seconds()*1000, "worst-read-ms")
}

// readMeanwhile asks for the list of sessions again and again.
func readMeanwhile(e *engine.Engine, stop <-chan struct{}, worst chan<- time.Duration) {
	longest := time.Duration(0)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			worst <- longest
			return
		case <-tick.C:
			began := time.Now()
			if _, err := e.List(context.Background(), lathe.Query{Limit: 20}); err == nil {
				longest = max(longest, time.Since(began))
			}
		}
	}
}

func openPlain(tb testing.TB, data string) *engine.Engine {
	tb.Helper()
	d, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(data, "lathe.db")})
	if err != nil {
		tb.Fatal(err)
	}
	e, err := engine.Open(context.Background(), engine.Options{Driver: d, Blobs: filepath.Join(data, "blobs")})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func copyFile(tb testing.TB, from, to string) {
	tb.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// leaveInterrupted makes a database as a process leaves it that is killed in the middle of
// its turns.
func leaveInterrupted(tb testing.TB) (data string) {
	tb.Helper()
	data = tb.TempDir()
	dir := gittest.RealTemp(tb)
	e := openPlain(tb, data)
	ids := lathe.NewIDs()
	for range interrupted {
		if err := leaveOne(tb.Context(), e, ids, dir); err != nil {
			tb.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		tb.Fatal(err)
	}
	return data
}

// leaveOne makes a session with an answer, and a second one that is not complete.
func leaveOne(ctx context.Context, e *engine.Engine, ids *lathe.IDs, dir string) error {
	rec, err := e.Create(ctx, dir, lathe.NewSession{Title: "Interrupted"})
	if err != nil {
		return err
	}
	r, err := engine.Take(ctx, e, rec.ID)
	if err != nil {
		return err
	}
	for i, done := range []bool{true, false} {
		ask := lathe.Message{ID: ids.Message(), Session: rec.ID, Data: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "test", Model: "big"}}}
		ask.Parts = []lathe.Part{{ID: ids.Part(), Session: rec.ID, Message: ask.ID, Body: &lathe.Text{Text: "Please look."}}}
		if _, err := e.Store().Admit(ctx, rec.ID, lathe.Submission{Message: ask, Digest: string(ask.ID)}); err != nil {
			return err
		}
		facts := []lathe.Fact{
			&lathe.StatusChanged{Session: rec.ID, Status: lathe.Status{Type: lathe.Busy}},
			&lathe.Promote{Session: rec.ID, Message: ask.ID},
		}
		if _, err := r.Commit(ctx, append(facts, leftAnswer(ids, ask, lathetest.Now+lathe.Time(1000*i), done)...)...); err != nil {
			return err
		}
	}
	return nil // and the lease is not given back
}

// leftAnswer is an answer of a text and a call; both are open if it is not done.
func leftAnswer(ids *lathe.IDs, to lathe.Message, at lathe.Time, done bool) []lathe.Fact {
	m := lathe.Message{ID: ids.Message(), Session: to.Session, Created: lathe.Now() + at - lathetest.Now}
	a := &lathe.Assistant{Parent: to.ID, Agent: "build", Mode: "build", Model: lathe.ModelRef{Provider: "test", Model: "big"}}
	words := &lathe.Text{Text: "I look at it.", Time: &lathe.Span{Start: m.Created}}
	var state lathe.ToolState = &lathe.Running{Input: json.RawMessage(`{"path":"a"}`), Start: m.Created}
	if done {
		a.Completed, a.Finish = m.Created, "stop"
		words.Time.End = m.Created
		state = &lathe.Completed{Input: json.RawMessage(`{"path":"a"}`), Output: "x", Title: "a", Metadata: json.RawMessage(`{}`), Start: m.Created, End: m.Created}
	}
	m.Data = a
	part := func(b lathe.Body) lathe.Fact {
		return &lathe.PartChanged{Part: lathe.Part{ID: ids.Part(), Session: to.Session, Message: m.ID, Body: b}, Time: m.Created}
	}
	return []lathe.Fact{&lathe.MessageChanged{Info: m}, part(words), part(&lathe.ToolCall{CallID: "call_1", Tool: "read", State: state})}
}
