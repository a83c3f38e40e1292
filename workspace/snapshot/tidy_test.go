package snapshot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/internal/gittest"
)

// A month of work stays within its limits, and what is young enough can still be undone.
func TestTidy_Month(t *testing.T) {
	const limit, days, perDay = 3 << 20, 31, 30
	b := newBench(t, gittest.RealTemp(t))
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	b.store.o.Now = func() time.Time { return now }
	b.store.o.MaxBytes = limit
	b.work.t.objects.packSize = 64 << 10
	b.store.o.MaxAge = 7 * 24 * time.Hour
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		b.write(fmt.Sprintf("dir%d/f%d", i%5, i), strings.Repeat(fmt.Sprintln("begin", i), 50))
	}
	var most int64
	var last StepRef
	steps := 0
	for range days {
		for range perDay {
			now = now.Add(10 * time.Minute)
			st := b.work.Step(fmt.Sprint("msg_", steps))
			steps++
			write := func() {
				text := make([]byte, 3000)
				for i := range text {
					text[i] = byte('a' + rng.IntN(26))
				}
				i := rng.IntN(40)
				b.write(fmt.Sprintf("dir%d/f%d", i%5, i), string(text))
			}
			if steps%3 == 0 {
				b.command(st, write)
			} else {
				name := fmt.Sprintf("tool%d", rng.IntN(20))
				b.tool(st, name, func() { b.write(name, fmt.Sprint(steps, rng.Uint64(), "\n")) })
			}
			last = b.end(st)
		}
		now = now.Add(24*time.Hour - perDay*10*time.Minute)
		age(t, b.work.t.path(objectsDir))
		must(t, b.store.Tidy(t.Context()))
		stats := must2(b.store.Stats(t.Context()))(t)
		if most = max(most, stats.Bytes); stats.Bytes > limit {
			t.Fatalf("%d bytes are kept, the limit is %d: %+v", stats.Bytes, limit, stats)
		}
		if stats.Steps == 0 || now.Sub(stats.Oldest) > 8*24*time.Hour {
			t.Fatalf("at %v: %+v", now, stats)
		}
	}
	t.Logf("%d steps in a month, at most %d of %d bytes", steps, most, limit)
	before := must2(b.work.Undo(t.Context(), []StepRef{last}))(t)
	if len(before.Changes) != 1 || before.Changes[0].Conflict != "" {
		t.Errorf("the last step cannot be undone: %+v", before)
	}
	noDamage(t, b.store.o.Dir)
	// When everything is too old and unused, nothing is left.
	must(t, b.store.Close())
	now = now.Add(365 * 24 * time.Hour)
	age(t, b.store.o.Dir)
	c := New(Options{Dir: b.store.o.Dir, Now: func() time.Time { return now }})
	must(t, c.Tidy(t.Context()))
	must(t, c.Tidy(t.Context()))
	if got := must2(c.Stats(t.Context()))(t); got != (Stats{}) {
		t.Errorf("left: %+v", got)
	}
}

// Tidying next to steps that run takes nothing from them.
func TestTidy_BesideSteps(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.work.t.objects.packSize = 1 // what is written is done with at once
	for i := range 10 {
		b.write(fmt.Sprint("f", i), fmt.Sprint("first ", i))
	}
	must(t, b.work.t.walk(t.Context(), ""))
	// What was seen less than a minute ago is too young to be judged; this is old, and saved.
	must(t, b.work.t.save(b.work.t.path(liveDir, b.work.t.live.name+indexSuffix)))
	age(t, b.work.t.path(objectsDir))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		other := New(Options{Dir: b.store.o.Dir, MaxBytes: 1}) // as little as can be
		for {
			select {
			case <-stop:
				return
			default:
				if err := other.Tidy(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
					return
				}
				age(t, b.work.t.path(objectsDir))
			}
		}
	})
	lost := 0
	for i := range 10 {
		name := fmt.Sprint("f", i)
		st := b.step()
		b.command(st, func() { b.write(name, "changed") })
		if tr := st.traces[name]; tr == nil || tr.changes[0].Before.Lost {
			lost++
		}
		must2(st.End(t.Context()))(t)
	}
	close(stop)
	wg.Wait()
	fresh := newObjects(&disk{}, b.work.t.path(objectsDir), &project{}) // what is really on disk
	must(t, fresh.find())
	for i := range 10 {
		if !fresh.has(hashObject(gitobj.BlobKind, fmt.Append(nil, "first ", i))) {
			lost++
		}
	}
	must(t, fresh.close())
	if lost > 0 {
		t.Errorf("what %d steps need was tidied away", lost)
	}
	noDamage(t, b.store.o.Dir)
}

// What nothing refers to stays for an hour: someone may be about to.
func TestTidy_Grace(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.work.t.load()
	id := must2(b.work.t.objects.put(gitobj.BlobKind, []byte("orphan")))(t)
	b.work.t.objects.packSize = 1
	must2(b.work.t.objects.put(gitobj.BlobKind, []byte("the last of its heap")))(t)
	must(t, b.store.Tidy(t.Context()))
	must(t, b.work.t.objects.find())
	if !b.work.t.objects.has(id) {
		t.Error("a young object is gone")
	}
	age(t, b.work.t.path(objectsDir))
	must(t, b.store.Tidy(t.Context()))
	must(t, b.work.t.objects.find())
	if b.work.t.objects.has(id) {
		t.Error("an old object is still there")
	}
}

func TestStats(t *testing.T) {
	dir := gittest.RealTemp(t)
	b := newBench(t, dir)
	if got := must2(b.store.Stats(t.Context()))(t); got != (Stats{}) {
		t.Errorf("an empty store: %+v", got)
	}
	b.write("f", "1\n")
	st := b.step()
	b.tool(st, "f", func() { b.write("f", "2\n") })
	b.end(st)
	got := must2(b.store.Stats(t.Context()))(t)
	if got.Worktrees != 1 || got.Steps != 1 || got.Objects != 4 || got.Bytes < 4096 || got.Bytes > 3*4096 || time.Since(got.Oldest) > time.Minute {
		t.Errorf("%+v", got)
	}
}

// What is known outlives the process, whether it was closed or killed.
func TestStore_Restart(t *testing.T) {
	for _, end := range []string{"closed", "killed"} {
		t.Run(end, func(t *testing.T) {
			b := newBench(t, gittest.RealTemp(t))
			b.write("dir/f", "1\n")
			old := time.Now().Add(-time.Hour)
			must(t, os.Chtimes(b.path("dir/f"), old, old))
			want := must2(b.work.Track(t.Context()))(t)
			if end == "closed" {
				must(t, b.store.Close())
			} else {
				b.work.t.saved = time.Time{}
				b.work.t.saveSoon()
				b.store.wg.Wait()
				must(t, b.work.t.live.file.Close())
			}
			c := b.again()
			got := must2(c.work.Step("x").Tree(t.Context()))(t)
			if got != want {
				t.Errorf("tree %s, want %s", got, want)
			}
			it, _ := c.work.t.known.at("dir/f")
			if before, _ := b.work.t.known.at("dir/f"); it == nil || it.id != before.id || it.stat != before.stat {
				t.Errorf("known %+v, was %+v", it, before)
			}
		})
	}
}

// An index that is damaged is none.
func TestStore_DamagedIndex(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("dir/f", "1\n")
	want := must2(b.work.Track(t.Context()))(t)
	must(t, b.store.Close())
	file := b.work.t.path(indexFile)
	data, err := os.ReadFile(file)
	must(t, err)
	for cut := range len(data) {
		must(t, os.WriteFile(file, data[:cut], 0o600))
		if d, err := readIndex(file); err == nil {
			t.Fatalf("%d of %d bytes are an index: %+v", cut, len(data), d)
		}
		r := indexReader{rest: data[min(cut, len(indexMagic)):cut]}
		_ = r.dir(0) // must not panic
	}
	c := b.again()
	if got := must2(c.work.Track(t.Context()))(t); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
	if _, err := os.Stat(filepath.Join(c.work.t.dir, rootFile)); err != nil {
		t.Error(err)
	}
}
