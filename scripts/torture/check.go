package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// checkTime bounds the reading at the end.
const checkTime = 5 * time.Minute

// check holds what must be true when all is at rest.
func (c *campaign) check() error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	e, err := openEngine(ctx, c.dir, c.provider.url, func(string) {})
	if err != nil {
		return err
	}
	defer e.Close()
	if err := c.calm(ctx, e); err != nil {
		return err
	}
	if err := c.catchUp(ctx, e); err != nil {
		return err
	}
	all, err := e.List(ctx, lathe.Query{Search: "torture"})
	if err != nil {
		return err
	}
	prompts := map[string]int{}
	for _, s := range all {
		if err := c.session(ctx, e, s, prompts); err != nil {
			return err
		}
	}
	for token := range c.admitted {
		if prompts[token] == 0 {
			c.violation("%s was admitted and is not in any history", token)
		}
	}
	c.count.sessions, c.count.prompts, c.count.events, c.count.faults = len(all), len(c.admitted), c.client.Events, c.provider.faults
	c.count.retries = c.client.Retries
	return c.everywhere(ctx, e, all)
}

// calm holds that nothing works, asks, waits or is damaged.
func (c *campaign) calm(ctx context.Context, e *engine.Engine) error {
	found, err := e.Store().Check(ctx)
	if err != nil {
		return err
	}
	statuses, err := e.Statuses(ctx, lathe.Scope{})
	if err != nil {
		return err
	}
	asks, err := e.Asks(ctx, lathe.Scope{})
	if err != nil {
		return err
	}
	left, err := e.Interruptions(ctx)
	if err != nil {
		return err
	}
	if len(found)+len(statuses)+len(asks)+len(left) > 0 {
		c.violation("at rest: damage %q, statuses %v, %d asks, interrupted %+v", found, statuses, len(asks), left)
	}
	return nil
}

// catchUp tells the client the rest, up to a session that is made for this.
func (c *campaign) catchUp(ctx context.Context, e *engine.Engine) error {
	mark, err := e.Create(ctx, c.dir, lathe.NewSession{Title: "The end"})
	if err != nil {
		return err
	}
	for ev, err := range e.Events(ctx, lathe.Scope{}, lathe.Some(c.client.At)) {
		if err != nil {
			return err
		}
		if err := c.client.Take(ev, e.Feed()); err != nil {
			c.violation("feed: %v", err)
		}
		if lathe.SessionOf(ev.Fact) == mark.ID {
			break
		}
	}
	return nil
}

// session holds what must be true of one history.
func (c *campaign) session(ctx context.Context, e *engine.Engine, s lathe.Session, prompts map[string]int) error {
	page, err := e.Messages(ctx, s.ID, lathe.Position{}, 0)
	if err != nil {
		return err
	}
	c.count.messages += len(page.Messages)
	c.same(s.ID, page.Messages)
	c.prompts(s, page.Messages, prompts)
	return c.calls(s.ID, page.Messages)
}

// same holds that the client has seen what the store has.
func (c *campaign) same(id lathe.SessionID, stored []lathe.Message) {
	if d := c.client.Differs(id, stored); d != "" {
		c.violation("%s: %s", id, d)
	}
}

// prompts holds that every prompt is there once and came to an end.
func (c *campaign) prompts(s lathe.Session, history []lathe.Message, prompts map[string]int) {
	e := turncheck.Ends{MayCancel: c.mayCancel, Violation: c.violation}
	e.Check(s, history, prompts)
	n := &c.count
	n.answers, n.canceled, n.rejected = n.answers+e.Answers, n.canceled+e.Canceled, n.rejected+e.Rejected
	n.cut, n.resumed = n.cut+e.Cut, n.resumed+e.Resumed
}

// mayCancel says that the user of the session, or of its parent, wanted this.
func (c *campaign) mayCancel(s lathe.Session) bool {
	id := s.ID
	if s.Parent != "" {
		id = s.Parent
	}
	slot, ok := slotOf(id)
	return ok && (order{c.seed, slot}).mayCancel(id)
}

// calls holds that nothing is open (I3), that every call has one end (I4), and that the files
// say the same as the history: no mark twice, none of an unknown call, and one for every call
// that was completed.
func (c *campaign) calls(id lathe.SessionID, history []lathe.Message) error {
	marks, err := c.marks(id)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range history {
		if a, ok := m.Data.(*lathe.Assistant); ok && a.Completed == 0 {
			c.violation("%s: answer %s has no end", id, m.ID)
		}
		for _, p := range m.Parts {
			call, ok := p.Body.(*lathe.ToolCall)
			if p.Open() || ok && !call.Settled() {
				c.violation("%s: part %s of %s is open", id, p.ID, m.ID)
			}
			if ok {
				c.call(id, call, marks, known)
			}
		}
	}
	for key, n := range marks {
		if n > 1 || !known[key] {
			c.violation("%s: mark %s was left %d times, in the history: %v", id, key, n, known[key])
		}
	}
	return nil
}

func (c *campaign) call(id lathe.SessionID, call *lathe.ToolCall, marks map[string]int, known map[string]bool) {
	var raw, meta json.RawMessage
	done := false
	switch s := call.State.(type) {
	case *lathe.Completed:
		raw, done = s.Input, true
		c.count.completed++
	case *lathe.Failed:
		raw, meta = s.Input, s.Metadata
	case *lathe.Pending, *lathe.Running:
		return // reported as open
	}
	var in marking
	_ = json.Unmarshal(raw, &in) // the arguments of a call that was cut off may be half there
	if known[in.Key] && in.Key != "" {
		c.violation("%s: two calls have the key %s", id, in.Key)
	}
	known[in.Key] = true
	switch {
	case done && marks[in.Key] != 1:
		c.violation("%s: call %s is completed and its mark %q was left %d times", id, call.CallID, in.Key, marks[in.Key])
	case done:
	case strings.Contains(string(meta), `"interrupted":true`):
		c.count.interrupted++
	default:
		c.count.failed++
	}
}

// marks counts the keys in the file of a session.
func (c *campaign) marks(id lathe.SessionID) (map[string]int, error) {
	out := map[string]int{}
	text, err := os.ReadFile(filepath.Join(c.dir, "marks", string(id)))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for key := range strings.Lines(string(text)) {
		out[strings.TrimSuffix(key, "\n")]++
		c.count.marks++
	}
	return out, nil
}

// everywhere sends each history to every protocol: all of them must take its shape. A canceled
// turn is not started again, because no user can answer.
func (c *campaign) everywhere(ctx context.Context, e *engine.Engine, all []lathe.Session) error {
	c.provider.brief.Store(true)
	protocols := modeltest.Protocols()
	c.count.histories = len(protocols)
	for batch := range slices.Chunk(all, slots) {
		for _, p := range protocols {
			for _, s := range batch {
				_, err := e.Submit(ctx, s.ID, lathe.Prompt{
					Model: &lathe.ModelRef{Provider: "test", Model: string(p)},
					Parts: []lathe.Part{{Body: &lathe.Text{Text: "Is that so?"}}},
				})
				if err != nil {
					return fmt.Errorf("ask %s of %s: %w", p, s.ID, err)
				}
			}
			for _, s := range batch {
				m, err := e.Wait(ctx, s.ID)
				if err != nil {
					return err
				}
				if a, ok := m.Data.(*lathe.Assistant); !ok || a.Error != nil {
					c.violation("%s: %s does not answer its history: %+v", s.ID, p, m.Data)
				}
			}
		}
	}
	c.requests()
	return nil
}
