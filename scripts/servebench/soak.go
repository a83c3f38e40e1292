package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe/scripts/procstat"
)

// Limits of a soak, in MB of resident memory.
const (
	mostBusy = 150.0
	mostIdle = 60.0
)

// How a soak works: workers prompt their own sessions, and delete each after some turns.
const (
	soakWorkers     = 24
	turnsPerSession = 20
)

// soak lets a server run turns with tools at a steady rate, then lets it rest. It samples the memory all the while and
// fails if a limit is passed, or if turns failed.
func (b *bench) soak(ctx context.Context) error {
	t, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer t.end()
	s := &soaking{bench: b, target: t, began: time.Now()}
	go s.listen(ctx)
	s.work(ctx)
	turns, took := s.turns.Load(), time.Since(s.began)
	if err := b.heapProfile(ctx, t, "busy"); err != nil {
		return err
	}
	s.sample(ctx, b.rest)
	if err := b.heapProfile(ctx, t, "idle"); err != nil {
		return err
	}
	idle := procstat.Memory(t.pid)
	b.figure("soak-turns", float64(turns), "turns")
	b.figure("soak-rate", float64(turns)/took.Seconds(), "turns/s")
	b.figure("soak-peak-memory", s.peak, "MB")
	b.figure("soak-idle-memory", idle, "MB")
	switch n := s.failed.Load(); {
	case n > 0:
		return fmt.Errorf("%d turns failed; the last: %v", n, s.last.Load())
	case s.peak > mostBusy:
		return fmt.Errorf("it took %.0f MB while it was busy, more than %.0f", s.peak, mostBusy)
	case idle > mostIdle:
		return fmt.Errorf("%.0f MB after %s idle, more than %.0f", idle, b.rest, mostIdle)
	}
	return nil
}

// soaking is a running soak test.
type soaking struct {
	*bench
	target *target
	began  time.Time
	peak   float64 // MB

	turns, failed atomic.Int64
	last          atomic.Value // the last error
}

// work runs turns at the rate, as far as the server can keep up, and samples the memory.
func (s *soaking) work(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, s.length)
	defer stop()
	due := make(chan struct{})
	var workers sync.WaitGroup
	for range soakWorkers {
		workers.Go(func() {
			for s.session(ctx, due) {
			}
		})
	}
	workers.Go(func() {
		defer close(due)
		tick := time.NewTicker(time.Duration(float64(time.Second) / s.rate))
		defer tick.Stop()
		for ctx.Err() == nil {
			<-tick.C
			select {
			case due <- struct{}{}:
			case <-ctx.Done():
			}
		}
	})
	s.sample(ctx, s.length)
	workers.Wait()
}

// session makes a session, prompts it whenever a turn is due and deletes it. It reports whether there is more to do.
func (s *soaking) session(ctx context.Context, due <-chan struct{}) (more bool) {
	free := context.WithoutCancel(ctx) // let started turns end
	id, err := s.target.session(free, "soak")
	if err != nil {
		s.fail(err)
		return false
	}
	more = true
	for range turnsPerSession {
		if _, more = <-due; !more {
			break
		}
		if err := s.target.ask(free, nil, "POST", "/session/"+id+"/message", s.prompt(toolWord)); err != nil {
			s.fail(err)
			continue
		}
		s.turns.Add(1)
	}
	if err := s.target.ask(free, nil, "DELETE", "/session/"+id, ""); err != nil {
		s.fail(err)
	}
	return more
}

func (s *soaking) fail(err error) {
	s.failed.Add(1)
	s.last.Store(err)
}

// listen reads the events of the server, as a client does that stays.
func (s *soaking) listen(ctx context.Context) {
	res, err := s.target.request(ctx, "GET", "/event", "")
	if err != nil {
		s.fail(err)
		return
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // until the server ends
}

// sample draws the memory of the server, one line for each of thirty parts of the time.
func (s *soaking) sample(ctx context.Context, length time.Duration) {
	every := max(length/30, time.Second)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for end := time.Now().Add(length); time.Now().Before(end); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := procstat.Memory(s.target.pid)
		s.peak = max(s.peak, now)
		_, _ = fmt.Fprintf(s.out, "%6s %7d turns %6.0f MB %s\n",
			time.Since(s.began).Round(time.Second), s.turns.Load(), now, strings.Repeat("#", int(now/4)))
	}
}

// heapProfile writes what the server has on its heap to a file, if profiles are asked for.
func (b *bench) heapProfile(ctx context.Context, t *target, name string) error {
	if b.profiles == "" {
		return nil
	}
	debug := *t
	debug.url = "http://" + b.debugAddr
	res, err := debug.request(ctx, "GET", "/debug/pprof/heap?gc=1", "")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	f, err := os.Create(b.profiles + "-" + name + ".pb.gz")
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(f, res.Body)
	return err
}
