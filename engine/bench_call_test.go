//go:build unix

package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
)

// atOnce is how many calls a model makes in one step here.
const atOnce = 200

// trivial asks for a permission and has a result; what a call of it costs is the engine's.
func trivial() tool.Tool {
	type input struct {
		Name string `json:"name" jsonschema:"anything: a"`
	}
	spec := tool.Spec{Name: "trivial", Description: "Does nothing."}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		err := c.Host.Ask(ctx, tool.Permission{Name: "trivial", Patterns: []string{in.Name}, Always: []string{"*"}})
		return tool.Result{Title: in.Name, Output: "Done."}, err
	})
}

// calling is an engine whose provider answers with the calls, then with words, again and again.
func calling(tb testing.TB, tools []tool.Tool, calls []modeltest.Call) (*bench, lathe.ModelRef) {
	tb.Helper()
	answer := modeltest.Answer{modeltest.Text{"I do it."}}
	for _, c := range calls {
		answer = append(answer, c)
	}
	script := modeltest.Start(tb, modeltest.Script{answer, {modeltest.Text{"It is done."}}})
	var stored [][]byte
	learning := newBench(tb, script.URL, &http.Client{Transport: overhearing(func(body []byte) { stored = append(stored, body) })}, trivial())
	ref := lathe.ModelRef{Provider: string(modeltest.Anthropic), Model: "/v1"}
	learning.say(learning.session(), &ref)
	if len(stored) != 2 {
		tb.Fatalf("%d answers", len(stored))
	}
	server := httptest.NewServer(&canned{call: stored[0], words: stored[1]})
	tb.Cleanup(server.Close)
	return newBench(tb, server.URL, &http.Client{}, tools...), ref
}

// ran fails unless every call of the last step but one has its result.
func (b *bench) ran(id lathe.SessionID, want int) {
	b.Helper()
	page, err := b.Messages(context.Background(), id, lathe.Position{}, 0)
	b.ok(err)
	done := 0
	for _, m := range page.Messages {
		for _, p := range m.Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok {
				if _, ok := c.State.(*lathe.Completed); ok {
					done++
				}
			}
		}
	}
	if done != want {
		b.Fatalf("%d of %d calls were done", done, want)
	}
}

// BenchmarkCall is what a call costs beside its tool: it is found, judged, shown and committed.
// The turn has 200 calls of a tool that does nothing; one with a single call is taken off.
func BenchmarkCall(b *testing.B) {
	turn := func(n int) func() time.Duration {
		calls := make([]modeltest.Call, n)
		for i := range calls {
			calls[i] = modeltest.Call{Name: "trivial", Args: fmt.Sprintf(`{"name":"n%d"}`, i)}
		}
		w, ref := calling(b, []tool.Tool{trivial()}, calls)
		w.say(w.session(), &ref) // the first opens connections and files
		return func() time.Duration {
			id := w.session()
			began := time.Now()
			w.say(id, &ref)
			took := time.Since(began)
			w.ran(id, n)
			return took
		}
	}
	many, one := turn(atOnce), turn(1)
	var each []float64
	for b.Loop() {
		each = append(each, float64((many()-one()).Microseconds())/(atOnce-1))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(each), "us/call")
}

// BenchmarkReads is the memory that 200 calls of read take in one step, each of another file of
// 20 KB, with what is stored of them and the request that shows them to the model.
func BenchmarkReads(b *testing.B) {
	calls := make([]modeltest.Call, atOnce)
	for i := range calls {
		calls[i] = modeltest.Call{Name: "read", Args: fmt.Sprintf(`{"filePath":"f%d.txt"}`, i)}
	}
	w, ref := calling(b, []tool.Tool{builtin.Read(builtin.ReadConfig{Tracker: builtin.NewReadTracker()})}, calls)
	text := []byte(strings.Repeat("a line of a source file as most of them are\n", 450))
	for i := range calls {
		w.ok(os.WriteFile(filepath.Join(w.dir, fmt.Sprintf("f%d.txt", i)), text, 0o600))
	}
	most := 0.0
	for b.Loop() {
		id := w.session()
		engine.Forget(w.Engine) // or what earlier rounds left at hand lets more garbage gather
		before := inUse()
		stop, peak := make(chan struct{}), make(chan float64)
		go heapPeak(stop, peak)
		w.say(id, &ref)
		close(stop)
		most = max(most, (<-peak-before)/(1<<20))
		w.ran(id, atOnce)
		runtime.KeepAlive(w)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(most, "peak-MB")
}

// heapPeak looks at the heap every millisecond, garbage included, and sends the largest it saw.
func heapPeak(stop <-chan struct{}, peak chan<- float64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	most := 0.0
	for {
		metrics.Read(sample)
		most = max(most, float64(sample[0].Value.Uint64()))
		select {
		case <-stop:
			peak <- most
			return
		case <-tick.C:
		}
	}
}
