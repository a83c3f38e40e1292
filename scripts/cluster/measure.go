//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/scripts/procstat"
)

// The load of a measurement: live turns in a folder each, at a pace that makes 2,000 words a second together.
const (
	liveTurns   = 100
	liveWords   = 160
	livePace    = 50 * time.Millisecond
	allSessions = 2000
	allReaders  = 300
	kills       = 3
	drains      = 3
	killedTurns = 30 // live on the node that is killed
)

// measurement is a run that prints figures.
type measurement struct {
	*load
	out  io.Writer
	slot int // numbers the prompts
}

// measure prints one figure a line: name, value, unit. The limits are in scripts/bench.
func measure(ctx context.Context, out io.Writer, o options) error {
	c, err := newCluster(ctx, os.Stderr, setup{
		binary: o.lathe, nodes: 3, seed: o.seed, sqlite: o.sqlite, noBus: !o.bus, noBlobs: !o.blobs, fsync: true,
		steps: stepPlan{words: liveWords, every: livePace},
	})
	defer c.close()
	if err != nil {
		return err
	}
	m := &measurement{load: newLoad(c), out: out}
	for _, phase := range []struct {
		name string
		run  func(context.Context) error
	}{{"NATS alone", m.bare}, {"words", m.words}, {"many", m.many}, {"kill", m.kill}, {"drain", m.drain}} {
		c.say("measuring: %s", phase.name)
		if err := phase.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	m.figure("lost", float64(len(m.wrong)), "")
	for _, w := range m.wrong[:min(len(m.wrong), 10)] {
		c.say("VIOLATION %s", w)
	}
	return nil
}

func (m *measurement) figure(name string, value float64, unit string) {
	_, _ = fmt.Fprintf(m.out, "%-24s %.2f %s\n", name, value, unit)
}

// times prints two quantiles. Without a sample it prints nothing, and the table shows that the figure is missing.
func (m *measurement) times(name string, all []time.Duration) {
	if len(all) == 0 {
		return
	}
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	m.figure(name+"-p50", ms(quantile(all, 0.5)), "ms")
	m.figure(name+"-p99", ms(quantile(all, 0.99)), "ms")
}

// bare measures the same number of words through NATS without lathe: what is beyond it is ours.
func (m *measurement) bare(ctx context.Context) error {
	if m.nats == nil {
		return nil
	}
	to, err := nats.Connect("nats://" + m.nats.addr())
	if err != nil {
		return err
	}
	defer to.Close()
	from, err := nats.Connect("nats://" + m.nats.addr())
	if err != nil {
		return err
	}
	defer from.Close()
	const words = 4000
	delays, arrived := make([]time.Duration, 0, words), make(chan time.Duration, words)
	if _, err := to.Subscribe("words", func(msg *nats.Msg) {
		nanos, _ := strconv.ParseInt(string(msg.Data), 10, 64)
		arrived <- time.Since(time.Unix(0, nanos))
	}); err != nil {
		return err
	}
	if err := to.Flush(); err != nil {
		return err
	}
	tick := time.NewTicker(livePace / liveTurns)
	defer tick.Stop()
	for range words {
		<-tick.C
		if err := from.Publish("words", strconv.AppendInt(nil, time.Now().UnixNano(), 10)); err != nil {
			return err
		}
	}
	for len(delays) < words {
		select {
		case d := <-arrived:
			delays = append(delays, d)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Second):
			return fmt.Errorf("%d of %d words arrived", len(delays), words)
		}
	}
	m.times("nats", delays)
	return nil
}

// words measures the way of a word from the model through one node to a reader at another. The first second is apart: then
// all turns begin at the same time, each in a directory that its node opens.
func (m *measurement) words(ctx context.Context) error {
	_, err := m.turns(ctx, 0, liveTurns)
	if err != nil {
		return err
	}
	var begin, live []time.Duration
	for _, one := range m.readers {
		first := min(int(time.Second/livePace), len(one.delays))
		begin, live = append(begin, one.delays[:first]...), append(live, one.delays[first:]...)
	}
	m.times("word-begin", begin)
	m.times("word", live)
	return nil
}

// many measures the same beside many sessions and readers, and the memory of the nodes.
func (m *measurement) many(ctx context.Context) error {
	var group sync.WaitGroup
	const workers = 16
	for i := range workers {
		group.Go(func() {
			for n := i; n < allSessions-2*liveTurns; n += workers {
				m.create(ctx, m.nodes[n%len(m.nodes)].client, m.folder(n%liveTurns), fmt.Sprintf("Session %d", n))
			}
		})
	}
	group.Wait()
	r, err := m.turns(ctx, 1, allReaders)
	if err != nil {
		return err
	}
	m.times("many", r.delays)
	most := 0.0
	for _, n := range m.nodes {
		most = max(most, procstat.Peak(n.pid()))
	}
	m.figure("memory", most, "MB")
	return nil
}

// folder is the directory of a live turn: a stream has the events of one directory.
func (m *measurement) folder(i int) string {
	dir := filepath.Join(m.place, fmt.Sprintf("part%d", i))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		m.violation("%v", err)
	}
	return dir
}

// turns runs the live turns, with readers at other nodes, and compares what they saw with the store.
func (m *measurement) turns(ctx context.Context, n, readers int) (r result, err error) {
	ctx, stop := context.WithCancel(ctx)
	var following, live sync.WaitGroup
	defer following.Wait()
	defer stop()
	ids := make([]lathe.SessionID, liveTurns)
	m.readers = nil
	for i := range readers {
		at := m.nodes[(i+1+i/liveTurns%2)%len(m.nodes)] // the turn is at node i
		one, err := m.newReader(fmt.Sprintf("%d of %s", i, at.name), at.url.String())
		if err != nil {
			return r, err
		}
		one.scope = lathe.Scope{Directory: m.folder(i % liveTurns)}
		m.readers = append(m.readers, one)
		following.Go(func() { one.follow(ctx) })
	}
	for i := range ids {
		live.Go(func() {
			to := m.nodes[i%len(m.nodes)]
			for k := i; k < readers; k += liveTurns {
				if err := eventually(ctx, time.Minute, "a reader is not connected", m.readers[k].connected); err != nil {
					m.violation("%v", err)
				}
			}
			if ids[i] = m.create(ctx, to.client, m.folder(i), "Live"); ids[i] == "" {
				return
			}
			m.send(ctx, to.client, ids[i], i, n)
			m.again(ctx, "wait", func(ctx context.Context) error {
				_, err := to.client.Wait(ctx, ids[i])
				return err
			})
		})
	}
	live.Wait()
	if err := context.Cause(ctx); err != nil {
		return r, err
	}
	for i, id := range ids {
		page, err := m.client.Messages(ctx, id, lathe.Position{}, 0)
		if err != nil {
			return r, err
		}
		for k := i; k < readers; k += liveTurns {
			m.same(ctx, m.readers[k], id, page.Messages)
		}
	}
	m.figures(nil, &r)
	return r, nil
}

// same holds that a reader comes to see what the store has.
func (m *measurement) same(ctx context.Context, one *reader, id lathe.SessionID, stored []lathe.Message) {
	why := ""
	if err := eventually(ctx, 20*time.Second, "it differs", func() bool {
		one.mu.Lock()
		defer one.mu.Unlock()
		why = one.view.Differs(id, stored)
		return why == ""
	}); err != nil {
		m.violation("reader %s: %s: %s", one.name, id, why)
	}
}

// kill measures how long sessions are without a node after kill -9 of theirs.
func (m *measurement) kill(ctx context.Context) error {
	r, err := m.take(ctx, "kill", kills, func(n *node) { n.kill() })
	if err == nil {
		m.times("takeover-kill", r.killed)
	}
	return err
}

// drain measures the time between the release of a session by a node that ends and the take by another.
func (m *measurement) drain(ctx context.Context) error {
	r, err := m.take(ctx, "drain", drains, func(n *node) {
		n.signal(syscall.SIGTERM)
		if !n.wait(75 * time.Second) {
			m.violation("node %s does not end within 75 s of SIGTERM", n.name)
			n.kill()
		}
	})
	if err == nil {
		m.times("takeover-drain", r.drained)
	}
	return err
}

// take lets a node work on turns of many short steps and ends it in their middle.
func (m *measurement) take(ctx context.Context, kind string, rounds int, end func(*node)) (r result, err error) {
	m.provider.setPlan(stepPlan{exact: 15, words: 1, every: livePace})
	var all []fault
	for round := range rounds {
		n, ids := m.nodes[round%len(m.nodes)], make([]lathe.SessionID, killedTurns)
		for i := range ids {
			m.slot++
			ids[i] = m.create(ctx, n.client, m.place, "Taken over")
			m.send(ctx, n.client, ids[i], liveTurns+m.slot, 0)
		}
		pause(ctx, time.Second)
		all = append(all, fault{kind, n.life(), time.Now()})
		end(n)
		for _, id := range ids {
			m.again(ctx, "wait", func(ctx context.Context) error {
				_, err := m.nodes[(round+1)%len(m.nodes)].client.Wait(ctx, id)
				return err
			})
		}
		if err := n.start(ctx); err != nil {
			return r, err
		}
	}
	leases, err := m.leases(ctx)
	r.takeovers(all, leases)
	return r, err
}
