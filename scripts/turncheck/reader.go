package turncheck

import (
	"encoding/json"
	"fmt"

	"github.com/lathe-agent/lathe"
)

// Reader follows the feed as a client that stays connected: it keeps its events and its cursor, and never reads a
// history.
type Reader struct {
	At       lathe.Cursor
	Sessions map[lathe.SessionID]*lathe.Transcript
	Events   int
	Retries  int // statuses that report one
}

// NewReader returns a reader that has seen nothing.
func NewReader() *Reader { return &Reader{Sessions: map[lathe.SessionID]*lathe.Transcript{}} }

// Take adds an event of a feed.
func (r *Reader) Take(ev lathe.Event, feed string) error {
	r.Events++
	if _, ok := ev.Fact.(*lathe.ServerResync); ok {
		return fmt.Errorf("the cursor %s could not be resumed from", r.At)
	}
	if ev.Last && ev.Seq < r.At.Seq {
		return fmt.Errorf("number %d comes after %d", ev.Seq, r.At.Seq)
	}
	if s, ok := ev.Fact.(*lathe.StatusChanged); ok && s.Status.Type == lathe.Retrying {
		r.Retries++
	}
	if id := lathe.SessionOf(ev.Fact); id != "" {
		t := r.Sessions[id]
		if t == nil {
			t = lathe.NewTranscript(lathe.Session{ID: id}, nil)
			r.Sessions[id] = t
		}
		was := t.Stale()
		t.Apply(ev)
		if t.Stale() && !was {
			return fmt.Errorf("a delta of session %s does not fit the earlier events: %s", id, ev.AppendWithOffset(nil))
		}
	}
	if ev.Last {
		r.At = lathe.Cursor{Seq: ev.Seq, Feed: feed}
	}
	return nil
}

// Differs compares a session with the store, and describes the first difference; "" means that there is none.
func (r *Reader) Differs(id lathe.SessionID, stored []lathe.Message) string {
	t := r.Sessions[id]
	if t == nil {
		return "the client never heard of it"
	}
	if t.Status().Type != lathe.Idle || len(t.Asks()) > 0 {
		return fmt.Sprintf("the client believes it is %s with %d asks", t.Status().Type, len(t.Asks()))
	}
	seen := t.Messages()
	for i := range max(len(seen), len(stored)) {
		var a, b []byte
		if i < len(stored) {
			a, _ = json.Marshal(stored[i])
		}
		if i < len(seen) {
			b, _ = json.Marshal(seen[i])
		}
		if string(a) != string(b) {
			return fmt.Sprintf("message %d is in the store\n\t%s\nand with the client\n\t%s", i, a, b)
		}
	}
	return ""
}
