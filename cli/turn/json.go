package turn

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/tui/inline"
)

// JSON prints one object for each finished part.
type JSON struct {
	*cli.App
	Turn     *Turn
	Thinking bool // reasoning is shown
}

// jsonLine is one object, with its members in this order.
type jsonLine struct {
	Type      string          `json:"type"`
	Timestamp int64           `json:"timestamp"`
	Session   lathe.SessionID `json:"sessionID"`
	Part      *lathe.Part     `json:"part,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

// Show prints the object of an event.
func (s *JSON) Show(_ context.Context, ev lathe.Event) {
	if ev.Session != s.Turn.Session.ID {
		return
	}
	switch f := ev.Fact.(type) {
	case *lathe.PartChanged:
		if kind := s.kind(f.Part); kind != "" {
			s.print(jsonLine{Type: kind, Part: &f.Part})
		}
	case *lathe.SessionFailed:
		s.print(jsonLine{Type: "error", Error: lathe.EncodeFault(f.Error)})
	default:
	}
}

// kind returns the type of a part's object, or "" for none.
func (s *JSON) kind(p lathe.Part) string {
	switch b := p.Body.(type) {
	case *lathe.StepStart:
		return "step_start"
	case *lathe.Text:
		switch {
		case isRemark(b):
			return "note"
		case s.Turn.Record.IsAnswer(p):
			return "text"
		}
	case *lathe.Reasoning:
		if b.Time.End != 0 && s.Thinking {
			return "reasoning"
		}
	case *lathe.ToolCall:
		if b.Settled() && !inline.IsCompacted(b) {
			return "tool_use"
		}
	case *lathe.StepFinish:
		return "step_finish"
	default:
	}
	return ""
}

func (s *JSON) print(l jsonLine) {
	l.Timestamp, l.Session = s.Now().UnixMilli(), s.Turn.Session.ID
	if line, err := json.Marshal(l); err == nil {
		s.Printf("%s\n", layout.EscapeJSON(line))
		s.Flush()
	}
}

// Note prints nothing, because standard output is for programs.
func (s *JSON) Note(string) {}

// End prints why the prompt was not sent, unless an event did.
func (s *JSON) End(ctx context.Context, err error) error {
	var refused NotSent
	switch {
	case errors.As(err, &refused):
		if s.Turn.Record.Failed == nil {
			s.print(jsonLine{Type: "error", Error: lathe.EncodeFault(&lathe.UnknownFault{Message: refused.Error()})})
		}
		return refused.error
	case err != nil:
		return err
	}
	s.Turn.settle(ctx, s.App)
	if failed := s.Turn.Record.Failed; failed != nil {
		return cli.Reported{Code: cli.ExitCodeOf(failed)} // printed as an object
	}
	return s.Turn.outcome()
}
