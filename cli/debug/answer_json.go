package debug

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/model"
)

// errWrite reports that standard output is closed.
var errWrite = errors.New("write the answer")

// eventJSON is one line of --json.
type eventJSON struct {
	Type     string    `json:"type"`
	ID       string    `json:"id,omitempty"`
	Model    string    `json:"model,omitempty"`
	Name     string    `json:"name,omitempty"`
	Text     *string   `json:"text,omitempty"`
	Input    *string   `json:"input,omitempty"`
	Output   jsonValue `json:"output,omitempty"`
	Executed bool      `json:"executed,omitempty"`
	Failed   bool      `json:"failed,omitempty"`
	URL      string    `json:"url,omitempty"`
	Title    string    `json:"title,omitempty"`
	Meta     jsonValue `json:"metadata,omitempty"`
}

type usageEvent struct {
	Type   string       `json:"type"`
	Tokens lathe.Tokens `json:"tokens"`
	Cost   float64      `json:"cost"`
}

type finishEvent struct {
	Type   string    `json:"type"`
	Reason string    `json:"reason"`
	Raw    string    `json:"raw,omitempty"`
	Meta   jsonValue `json:"metadata,omitempty"`
}

type errorEvent struct {
	Type      string     `json:"type"`
	Code      lathe.Code `json:"code"`
	Message   string     `json:"message"`
	Status    int        `json:"status,omitempty"`
	Retryable bool       `json:"retryable,omitempty"`
}

// line prints an event as JSON.
func (s *stream) line(e model.Event) error {
	switch e := e.(type) {
	case model.UsageUpdate:
		t, cost := s.cost()
		return s.write(usageEvent{"usage", lathe.Tokens{}.Add(t), cost.Dollars()})
	case model.Finish:
		return s.write(finishEvent{"finish", e.Reason, e.Raw, e.Meta})
	default:
		return s.write(lineOf(e))
	}
}

// lineOf gives an event its type name, and only the fields that it uses.
func lineOf(e model.Event) eventJSON {
	switch e := e.(type) {
	case model.Start:
		return eventJSON{Type: "start", ID: e.ID, Model: e.Model}
	case model.TextStart:
		return eventJSON{Type: "text-start", ID: e.ID}
	case model.TextDelta:
		return eventJSON{Type: "text-delta", ID: e.ID, Text: &e.Text}
	case model.TextEnd:
		return eventJSON{Type: "text-end", ID: e.ID, Meta: e.Meta}
	case model.ReasoningStart:
		return eventJSON{Type: "reasoning-start", ID: e.ID, Meta: e.Meta}
	case model.ReasoningDelta:
		return eventJSON{Type: "reasoning-delta", ID: e.ID, Text: &e.Text, Meta: e.Meta}
	case model.ReasoningEnd:
		return eventJSON{Type: "reasoning-end", ID: e.ID, Meta: e.Meta}
	case model.InputStart:
		return eventJSON{Type: "tool-input-start", ID: e.ID, Name: e.Name, Executed: e.Executed}
	case model.InputDelta:
		return eventJSON{Type: "tool-input-delta", ID: e.ID, Text: &e.Text}
	case model.InputEnd:
		return eventJSON{Type: "tool-input-end", ID: e.ID}
	case model.ToolCall:
		return eventJSON{Type: "tool-call", ID: e.ID, Name: e.Name, Input: &e.Input, Executed: e.Executed, Meta: e.Meta}
	case model.ToolResult:
		return eventJSON{Type: "tool-result", ID: e.ID, Name: e.Name, Output: e.Output, Failed: e.Failed, Meta: e.Meta}
	case model.Source:
		return eventJSON{Type: "source", ID: e.ID, URL: e.URL, Title: e.Title}
	case model.UsageUpdate, model.Finish: // encoded separately
	}
	return eventJSON{Type: "unknown"}
}

// write prints one line and flushes it.
func (s *stream) write(v any) error {
	err := layout.JSONTo(s.app.Out).Encoder().Encode(v)
	if err = cmp.Or(err, s.app.Out.Flush()); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}
