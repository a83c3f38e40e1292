//go:build unix

package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// wire notes when the first byte of a request is written.
type wire struct {
	asked atomic.Bool  // the next write is the first
	first atomic.Int64 // when it was, in nanoseconds
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return wiredConn{c, w}, err
}

type wiredConn struct {
	net.Conn
	wire *wire
}

func (c wiredConn) Write(p []byte) (int, error) {
	if c.wire.asked.CompareAndSwap(true, false) {
		c.wire.first.Store(time.Now().UnixNano())
	}
	return c.Conn.Write(p)
}

// since is how long before the first byte something was.
func (w *wire) since(at time.Time) time.Duration {
	return time.Duration(w.first.Load() - at.UnixNano())
}

// canned answers each request as the scripted provider answered the first ones: with a call,
// then with words. It reads no more of a request than its length, so that what it does
// weighs nothing.
type canned struct {
	call, words []byte
	served      atomic.Int64
}

func (c *canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a client that went away needs no answer
	body := c.words
	if c.served.Add(1)%2 == 1 {
		body = c.call
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write(body)
}

// learn asks the scripted provider in a protocol, and keeps its answers.
func learn(tb testing.TB, p modeltest.Protocol) *canned {
	tb.Helper()
	server := modeltest.Start(tb, modeltest.Script{
		{modeltest.Text{"I keep it."}, modeltest.Call{Name: "keep", Args: `{"content":"something"}`}},
		{modeltest.Text{"It is ", "kept."}},
	})
	var stored [][]byte
	client := &http.Client{Transport: overhearing(func(body []byte) { stored = append(stored, body) })}
	b := newBench(tb, server.URL, client, keep(func() {}))
	b.say(b.session(), &lathe.ModelRef{Provider: string(p), Model: "/v1"})
	if len(stored) != 2 {
		tb.Fatalf("%d answers", len(stored))
	}
	return &canned{call: stored[0], words: stored[1]}
}

// overhearing receives the body of each answer.
type overhearing func(body []byte)

func (f overhearing) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	f(body)
	_ = resp.Body.Close() // it was read to its end
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	return resp, err
}

// past writes a history of exchanges with a call each, about 4 KB long.
func (b *bench) past(id lathe.SessionID, exchanges int, m lathe.ModelRef) {
	b.Helper()
	ctx, gen := context.Background(), lathe.NewIDs()
	r, err := engine.Take(ctx, b.Engine, id)
	b.ok(err)
	code := strings.Repeat("\tif err := run(ctx, \"a\\b\"); err != nil {\n\t\treturn fmt.Errorf(\"run: %w\", err)\n\t}\n", 30)
	for i := range exchanges {
		at := lathe.Now()
		user := lathe.Message{ID: gen.Message(), Session: id, Created: at, Data: &lathe.User{Agent: "build", Model: m}}
		answer := lathe.Message{ID: gen.Message(), Session: id, Created: at, Data: &lathe.Assistant{
			Parent: user.ID, Agent: "build", Mode: "build", Model: m, Completed: at, Finish: "stop",
		}}
		facts := []lathe.Fact{&lathe.MessageChanged{Info: user}, &lathe.MessageChanged{Info: answer}}
		put := func(of lathe.Message, body lathe.Body) {
			p := lathe.Part{ID: gen.Part(), Session: id, Message: of.ID, Body: body}
			facts = append(facts, &lathe.PartChanged{Part: p, Time: at})
		}
		span := &lathe.Span{Start: at, End: at}
		put(user, &lathe.Text{Text: fmt.Sprintf("Look at file %d and say what is wrong with it. ", i) + code[:200]})
		put(answer, &lathe.StepStart{})
		put(answer, &lathe.Text{Text: "I read it first. " + code[:600], Time: span})
		put(answer, &lathe.ToolCall{CallID: fmt.Sprint("call_", i), Tool: "keep", State: &lathe.Completed{
			Input: json.RawMessage(`{"content":"something"}`), Output: code[:2400], Title: "keep", Start: at, End: at, Metadata: json.RawMessage(`{}`),
		}})
		put(answer, &lathe.StepFinish{Reason: "tool-calls"})
		put(answer, &lathe.StepStart{})
		put(answer, &lathe.Text{Text: "It does not close what it opens. " + code[:400], Time: span})
		put(answer, &lathe.StepFinish{Reason: "stop"})
		_, err := r.Commit(ctx, facts...)
		b.ok(err)
	}
	b.ok(r.Release(ctx))
}

// BenchmarkPrompt is the engine's time before the first byte of a request, with 500 messages
// and a megabyte after it: after a prompt to a session that was just used, after one to a
// session that must be read, and after a tool. A prompt is synced to the disk first, which is
// taken off and distinguished.
func BenchmarkPrompt(b *testing.B) {
	for _, p := range []modeltest.Protocol{modeltest.Anthropic, modeltest.Chat, modeltest.Responses, modeltest.Gemini} {
		b.Run(string(p), func(b *testing.B) {
			server := httptest.NewServer(learn(b, p))
			defer server.Close()
			a := newAsking(b, server.URL, p)
			a.ask()
			var cold, warm, tools, synced []float64
			for b.Loop() {
				if stored := engine.Forget(a.Engine); stored != 1 { // or what follows is not cold
					b.Fatalf("%d memories were kept", stored)
				}
				cold = append(cold, ms(a.ask().prompt))
				for range 4 {
					t := a.ask()
					warm, tools, synced = append(warm, ms(t.prompt)), append(tools, ms(t.tool)), append(synced, ms(t.sync))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(cold), "cold-ms")
			b.ReportMetric(median(warm), "warm-ms")
			b.ReportMetric(median(tools), "tool-ms")
			b.ReportMetric(median(synced), "sync-ms")
		})
	}
}

// asking is a session with a long history.
type asking struct {
	*bench
	wire wire
	id   lathe.SessionID
	ref  lathe.ModelRef

	first time.Duration // of the prompt's request, on the clock
	ended time.Time     // the tool
}

// taken is how long the parts of a turn took.
type taken struct{ prompt, tool, sync time.Duration }

func newAsking(tb testing.TB, url string, p modeltest.Protocol) *asking {
	a := &asking{ref: lathe.ModelRef{Provider: string(p), Model: "/v1"}}
	client := &http.Client{Transport: &http.Transport{DialContext: a.wire.dial}}
	a.bench = newBench(tb, url, client, keep(func() { // between the two requests of a turn
		a.first, a.ended = a.wire.since(time.Unix(0, 0)), time.Now()
		a.wire.asked.Store(true)
	}))
	a.id = a.session()
	a.past(a.id, 250, a.ref)
	return a
}

// ask sends a prompt that is answered with a call, then with words.
func (a *asking) ask() (t taken) {
	a.Helper()
	synced := a.disk.synced.Load()
	a.wire.asked.Store(true)
	begin := time.Now()
	a.say(a.id, &a.ref)
	t.sync = time.Duration(a.disk.synced.Load() - synced)
	t.prompt = a.first - time.Duration(begin.UnixNano()) - t.sync
	t.tool = a.wire.since(a.ended)
	return t
}

// BenchmarkSteps lists the newest steps of a session with 100,000, and those in its middle.
func BenchmarkSteps(b *testing.B) {
	const steps = 100_000
	h := newBench(b, "http://127.0.0.1:1", http.DefaultClient)
	id := h.session()
	h.manySteps(id, steps)
	for name, before := range map[string]int{"Newest": 0, "Middle": steps / 2} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				list, err := h.Steps(context.Background(), id, lathe.StepQuery{Before: before})
				if err != nil || list.Total != steps || len(list.Steps) != lathe.DefaultSteps {
					b.Fatalf("%d of %d steps: %v", len(list.Steps), list.Total, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/op")
		})
	}
}

// manySteps writes answers with a command each, ten to a prompt.
func (b *bench) manySteps(id lathe.SessionID, steps int) {
	b.Helper()
	ctx, gen := context.Background(), lathe.NewIDs()
	r, err := engine.Take(ctx, b.Engine, id)
	b.ok(err)
	m := lathe.ModelRef{Provider: "p", Model: "m"}
	for at := lathe.Now(); steps > 0; steps -= 10 {
		at += 20
		user := lathe.Message{ID: gen.Message(), Session: id, Created: at, Data: &lathe.User{Agent: "build", Model: m}}
		facts := []lathe.Fact{&lathe.MessageChanged{Info: user}}
		put := func(of lathe.Message, body lathe.Body) {
			facts = append(facts, &lathe.PartChanged{Part: lathe.Part{ID: gen.Part(), Session: id, Message: of.ID, Body: body}, Time: at})
		}
		put(user, &lathe.Text{Text: "Run it."})
		for i := range 10 {
			done := at + lathe.Time(i+1)
			answer := lathe.Message{ID: gen.Message(), Session: id, Created: done, Data: &lathe.Assistant{
				Parent: user.ID, Agent: "build", Mode: "build", Model: m, Completed: done, Finish: "stop",
			}}
			facts = append(facts, &lathe.MessageChanged{Info: answer})
			put(answer, &lathe.StepStart{})
			put(answer, &lathe.ToolCall{CallID: "call", Tool: "bash", State: &lathe.Completed{
				Input: json.RawMessage(`{"command":"go test ./..."}`), Output: "ok", Title: "go test ./...", Start: at, End: at, Metadata: json.RawMessage(`{"exit":0}`),
			}})
			put(answer, &lathe.StepFinish{Reason: "stop"})
		}
		_, err := r.Commit(ctx, facts...)
		b.ok(err)
	}
	b.ok(r.Release(ctx))
}
