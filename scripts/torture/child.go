package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// childName as the first argument makes the program a child.
const childName = "child"

// job is the second argument of a child.
type job struct {
	Dir, URL string
	Seed     uint64
	Run      int    // how many children there were before
	Cursor   string // the parent's position in the feed
	From     []int  // the first prompt of each slot that was not admitted for sure
	Finish   bool   // send nothing more, bring everything to rest, and end
}

// The reports of a child, one per line: a letter, and the rest of the line.
const (
	reportEvent     = 'e' // number, whether it is the last of its commit, the event
	reportAdmitted  = 'a' // slot, number of the prompt
	reportRecovered = 'r' // how many sessions
	reportCanceled  = 'c' // nothing
	reportRejected  = 'j' // nothing
	reportTrouble   = 'x' // an unexpected event
)

// child is the process that is killed.
type child struct {
	job
	*engine.Engine
	recovered chan struct{}

	mu sync.Mutex // a line is written at once
}

func childMain(args []string) int {
	c := &child{recovered: make(chan struct{})}
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &c.job) != nil {
		fmt.Fprintln(os.Stderr, "child: one argument, the job, is needed")
		return 2
	}
	if err := c.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return 1
	}
	return 0
}

// report writes a line. What stands in the pipe outlives the process.
func (c *child) report(kind rune, format string, args ...any) {
	line := string(kind) + fmt.Sprintf(format, args...) + "\n"
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := os.Stdout.WriteString(line); err != nil {
		os.Exit(3) // the parent is gone
	}
}

// trouble reports an error.
func (c *child) trouble(doing string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		c.report(reportTrouble, "run %d: %s: %v", c.Run, doing, err)
	}
}

func (c *child) run(ctx context.Context) (err error) {
	admitted := func(key string) { c.report(reportAdmitted, "%d %s", childSlot, key[1:]) }
	if c.Engine, err = openEngine(ctx, c.Dir, c.URL, admitted); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var watching, group sync.WaitGroup
	watching.Go(func() { c.watch(ctx) })
	watching.Go(func() { c.allow(ctx) })
	group.Go(func() { c.recover(ctx) })
	if turncheck.Dice(c.Seed, "recover first", c.Run, 0)%2 == 0 {
		<-c.recovered
	}
	for slot := range c.From {
		if !c.Finish {
			group.Go(func() { c.user(ctx, order{c.Seed, slot}, c.From[slot]) })
		}
	}
	group.Wait()
	err = c.calm(ctx)
	stop()
	watching.Wait()
	return errors.Join(err, c.Close())
}

func (c *child) recover(ctx context.Context) {
	defer close(c.recovered)
	n, err := c.Recover(ctx, true)
	c.trouble("recover", err)
	c.report(reportRecovered, "%d", n)
}

// watch is the client: it sends every event since its cursor to the parent.
func (c *child) watch(ctx context.Context) {
	after, err := lathe.ParseCursor(c.Cursor)
	c.trouble("cursor", err)
	for ev, err := range c.Events(ctx, lathe.Scope{}, lathe.Some(after)) {
		if err != nil {
			c.trouble("events", err)
			return
		}
		last := 0
		if ev.Last {
			last = 1
		}
		c.report(reportEvent, "%d %d %s %s", ev.Seq, last, c.Feed(), ev.AppendWithOffset(nil))
	}
}

// allow is the person who is asked. It thinks for a moment, and now and then says no, with
// or without a word to the model.
func (c *child) allow(ctx context.Context) {
	var thinking sync.WaitGroup
	defer thinking.Wait()
	for ev, err := range c.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		if err != nil {
			return // the other reader tells
		}
		if ask, ok := ev.Fact.(*lathe.PermissionAsked); ok {
			thinking.Go(func() {
				rest(ctx, time.Duration(turncheck.Dice(c.Seed, string(ask.ID), 0, 0)%30)*time.Millisecond)
				c.reply(ctx, ask.ID)
			})
		}
	}
}

func (c *child) reply(ctx context.Context, ask lathe.AskID) {
	say, words := lathe.Once, ""
	switch {
	case c.Finish:
	case turncheck.Dice(c.Seed, string(ask), 1, 0)%8 == 0:
		say = lathe.Reject
	case turncheck.Dice(c.Seed, string(ask), 1, 0)%8 == 1:
		say, words = lathe.Reject, "Not like this."
	}
	err := c.Reply(ctx, ask, say, words)
	if lathe.CodeOf(err) != lathe.NotFound { // one that was withdrawn meanwhile is not there
		c.trouble("reply", err)
	}
	if say == lathe.Reject && err == nil {
		c.report(reportRejected, "")
	}
}

// user says what the slot has to say. What may have been admitted is sent again.
func (c *child) user(ctx context.Context, o order, from int) {
	if turncheck.Dice(c.Seed, "patient", c.Run, o.slot)%2 == 0 { // else it speaks while recovery is at work
		<-c.recovered
		if _, err := c.Get(ctx, o.session(from)); err == nil {
			_, err := c.Wait(ctx, o.session(from))
			c.trouble("wait", err)
		}
	}
	for n := from; ctx.Err() == nil; n++ {
		id := o.session(n)
		_, err := c.Create(ctx, c.Dir, lathe.NewSession{ID: id, Title: "Torture"})
		if lathe.CodeOf(err) != lathe.Conflict {
			c.trouble("create", err)
		}
		if _, err := c.Submit(ctx, id, o.prompt(n)); err != nil {
			c.trouble("submit", err)
			return
		}
		c.report(reportAdmitted, "%d %d", o.slot, n)
		if o.cancels(n) {
			rest(ctx, time.Duration(o.dice("moment", n)%80)*time.Millisecond)
			c.trouble("cancel", c.Cancel(ctx, id))
			c.report(reportCanceled, "")
		}
		if !o.hurries(n) {
			_, err := c.Wait(ctx, id)
			c.trouble("wait", err)
			rest(ctx, time.Duration(o.dice("think", n)%100)*time.Millisecond)
		}
	}
}

// calm returns when all sessions rest. What a cancel holds back has its turn before.
func (c *child) calm(ctx context.Context) error {
	all, err := c.List(ctx, lathe.Query{})
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := c.Resume(ctx, s.ID); err != nil {
			return fmt.Errorf("resume %s: %w", s.ID, err)
		}
	}
	for _, s := range all {
		if _, err := c.Wait(ctx, s.ID); err != nil {
			return fmt.Errorf("wait for %s: %w", s.ID, err)
		}
	}
	return nil
}
