//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe/scripts/procstat"
)

// orphanTime is how long a turn may be without a live owner.
const orphanTime = 10 * time.Second

// campaign is one run of faults under load.
type campaign struct {
	setup   setup
	users   int
	readers int
	lasts   time.Duration
	kinds   []string
}

// run starts a cluster, does damage to it under load, and checks it. Violations are an error that names the seed.
func (p campaign) run(ctx context.Context, out io.Writer) (r result, err error) {
	c, err := newCluster(ctx, out, p.setup)
	defer c.close()
	if err != nil {
		return r, err
	}
	l := newLoad(c)
	f := newFaults(l, p.kinds)
	working, stop := context.WithTimeout(ctx, p.lasts)
	defer stop()
	following, leave := context.WithCancel(ctx)
	var users, readers sync.WaitGroup
	defer readers.Wait()
	defer leave()
	if err := l.startReaders(following, &readers, p.readers); err != nil {
		return r, err
	}
	w := watch{f: f, memory: map[string]float64{}, since: map[string]time.Time{}}
	readers.Go(func() { w.run(following) })
	for slot := range p.users {
		users.Go(func() { l.user(working, slot) })
	}
	f.run(working)
	users.Wait()
	c.say("the faults are over; %d prompts were admitted", len(l.admitted))
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err = l.continued(ctx); err == nil {
		err = l.rest(ctx)
	}
	if err != nil {
		c.dump()
		return r, fmt.Errorf("seed %d: %w", p.setup.seed, err)
	}
	c.say("all sessions are at rest")
	if r, err = l.check(ctx); err != nil {
		return r, fmt.Errorf("seed %d: %w", p.setup.seed, err)
	}
	leave()
	readers.Wait()
	r.memory = w.memory
	leases, err := l.leases(ctx)
	if err != nil {
		return r, err
	}
	r.takeovers(f.all, leases)
	r.print(out, f.count)
	if err := l.verdict(out); err != nil {
		c.copyLogs()
		return r, err
	}
	return r, nil
}

// verdict prints the violations.
func (l *load) verdict(out io.Writer) error {
	for _, w := range l.wrong[:min(len(l.wrong), 40)] {
		fmt.Fprintln(out, "VIOLATION", w)
	}
	if n := len(l.wrong); n > 0 {
		return fmt.Errorf("seed %d: %d violations", l.seed, n)
	}
	fmt.Fprintln(out, "no violation")
	return nil
}

// startReaders lets half of the readers follow the front, and the others a node each.
func (l *load) startReaders(ctx context.Context, group *sync.WaitGroup, count int) error {
	for i := range count {
		name, url := "front", l.url
		if i%2 == 0 {
			n := l.nodes[i/2%len(l.nodes)]
			name, url = n.name, n.url.String()
		}
		one, err := l.newReader(fmt.Sprintf("%d of %s", i, name), url)
		if err != nil {
			return err
		}
		l.readers = append(l.readers, one)
		group.Go(func() { one.follow(ctx) })
	}
	return nil
}

// dump writes the stacks of all nodes into their logs, and prints the ends of them.
func (c *cluster) dump() {
	for _, n := range c.nodes {
		n.signal(syscall.SIGCONT)
		c.say("log of node %s:\n%s", n.name, tail(n.logFile()))
		n.quit()
	}
	c.copyLogs()
}

// copyLogs copies the logs of the nodes to the folder for them, if there is one.
func (c *cluster) copyLogs() {
	dir := c.setup.logs
	if dir == "" {
		return
	}
	for _, n := range c.nodes {
		data, err := os.ReadFile(n.logFile())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, n.name+".log"), data, 0o600)
		}
		if err != nil {
			c.say("the log of node %s is not copied: %v", n.name, err)
		}
	}
}

// watch looks at the cluster each second: memory, and turns without a live owner.
type watch struct {
	f      *faults
	memory map[string]float64   // the most of each node, in MB
	since  map[string]time.Time // when an orphan was seen first
}

func (w *watch) run(ctx context.Context) {
	for pause(ctx, time.Second) {
		for _, n := range w.f.nodes {
			if pid := n.pid(); pid != 0 {
				w.memory[n.name] = max(w.memory[n.name], procstat.Memory(pid))
			}
		}
		if w.f.primary.Load() != nil {
			w.orphans(ctx)
			w.revive(ctx)
		}
	}
}

// revive starts nodes again that say at /lathe/live that they must, as the supervisor of a cluster does.
func (w *watch) revive(ctx context.Context) {
	for _, n := range w.f.nodes {
		if n.pid() == 0 || !w.f.claim(n, len(w.f.nodes)) {
			continue
		}
		if !n.isLive(ctx) && ctx.Err() == nil {
			w.f.say("node %s says that it must be started again", n.life())
			n.kill()
			if err := w.f.again(context.WithoutCancel(ctx), n); err != nil {
				w.f.violation("%v", err)
			}
		}
		w.f.release(n)
	}
}

// orphans holds that a turn without a live owner finds one, while a node is whole that could take it.
func (w *watch) orphans(ctx context.Context) {
	found, err := w.f.cluster.orphans(ctx)
	w.f.mu.Lock()
	troubled := w.f.troubled
	w.f.mu.Unlock()
	if err != nil { // PostgreSQL is away
		clear(w.since)
		return
	}
	now := time.Now()
	for one := range w.since {
		if !found[one] {
			delete(w.since, one)
		}
	}
	for one := range found {
		if _, ok := w.since[one]; !ok {
			w.since[one] = now
		}
		from := w.since[one]
		if troubled.After(from) {
			from = troubled
		}
		if now.Sub(from) > orphanTime {
			w.f.violation("%s has no live owner for %s", one, now.Sub(from).Round(time.Second))
			w.since[one] = now
		}
	}
}
