//go:build unix

package engine_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// sample is a delta that arrived.
type sample struct {
	at   time.Time
	late time.Duration // since it was sent
}

// arrived notes the stamps in a text. Merged deltas hold several.
func arrived(samples []sample, text string) []sample {
	now := time.Now()
	for stamp := range strings.FieldsSeq(text) {
		sent, err := strconv.ParseInt(stamp, 10, 64)
		if err != nil {
			panic(err)
		}
		samples = append(samples, sample{now, now.Sub(time.Unix(0, sent))})
	}
	return samples
}

// load is what streams of stamps were like, while all of them were running.
type load struct {
	p50, p99, worst time.Duration
	deltas          int
	memory          float64 // MB, the most that was seen
	cpu             time.Duration
}

// streaming lets n streams run at once. Each is given the function that notes what arrived.
func streaming(n int, stream func(i int, received func(text string))) load {
	debug.FreeOSMemory()
	before, stop, most := processor(), make(chan struct{}), make(chan float64)
	go watchMemory(stop, most)
	all := make([][]sample, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			stream(i, func(text string) { all[i] = arrived(all[i], text) })
		})
	}
	group.Wait()
	close(stop)
	return summed(all, load{memory: <-most, cpu: processor() - before})
}

// summed looks at what came between half a second after the last stream began and the end
// of the first.
func summed(all [][]sample, l load) load {
	var from, to time.Time
	for _, s := range all {
		l.deltas += len(s)
		if at := s[0].at.Add(time.Second / 2); at.After(from) {
			from = at
		}
		if at := s[len(s)-1].at; to.IsZero() || at.Before(to) {
			to = at
		}
	}
	var late []time.Duration
	for _, s := range all {
		for _, one := range s {
			if one.at.After(from) && one.at.Before(to) {
				late = append(late, one.late)
			}
		}
	}
	if len(late) == 0 {
		return l
	}
	slices.Sort(late)
	l.p50, l.p99, l.worst = late[len(late)/2], late[len(late)*99/100], late[len(late)-1]
	return l
}

// watchMemory sends the most this process had in memory, in MB.
func watchMemory(stop <-chan struct{}, most chan<- float64) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	peak := 0.0
	for {
		peak = max(peak, resident())
		select {
		case <-tick.C:
		case <-stop:
			most <- peak
			return
		}
	}
}

// resident is what this process has in memory, in MB. Where the system does not say, it is
// what Go has of it.
func resident() float64 {
	var total, pages float64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(text), &total, &pages); err == nil {
			return pages * float64(os.Getpagesize()) / (1 << 20)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys-m.HeapReleased) / (1 << 20)
}

// BenchmarkLoad is a thousand sessions that stream twenty deltas a second each, every one with
// a reader that encodes its events, and the same load on as many bare relays. The provider is
// another process, on the same processors.
func BenchmarkLoad(b *testing.B) {
	const sessions = 1000
	url := startProvider(b)
	path := order{kind: "stamps", deltas: 140, every: 50 * time.Millisecond}.path()
	transport := &http.Transport{MaxIdleConns: sessions, MaxIdleConnsPerHost: sessions}
	w := newBench(b, url, &http.Client{Transport: transport})
	ids := make([]lathe.SessionID, sessions)
	for i := range ids {
		ids[i] = w.session()
	}
	for b.Loop() {
		ours := streaming(sessions, func(i int, received func(string)) { w.hears(ids[i], path, received) })
		transport.CloseIdleConnections()
		floor := streaming(sessions, func(_ int, received func(string)) {
			r := relay{client: w.client, received: received}
			w.ok(r.run(context.Background(), url+path+"/messages"))
		})
		transport.CloseIdleConnections()
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ms(ours.p99), "p99-ms")
		b.ReportMetric(ms(floor.p99), "relay-p99-ms")
		b.ReportMetric(math.Max(0, ms(ours.p99-floor.p99)), "beyond-ms")
		b.ReportMetric(ms(ours.p50), "p50-ms")
		b.ReportMetric(ms(ours.worst), "worst-ms")
		b.ReportMetric(ours.memory, "MB")
		b.ReportMetric(float64(ours.cpu.Microseconds())/float64(ours.deltas), "us/delta")
		b.ReportMetric(float64(floor.cpu.Microseconds())/float64(floor.deltas), "relay-us/delta")
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// hears sends a prompt and listens until the session is idle.
func (b *bench) hears(id lathe.SessionID, path string, received func(string)) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var out []byte
	for ev, err := range b.Events(ctx, lathe.Scope{Session: id}, lathe.Opt[lathe.Cursor]{}) {
		if err != nil {
			b.Error(err)
			return
		}
		out = ev.AppendJSON(append(out[:0], "data: "...))
		switch f := ev.Fact.(type) {
		case *lathe.ServerConnected:
			if _, err := b.Submit(ctx, id, prompted(anthropicAt(path))); err != nil {
				b.Error(err)
				return
			}
		case *lathe.PartDelta:
			received(f.Delta)
		case *lathe.SessionIdle:
			return
		}
	}
}

// BenchmarkIdle is what ten thousand sessions at rest cost in memory that were used before:
// while what they said is still at hand, and after.
func BenchmarkIdle(b *testing.B) {
	const sessions = 10_000
	url := startProvider(b)
	path := order{kind: "text", deltas: 40, bytes: 50, every: -time.Microsecond}.path()
	for b.Loop() {
		w := newBench(b, url, &http.Client{Transport: &http.Transport{MaxIdleConns: 64, MaxIdleConnsPerHost: 64}})
		at := lathe.Now()
		w.now = func() lathe.Time { return at } // nothing grows old by itself
		w.say(w.session(), anthropicAt(path))
		before := inUse()
		next := make(chan struct{}, sessions)
		for range sessions {
			next <- struct{}{}
		}
		close(next)
		var group sync.WaitGroup
		for range 64 {
			group.Go(func() {
				for range next {
					w.say(w.session(), anthropicAt(path))
				}
			})
		}
		group.Wait()
		w.client.CloseIdleConnections()
		engine.AtRest(w.Engine)
		stored := inUse()
		engine.Forget(w.Engine)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric((stored-before)/sessions/1024, "kept-KB")
		b.ReportMetric((inUse()-before)/sessions/1024, "KB")
		runtime.KeepAlive(w)
	}
}

// inUse is what is in memory and needed.
func inUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}
