package inline

import (
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Follow draws the events of a session and of those that work for it. Its screen is that of the caller.
type Follow struct {
	Thinking  bool                  // reasoning is shown
	Reasoning map[lathe.PartID]bool // parts of reasoning, and whether they are open
	Printed   map[lathe.PartID]bool // texts on the screen

	// GiveUp, if any, is how long a provider may send nothing.
	GiveUp func(provider string) time.Duration

	summary lathe.MessageID // of a compaction, which is only for the model
	limit   time.Duration
}

// Own draws an event of the session itself.
func (f *Follow) Own(s *Screen, fact lathe.Fact) {
	defer func() { s.hear(s.Now(), f.limit) }()
	switch fact := fact.(type) {
	case *lathe.MessageChanged:
		m, ok := fact.Info.Data.(*lathe.Assistant)
		if ok && f.GiveUp != nil {
			f.limit = f.GiveUp(m.Model.Provider)
		}
		if ok && m.Summary.On() {
			f.summary = fact.Info.ID
		}
	case *lathe.PartDelta:
		if fact.Message != f.summary {
			f.grow(s, fact.Part, fact.Delta)
		}
	case *lathe.PartChanged:
		f.part(s, fact.Part)
	case *lathe.PartRemoved:
		if f.Printed[fact.Part] {
			s.DiscardText(fact.Part)
		}
	case *lathe.StatusChanged:
		s.SetWaiting(fact.Status.Type == lathe.Busy)
	default:
	}
}

// part starts, updates or finishes one part.
func (f *Follow) part(s *Screen, p lathe.Part) {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if p.Message == f.summary || !IsAnswer(b) {
			return
		}
		if !f.Printed[p.ID] {
			f.grow(s, p.ID, b.Text)
		}
		s.EndText(p.ID)
	case *lathe.ToolCall:
		if !IsCompacted(b) {
			s.UpdateCall("", p.ID, b)
		}
	case *lathe.Reasoning:
		open := b.Time.End == 0
		f.Reasoning[p.ID] = open
		if s.SetThinking(open); !open {
			s.EndText(p.ID)
		}
	default:
	}
}

// grow appends to a text, or to reasoning if that is shown.
func (f *Follow) grow(s *Screen, id lathe.PartID, more string) {
	reasoning := f.Reasoning[id]
	if reasoning && !f.Thinking {
		return
	}
	f.Printed[id] = true
	s.AppendText(id, termtext.PlainText(more), reasoning)
}

// Child draws an event of a session that works for this one.
func (f *Follow) Child(s *Screen, id lathe.SessionID, title string, fact lathe.Fact) {
	switch fact := fact.(type) {
	case *lathe.PartChanged:
		if c, ok := fact.Part.Body.(*lathe.ToolCall); ok && !IsCompacted(c) {
			s.AddBackground(id, title)
			s.UpdateCall(id, fact.Part.ID, c)
		}
	case *lathe.StatusChanged:
		if fact.Status.Type == lathe.Idle {
			s.EndBackground(id)
		}
	default:
	}
}

// IsAnswer reports whether a text is finished and for the user.
func IsAnswer(b *lathe.Text) bool {
	return !b.Synthetic.On() && !b.Ignored.On() && b.Time != nil && b.Time.End != 0
}

// IsCompacted reports whether compaction has removed the output of a call.
func IsCompacted(t *lathe.ToolCall) bool {
	done, ok := t.State.(*lathe.Completed)
	return ok && done.Compacted != 0
}
