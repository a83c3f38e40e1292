//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// demo starts a cluster, lets a turn begin at one node, kills that node, and shows how another ends the turn.
func demo(ctx context.Context, out io.Writer, o options) error {
	c, err := newCluster(ctx, out, setup{
		binary: o.lathe, nodes: 3, seed: o.seed, sqlite: o.sqlite, noBus: !o.bus, noBlobs: !o.blobs, fsync: true, compose: composeFile,
		steps: stepPlan{words: 60, every: 50 * time.Millisecond, always: true},
	})
	defer c.close()
	if err != nil {
		return err
	}
	c.say("a load balancer serves %s", c.url)
	if err := c.moveTurn(ctx); err != nil {
		return err
	}
	if !o.keep {
		return nil
	}
	c.addresses()
	<-ctx.Done()
	c.say("stopping")
	return nil
}

// addresses prints where everything is, for people who want to try it.
func (c *cluster) addresses() {
	c.say("the cluster runs until Ctrl-C")
	fmt.Fprintf(c.out, "\n  any node    lathe attach %s\n", c.url)
	for _, n := range c.nodes {
		fmt.Fprintf(c.out, "  node %s     %s   process %d   log %s\n", n.name, n.url, n.pid(), n.logFile())
	}
	if db := c.primary.Load(); db != nil {
		fmt.Fprintf(c.out, "  PostgreSQL  psql '%s'\n  NATS        nats://%s\n  S3          %s, bucket %s\n", db.dsn(db.addr()), c.nats.addr(), c.s3.URL, bucket)
	}
	fmt.Fprintf(c.out, "  project     %s\n\n", c.place)
}

// moveTurn shows one turn that two nodes work on.
func (c *cluster) moveTurn(ctx context.Context) error {
	l := newLoad(c)
	following, leave := context.WithCancel(ctx)
	defer leave()
	id, owner := l.create(ctx, c.client, c.place, "A turn that moves"), c.nodes[0]
	c.say("session %s begins", id)
	if !l.send(ctx, owner.client, id, 0, 0) {
		return context.Cause(ctx)
	}
	c.say("node %s admits a prompt and works on it", owner.name)
	go l.tell(following, id)
	if err := eventually(ctx, time.Minute, "the command does not start", func() bool {
		marks, err := l.marks(id)
		return err == nil && len(marks) > 0
	}); err != nil {
		return err
	}
	if !l.send(ctx, c.nodes[1].client, id, 0, 1) {
		return context.Cause(ctx)
	}
	c.say("node %s admits another prompt for the session of node %s", c.nodes[1].name, owner.name)
	pause(ctx, time.Second)
	killed := time.Now()
	owner.kill()
	c.say("kill -9 of node %s, in the middle of its command", owner.name)
	l.again(ctx, "wait", func(ctx context.Context) error {
		_, err := c.nodes[1].client.Wait(ctx, id)
		return err
	})
	c.say("the turn has ended, %s after the kill", time.Since(killed).Round(10*time.Millisecond))
	if err := c.history(ctx, l, id); err != nil {
		return err
	}
	began := time.Now()
	if err := owner.start(ctx); err != nil {
		return err
	}
	c.say("node %s is back after %s", owner.name, time.Since(began).Round(10*time.Millisecond))
	return nil
}

// tell prints what a reader at the second node sees of the session.
func (l *load) tell(ctx context.Context, id lathe.SessionID) {
	words := 0
	for ev, err := range l.nodes[1].client.Events(ctx, lathe.Scope{Session: id}, lathe.Opt[lathe.Cursor]{}) {
		if err != nil {
			return
		}
		switch f := ev.Fact.(type) {
		case *lathe.StatusChanged:
			l.say("  reader at %s: the session is %s", l.nodes[1].name, f.Status.Type)
		case *lathe.PartChanged:
			if call, ok := f.Part.Body.(*lathe.ToolCall); ok {
				l.say("  reader at %s: call %s of %s is %s", l.nodes[1].name, call.CallID, call.Tool, call.State.Status())
			}
		case *lathe.PartDelta:
			if words++; words%20 == 1 {
				l.say("  reader at %s: word %d of an answer", l.nodes[1].name, words)
			}
		default: // not shown
		}
	}
}

// history prints the end of it.
func (c *cluster) history(ctx context.Context, l *load, id lathe.SessionID) error {
	page, err := l.client.Messages(ctx, id, lathe.Position{}, 0)
	if err != nil {
		return err
	}
	asked := c.provider.taken()
	for _, m := range page.Messages {
		switch d := m.Data.(type) {
		case *lathe.User:
			c.say("  history: prompt")
		case *lathe.Assistant:
			var parts []string
			for _, p := range m.Parts {
				if call, ok := p.Body.(*lathe.ToolCall); ok {
					node, _, _ := strings.Cut(asked[strings.TrimPrefix(call.CallID, "call_")].life, ".")
					parts = append(parts, fmt.Sprintf("call %s of node %s %s", call.CallID, node, call.State.Status()))
				}
			}
			end := d.Finish
			if d.Error != nil {
				end = lathe.FaultMessage(d.Error)
			}
			c.say("  history: answer, %s (%s)", strings.Join(append(parts, fmt.Sprintf("%d parts", len(m.Parts))), ", "), end)
		}
	}
	return nil
}
