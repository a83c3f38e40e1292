// Package waiting tracks times that events do not carry: since when a session is silent, and how long its running calls
// have waited for the user.
//
// For one goroutine. Start with Clock.Event.
package waiting

import (
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// Clock tracks the times of sessions. The zero value is ready.
type Clock struct {
	heard map[lathe.SessionID]time.Time
	asked map[lathe.AskID]string  // the call that asks
	waits map[string][]lathe.Wait // by call; the last one may be open
}

// Event takes in an event at the time of its arrival.
func (c *Clock) Event(e lathe.Event, now time.Time) {
	if c.heard == nil {
		c.heard, c.asked, c.waits = map[lathe.SessionID]time.Time{}, map[lathe.AskID]string{}, map[string][]lathe.Wait{}
	}
	id := lathe.SessionOf(e.Fact)
	switch f := e.Fact.(type) {
	case *lathe.PermissionAsked:
		c.begin(f.ID, f.Tool, now)
	case *lathe.QuestionAsked:
		c.begin(f.ID, f.Tool, now)
	case *lathe.PermissionReplied, *lathe.QuestionReplied, *lathe.QuestionRejected:
		c.end(lathe.AskOf(f), now)
	case *lathe.StatusChanged:
		if f.Status.Type == lathe.Idle {
			delete(c.heard, id)
			return
		}
	case *lathe.PartChanged:
		if t, ok := f.Part.Body.(*lathe.ToolCall); ok && t.Settled() {
			delete(c.waits, t.CallID) // its metadata has them now
		}
	default:
	}
	if id != "" {
		c.heard[id] = now
	}
}

func (c *Clock) begin(id lathe.AskID, call *lathe.ToolRef, now time.Time) {
	if _, known := c.asked[id]; known || call == nil {
		return
	}
	c.asked[id] = call.Call
	c.waits[call.Call] = append(c.waits[call.Call], lathe.Wait{lathe.Time(now.UnixMilli()), 0})
}

func (c *Clock) end(id lathe.AskID, now time.Time) {
	call, known := c.asked[id]
	if !known {
		return
	}
	delete(c.asked, id)
	if w := c.waits[call]; len(w) > 0 {
		w[len(w)-1][1] = lathe.Time(now.UnixMilli())
	}
}

// Waits are the waits of a running call for the user so far. One that has not ended ends at 0.
func (c *Clock) Waits(call string) []lathe.Wait { return c.waits[call] }

// Silence is how long nothing came from a session.
func (c *Clock) Silence(id lathe.SessionID, now time.Time) time.Duration {
	if at, ok := c.heard[id]; ok {
		return now.Sub(at)
	}
	return 0
}

// ForModel reports whether a session waits for its model, and for nothing that it has started itself. Prompts that wait
// stand after the answer.
func ForModel(t *lathe.Transcript) bool {
	for i := t.Count() - 1; i >= 0; i-- {
		h := t.View(i)
		if _, answer := h.Data().(*lathe.Assistant); !answer {
			continue
		}
		for j := range h.Len() {
			if _, body, _ := h.Peek(j); isRunning(body) {
				return false
			}
		}
		return true
	}
	return true
}

func isRunning(b lathe.Body) bool {
	c, ok := b.(*lathe.ToolCall)
	return ok && !c.Settled()
}

// patience is how long a silent model needs no word.
const patience = 15 * time.Second

// Text says that a model is silent, and when lathe gives up; "" before that is worth a word. A limit of 0 is not known.
func Text(silent, limit time.Duration) string {
	if silent < patience {
		return ""
	}
	text := "no data for " + style.Duration(silent.Truncate(time.Second))
	if limit > 0 {
		text += ", gives up at " + limit.String()[:len(limit.String())-len(tail(limit))]
	}
	return text
}

// tail are the zeros at the end of a time, such as the 0s of 5m0s.
func tail(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return "0m0s"
	case d%time.Minute == 0:
		return "0s"
	default:
		return ""
	}
}
