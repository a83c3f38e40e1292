package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
)

// client follows the feed through all restarts, as one that stays connected would: it keeps
// what it has seen and its cursor, and never reads a history.
type client struct {
	at       lathe.Cursor
	sessions map[lathe.SessionID]*lathe.Transcript
	events   int
	retries  int // that a status named
}

func newClient() *client { return &client{sessions: map[lathe.SessionID]*lathe.Transcript{}} }

// event takes in a line: number, last, feed, event.
func (c *client) event(line string) error {
	var ev lathe.Event
	var last int
	head := strings.SplitN(line, " ", 4)
	if len(head) != 4 {
		return fmt.Errorf("not an event: %q", line)
	}
	if _, err := fmt.Sscan(head[0]+" "+head[1], &ev.Seq, &last); err != nil {
		return err
	}
	seq := ev.Seq
	if err := json.Unmarshal([]byte(head[3]), &ev); err != nil {
		return fmt.Errorf("%w in %s", err, head[3])
	}
	ev.Seq, ev.Last = seq, last == 1
	return c.take(ev, head[2])
}

func (c *client) take(ev lathe.Event, feed string) error {
	c.events++
	if _, ok := ev.Fact.(*lathe.ServerResync); ok {
		return fmt.Errorf("the cursor %s could not be resumed from", c.at)
	}
	if ev.Last && ev.Seq < c.at.Seq {
		return fmt.Errorf("number %d comes after %d", ev.Seq, c.at.Seq)
	}
	if s, ok := ev.Fact.(*lathe.StatusChanged); ok && s.Status.Type == lathe.Retrying {
		c.retries++
	}
	if id := lathe.SessionOf(ev.Fact); id != "" {
		t := c.sessions[id]
		if t == nil {
			t = lathe.NewTranscript(lathe.Session{ID: id}, nil)
			c.sessions[id] = t
		}
		was := t.Stale()
		t.Apply(ev)
		if t.Stale() && !was {
			return fmt.Errorf("a delta of session %s does not fit the earlier events: %s", id, ev.AppendWithOffset(nil))
		}
	}
	if ev.Last {
		c.at = lathe.Cursor{Seq: ev.Seq, Feed: feed}
	}
	return nil
}
