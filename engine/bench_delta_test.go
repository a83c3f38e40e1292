//go:build unix

package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// reader is a subscriber: it encodes each event as a server does for its client, or takes it as it is, like the terminal UI.
type reader struct {
	deltas int // as they came, some of them merged
	stop   context.CancelFunc
	done   chan struct{}
}

func (b *bench) listen(scope lathe.Scope, encode bool) *reader {
	ctx, stop := context.WithCancel(context.Background())
	r := &reader{stop: stop, done: make(chan struct{})}
	started := make(chan struct{})
	go func() {
		defer close(r.done)
		var out []byte
		for ev, err := range b.Events(ctx, scope, lathe.Opt[lathe.Cursor]{}) {
			switch ev.Fact.(type) {
			case *lathe.ServerConnected:
				close(started)
			case *lathe.PartDelta:
				r.deltas++
			}
			if err != nil {
				return
			}
			if encode {
				out = ev.AppendJSON(append(out[:0], "data: "...))
			}
		}
	}()
	<-started
	return r
}

func (r *reader) end() int {
	r.stop()
	<-r.done
	return r.deltas
}

// cost is what something of two sizes took, in this process.
type cost struct {
	time   time.Duration
	allocs uint64
}

func measure(f func()) cost {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	t := spent(f)
	runtime.ReadMemStats(&after)
	return cost{t, after.Mallocs - before.Mallocs}
}

// per is what one of n more costs: what is the same for any number is taken off.
func (c cost) per(n int, base cost) (ns, allocs float64) {
	return float64(c.time-base.time) / float64(n), float64(int64(c.allocs)-int64(base.allocs)) / float64(n)
}

// BenchmarkDelta is what a text delta of 16 bytes costs this process, from the socket to the
// bytes that a subscriber writes, beside the same of a relay. Once as fast as they come,
// many in a read; and once paced, so that each wakes everyone on its way. Local is the same for a
// subscriber in this process, which needs no bytes.
func BenchmarkDelta(b *testing.B) {
	url := startProvider(b)
	for _, c := range []struct {
		name   string
		deltas int
		every  time.Duration
		encode bool
	}{
		{"Burst/10KB", 640, -time.Microsecond, true},
		{"Burst/100KB", 6400, -time.Microsecond, true},
		{"Burst/1MB", 64000, -time.Microsecond, true},
		{"Flushed/1MB", 64000, 0, true},
		{"Paced/16KB", 1000, 2 * time.Millisecond, true},
		{"Local/100KB", 6400, -time.Microsecond, false},
		{"LocalPaced/16KB", 1000, 2 * time.Millisecond, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchDelta(b, url, order{kind: "text", deltas: c.deltas, bytes: 16, every: c.every}, c.encode)
		})
	}
}

func benchDelta(b *testing.B, url string, o order, encode bool) {
	w := newBench(b, url, &http.Client{Transport: &http.Transport{}})
	r := relay{client: w.client}
	id := w.session()
	ears := w.listen(lathe.Scope{}, encode)
	one := o
	one.deltas, one.every = 1, -time.Microsecond
	w.say(id, anthropicAt(one.path())) // the first of all opens connections and statements
	rounds := max(1, 12800/o.deltas)
	if o.every > 0 { // a paced one takes its time
		rounds = 1
	}
	said := 0
	speak := func(o order) func() {
		return func() {
			for range rounds {
				w.say(w.session(), anthropicAt(o.path()))
			}
			said += rounds * o.deltas
		}
	}
	pass := func(o order) func() {
		return func() {
			for range rounds {
				w.ok(r.run(context.Background(), url+o.path()+"/messages"))
			}
		}
	}
	var ours, floor, allocs []float64
	for b.Loop() {
		base, low := measure(speak(one)), measure(pass(one))
		ns, n := measure(speak(o)).per(rounds*(o.deltas-1), base)
		relayed, _ := measure(pass(o)).per(rounds*(o.deltas-1), low)
		ours, floor, allocs = append(ours, ns), append(floor, relayed), append(allocs, n)
	}
	received := ears.end()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "ns/delta")
	b.ReportMetric(median(floor), "relay-ns/delta")
	b.ReportMetric(median(ours)/median(floor), "x-relay")
	b.ReportMetric(median(allocs), "allocs/delta")
	b.ReportMetric(float64(said)/float64(received), "deltas/event")
}

// keep is a tool that does nothing with what it is given.
func keep(ended func()) tool.Tool {
	type input struct {
		Content string `json:"content" jsonschema:"anything"`
	}
	return tool.Define(tool.Spec{Name: "keep", Description: "Keeps something."}, func(context.Context, *tool.Call, input) (tool.Result, error) {
		defer ended()
		return tool.Result{Title: "keep", Output: "Kept."}, nil
	})
}

// BenchmarkArguments is what a byte of the streamed arguments of one call costs, in pieces of
// 16 bytes.
func BenchmarkArguments(b *testing.B) {
	url := startProvider(b)
	for _, size := range []int{2, 20, 200} {
		b.Run(fmt.Sprintf("%dKB", size), func(b *testing.B) {
			w := newBench(b, url, &http.Client{Transport: &http.Transport{}}, keep(func() {}))
			deltas := size << 10 / 16
			speak := func(deltas, rounds int) func() {
				return func() {
					for range rounds {
						w.say(w.session(), anthropicAt(order{kind: "args", deltas: deltas, bytes: 16, every: -time.Microsecond}.path()))
					}
				}
			}
			speak(2, 2)()
			rounds := max(4, 400/size)
			var ns []float64
			for b.Loop() {
				base := measure(speak(2, rounds))
				t, _ := measure(speak(deltas, rounds)).per(rounds*(deltas-2)*16, base)
				ns = append(ns, t)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(ns), "ns/byte")
		})
	}
}
