//go:build unix

package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"
)

// fault is something that was done to a process of a node, for the figures.
type fault struct {
	kind, life string
	at         time.Time
}

// faults does damage to a cluster until its context ends, by seed.
type faults struct {
	*load
	random *rand.Rand
	kinds  []string // "" and these only
	live   sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	busy     map[*node]bool
	all      []fault
	count    map[string]int
	troubled time.Time // when the last trouble of the services ended
}

// kinds are the faults, as often as they happen.
func kinds(standby bool) []string {
	all := []string{"kill", "kill", "kill", "stop", "stop", "drain", "store-stall", "store-cut", "bus-cut", "nats", "database"}
	if standby {
		all = append(all, "failover")
	}
	return all
}

func newFaults(l *load, kinds []string) *faults {
	return &faults{load: l, random: rand.New(rand.NewPCG(l.seed, 2)), kinds: kinds, busy: map[*node]bool{}, count: map[string]int{}}
}

// run does a fault every few seconds until the context ends, and then waits until all nodes are whole.
func (f *faults) run(ctx context.Context) {
	var next []string // each kind comes up before any comes up again
	for pause(ctx, f.within(1500*time.Millisecond, 4*time.Second)) {
		if len(next) == 0 {
			next = slices.Clone(f.kinds)
			f.random.Shuffle(len(next), func(i, k int) { next[i], next[k] = next[k], next[i] })
		}
		kind, n := next[0], f.nodes[f.random.IntN(len(f.nodes))]
		next = next[1:]
		// Drawn for every kind, so that the order of the faults does not depend on the time that each takes.
		long, after := f.within(time.Second, 20*time.Second), f.within(100*time.Millisecond, 8*time.Second)
		f.do(ctx, kind, n, long, after)
	}
	f.live.Wait()
}

func (f *faults) within(from, to time.Duration) time.Duration {
	return from + time.Duration(f.random.Int64N(int64(to-from)))
}

// do does one fault, unless it would leave less than one node.
func (f *faults) do(ctx context.Context, kind string, n *node, long, after time.Duration) {
	switch kind {
	case "nats", "database", "failover":
		f.service(ctx, kind, after)
		return
	}
	if !f.claim(n, len(f.nodes)-1) {
		return
	}
	f.mu.Lock()
	f.count[kind]++
	f.all = append(f.all, fault{kind, n.life(), time.Now()})
	f.mu.Unlock()
	f.live.Go(func() {
		defer f.release(n)
		f.node(ctx, kind, n, long, after)
	})
}

// claim reserves a node for one fault, if fewer nodes than a limit have one.
func (f *faults) claim(n *node, limit int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[n] || len(f.busy) >= limit {
		return false
	}
	f.busy[n] = true
	return true
}

func (f *faults) release(n *node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, n)
}

// node does a fault to one node and undoes it.
func (f *faults) node(ctx context.Context, kind string, n *node, long, after time.Duration) {
	restart := func() {
		pause(ctx, after)
		if err := f.again(context.WithoutCancel(ctx), n); err != nil {
			f.violation("%v", err)
		}
	}
	switch kind {
	case "kill":
		f.say("kill -9 of node %s", n.life())
		n.kill()
		restart()
	case "stop":
		f.say("node %s stands still for %s", n.life(), long.Round(time.Millisecond))
		n.signal(syscall.SIGSTOP)
		pause(ctx, long)
		n.signal(syscall.SIGCONT)
	case "drain":
		f.say("node %s is asked to end", n.life())
		n.signal(syscall.SIGTERM)
		if !n.wait(75 * time.Second) {
			f.violation("node %s does not end within 75 s of SIGTERM", n.life())
			n.quit()
		}
		restart()
	case "store-stall", "store-cut":
		f.say("node %s has no way to PostgreSQL for %s (%s)", n.life(), long.Round(time.Millisecond), kind)
		n.store.set(map[string]link{"store-stall": stalled, "store-cut": cut}[kind])
		pause(ctx, long)
		n.store.set(whole)
	case "bus-cut":
		f.say("node %s has no way to NATS for %s", n.life(), long.Round(time.Millisecond))
		n.bus.set(cut)
		pause(ctx, long)
		n.bus.set(whole)
	}
}

// again starts a node, also while the database is away.
func (f *faults) again(ctx context.Context, n *node) (err error) {
	for range 5 {
		if err = n.start(ctx); err == nil {
			f.say("node %s is back", n.life())
			return nil
		}
		n.kill()
		pause(ctx, time.Second)
	}
	return err
}

// service does a fault to what all nodes share.
func (f *faults) service(ctx context.Context, kind string, after time.Duration) {
	f.mu.Lock()
	f.count[kind]++
	f.mu.Unlock()
	var err error
	switch kind {
	case "nats":
		f.say("NATS is away for %s", after.Round(time.Millisecond))
		f.nats.stop()
		pause(ctx, after)
		err = f.nats.start()
	case "database":
		f.say("PostgreSQL crashes and starts again")
		f.primary.Load().stop(syscall.SIGQUIT)
		err = f.primary.Load().start(context.WithoutCancel(ctx))
	case "failover":
		f.kinds = slices.DeleteFunc(f.kinds, func(k string) bool { return k == "failover" }) // there is one standby
		f.say("PostgreSQL crashes and stays away; its standby takes over")
		f.primary.Load().stop(syscall.SIGQUIT)
		if err = f.spare.promote(context.WithoutCancel(ctx)); err == nil {
			for _, n := range f.nodes {
				n.store.moveTo(f.spare.addr())
			}
			f.primary.Store(f.spare)
			f.spare = nil
		}
	}
	if err != nil {
		f.violation("%s: %v", kind, err)
	}
	f.mu.Lock()
	f.troubled = time.Now()
	f.mu.Unlock()
}
