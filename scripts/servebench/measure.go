package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe/scripts/procstat"
)

// bench takes measurements and prints them.
type bench struct {
	options
	provider *provider
	out      io.Writer
}

func (b *bench) figure(name string, value float64, unit string) {
	_, _ = fmt.Fprintf(b.out, "%s %.4g %s\n", name, value, unit)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// start measures how soon a server answers after its process begins, and what it then has in
// memory.
func (b *bench) start(ctx context.Context) error {
	if b.lathe == "" {
		return nil // it runs already
	}
	var ready []time.Duration
	idle := 0.0
	for i := range 11 {
		began := time.Now()
		t, err := b.open(ctx)
		if err == nil {
			err = t.ask(ctx, nil, "GET", "/global/health", "")
		}
		if err != nil {
			return err
		}
		if ready = append(ready, time.Since(began)); i == 10 {
			time.Sleep(2 * time.Second) // until it has nothing to do
			idle = procstat.Memory(t.pid)
		}
		t.end()
	}
	slices.Sort(ready)
	b.figure("ready", ms(ready[len(ready)/2]), "ms")
	b.figure("idle-memory", idle, "MB")
	return nil
}

// latencies are how late words came, and what they cost.
type latencies struct {
	late []time.Duration
	pid  int           // of the process that passes them on
	cost time.Duration // processor time of a word, while all sessions stream
}

func (l *latencies) at(part float64) time.Duration {
	if len(l.late) == 0 {
		return 0
	}
	return l.late[min(int(float64(len(l.late))*part), len(l.late)-1)]
}

// The event of a word, as it comes on a stream of all directories.
type (
	deltaEvent struct {
		Payload payload `json:"payload"`
	}
	payload struct {
		ID         string     `json:"id"`
		Type       string     `json:"type"`
		Properties properties `json:"properties"`
	}
	properties struct {
		Session string `json:"sessionID"`
		Message string `json:"messageID"`
		Part    string `json:"partID"`
		Field   string `json:"field"`
		Delta   string `json:"delta"`
	}
)

// read notes when each word comes, until so many came.
func (l *latencies) read(from io.Reader, want int) error {
	lines := bufio.NewReaderSize(from, 64<<10)
	// Beginnings and ends of turns cost more, and are left out.
	begin, end := want/4, want*3/4
	var first time.Duration
	started, ended := false, false
	for got := 0; got < want; {
		if !started && got >= begin {
			started, begin, first = true, got, procstat.ProcessorTime(l.pid)
		}
		if !ended && got >= end {
			ended = true
			l.cost = (procstat.ProcessorTime(l.pid) - first) / time.Duration(got-begin)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("after %d of %d words: %w", got, want, err)
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok || !bytes.Contains(data, []byte(`"message.part.delta"`)) {
			continue
		}
		var ev deltaEvent
		if err := json.Unmarshal(data, &ev); err != nil {
			return err
		}
		now := time.Now()
		for stamp := range strings.FieldsSeq(ev.Payload.Properties.Delta) {
			sent, err := strconv.ParseInt(stamp, 10, 64)
			if err != nil {
				return err
			}
			l.late = append(l.late, now.Sub(time.Unix(0, sent)))
			got++
		}
	}
	slices.Sort(l.late)
	return nil
}

// delta measures how long a word takes from the model's socket to a client, while many sessions
// stream, and what it costs beside a bare relay.
func (b *bench) delta(ctx context.Context) error {
	t, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer t.end()
	ids := make([]string, b.sessions)
	for i := range ids {
		if ids[i], err = t.session(ctx, "stream"); err != nil {
			return err
		}
	}
	res, err := t.request(ctx, "GET", "/global/event", "")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	l := latencies{pid: t.pid}
	done := make(chan error, 1)
	go func() { done <- l.read(res.Body, b.sessions*b.deltas) }()
	for _, id := range ids {
		time.Sleep(staggered)
		if err := t.ask(ctx, nil, "POST", "/session/"+id+"/prompt_async", b.prompt(fmt.Sprint(streamWord, b.deltas))); err != nil {
			return err
		}
	}
	if err := <-done; err != nil {
		return err
	}
	floor, err := b.relayed(ctx)
	if err != nil {
		return err
	}
	b.figure("delta-p50", ms(l.at(0.5)), "ms")
	b.figure("delta-p99", ms(l.at(0.99)), "ms")
	b.figure("delta-processor", float64(l.cost)/1000, "us")
	b.figure("relay-p50", ms(floor.at(0.5)), "ms")
	b.figure("relay-p99", ms(floor.at(0.99)), "ms")
	b.figure("relay-processor", float64(floor.cost)/1000, "us")
	if floor.cost > 0 {
		b.figure("delta-times-relay", float64(l.cost)/float64(floor.cost), "x")
	}
	return nil
}

// step measures a step with one small tool call in a project of 2,000 files: from its request to
// the next one, without the time that the model took.
func (b *bench) step(ctx context.Context) error {
	t, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer t.end()
	for i := range 2000 {
		dir := filepath.Join(t.dir, fmt.Sprintf("d%02d", i%40))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d.txt", i)), bytes.Repeat([]byte("line of text\n"), 50), 0o644); err != nil {
			return err
		}
	}
	id, err := t.session(ctx, "step")
	if err != nil {
		return err
	}
	var took []time.Duration
	for i := range 41 {
		b.provider.taken()
		var answer json.RawMessage
		if err := t.ask(ctx, &answer, "POST", "/session/"+id+"/message", b.prompt(toolWord)); err != nil {
			return err
		}
		calls := b.provider.taken()
		slices.SortFunc(calls, func(x, y exchange) int { return x.came.Compare(y.came) })
		if len(calls) < 2 {
			return fmt.Errorf("the model was asked %d times, not twice: %s", len(calls), answer)
		}
		if i > 0 { // the first one makes what the others use
			took = append(took, calls[len(calls)-1].came.Sub(calls[len(calls)-2].answered))
		}
	}
	slices.Sort(took)
	b.figure("step", ms(took[len(took)/2]), "ms")
	b.figure("step-p90", ms(took[len(took)*9/10]), "ms")
	return nil
}

// manyChanges is how many events each of many streams must get.
const manyChanges = 100

// many measures many sessions and many streams: what they have of memory, and whether each gets
// every event.
func (b *bench) many(ctx context.Context) error {
	t, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer t.end()
	var id string
	for i := range b.streams {
		if id, err = t.session(ctx, fmt.Sprint("one of many ", i)); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var ready, whole sync.WaitGroup
	var lost atomic.Int64
	for range b.streams {
		res, err := t.request(ctx, "GET", "/global/event", "")
		if err != nil {
			return err
		}
		ready.Add(1)
		whole.Go(func() {
			defer res.Body.Close()
			lost.Add(int64(manyChanges - countChanges(res.Body, ready.Done)))
		})
	}
	ready.Wait()
	most := procstat.Memory(t.pid)
	for i := range manyChanges {
		if err := t.ask(ctx, nil, "PATCH", "/session/"+id, fmt.Sprintf(`{"title":"change %d."}`, i)); err != nil {
			return err
		}
		most = max(most, procstat.Memory(t.pid))
	}
	limit := time.AfterFunc(time.Minute, stop)
	whole.Wait()
	limit.Stop()
	b.figure("many-memory", max(most, procstat.Memory(t.pid)), "MB")
	b.figure("many-lost", float64(lost.Load()), "events")
	return nil
}

// countChanges reads a stream until the last change, and counts the received changes.
func countChanges(from io.Reader, began func()) int {
	lines := bufio.NewReaderSize(from, 4<<10)
	seen := make(map[int]bool, manyChanges)
	began = sync.OnceFunc(began)
	defer began()
	for len(seen) < manyChanges {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return len(seen)
		}
		began()
		if _, rest, ok := bytes.Cut(line, []byte(`"title":"change `)); ok && bytes.Contains(line, []byte(`"session.updated"`)) {
			n, _, _ := bytes.Cut(rest, []byte("."))
			if i, err := strconv.Atoi(string(n)); err == nil {
				seen[i] = true
			}
		}
	}
	return len(seen)
}
