package debug

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tui/style"
)

// jsonValue is raw JSON.
type jsonValue = json.RawMessage

// printAnswer prints the events of an answer as they arrive.
func printAnswer(ctx context.Context, a *cli.App, q question) error {
	s := &stream{app: a, asked: q, began: a.Now()}
	show := s.show
	if a.JSON {
		show = s.line
	}
	for e, err := range (model.Bounded{Model: q.model, Output: q.limit}).Stream(ctx, q.request) {
		if err == nil {
			s.note(e)
			err = show(e)
		}
		if err != nil {
			s.endLine()
			return s.failed(err)
		}
	}
	s.endLine()
	if !a.JSON {
		s.summary()
	}
	switch s.reason {
	case model.FinishFilter:
		return lathe.Errorf(lathe.Refused, "the provider withheld the answer (%s)", s.raw)
	case model.FinishError:
		return lathe.Errorf(lathe.Unavailable, "the provider ended the answer with an error (%s)", s.raw)
	}
	return nil
}

// stream prints one answer.
type stream struct {
	app   *cli.App
	asked question
	began time.Time

	open    bool // standard output is in the middle of a line
	block   string
	said    bool
	thought bool // standard error is in the middle of a line

	usage       model.Usage
	used        bool
	reason, raw string
}

// note records values for the summary.
func (s *stream) note(e model.Event) {
	switch e := e.(type) {
	case model.UsageUpdate:
		s.usage, s.used = e.Usage, true
	case model.Finish:
		s.reason, s.raw = e.Reason, cmp.Or(termtext.Plain(e.Raw), e.Reason)
	default:
	}
}

// show prints an event as text.
func (s *stream) show(e model.Event) error {
	a := s.app
	switch e := e.(type) {
	case model.TextDelta:
		return s.text(e.ID, e.Text)
	case model.ReasoningDelta:
		s.think(e.Text)
	case model.ReasoningEnd:
		s.endThought()
	case model.ToolCall:
		s.printNotice("Call: %s %s", termtext.Plain(e.Name), termtext.Clip(termtext.Plain(e.Input), 500))
	case model.ToolResult:
		s.printNotice("Result: %s %s", termtext.Plain(e.Name), termtext.Clip(termtext.Plain(string(e.Output)), 500))
	case model.Source:
		s.printNotice("Source: %s", termtext.Plain(strings.TrimSpace(e.Title+" "+e.URL)))
	case model.Start, model.TextStart, model.TextEnd, model.ReasoningStart, model.InputStart, model.InputDelta, model.InputEnd, model.UsageUpdate, model.Finish:
	}
	return a.Out.Flush()
}

// text prints text as it arrives, without control characters on a terminal.
func (s *stream) text(id, text string) error {
	a := s.app
	s.endThought()
	if s.said && id != s.block && s.open {
		a.Printf("\n")
	}
	if cli.IsTerminal(a.Stdout.File) {
		text = termtext.PlainText(text)
	}
	s.block, s.said = id, true
	if text != "" {
		s.open = !strings.HasSuffix(text, "\n")
	}
	a.Printf("%s", text)
	return a.Out.Flush()
}

// think prints reasoning to standard error, faint on a color terminal.
func (s *stream) think(text string) {
	a := s.app
	if text == "" {
		return
	}
	s.endText()
	if text = termtext.PlainText(text); !s.thought {
		s.thought, text = true, "Thinking: "+text
	}
	a.Ask("%s", a.Paint(a.Stderr, text, style.Attr{Faint: true}))
}

func (s *stream) endThought() {
	if !s.thought {
		return
	}
	s.thought = false
	s.app.Ask("\n")
}

// endText ends the line of the text if both streams are terminals.
func (s *stream) endText() {
	if s.open && cli.IsTerminal(s.app.Stdout.File) {
		s.open = false
		s.app.Printf("\n")
		s.app.Flush()
	}
}

// printNotice prints a notice between the text.
func (s *stream) printNotice(format string, args ...any) {
	s.endThought()
	s.endText()
	s.app.Notify(format, args...)
}

// endLine ends unfinished lines on both streams.
func (s *stream) endLine() {
	s.endThought()
	if s.open {
		s.open = false
		s.app.Printf("\n")
	}
	s.app.Flush()
}

// summary prints tokens, cost and time.
func (s *stream) summary() {
	a := s.app
	if s.reason == model.FinishLength {
		a.Notify("The answer was truncated at the limit of %s tokens.", termtext.Count(s.asked.request.MaxOutput))
	}
	parts := []string{termtext.Plain(s.asked.info.Model.Ref())}
	if s.used {
		t, cost := s.cost()
		if text := session.FormatTokens(t); text != "" {
			parts = append(parts, text)
		}
		if cost > 0 {
			parts = append(parts, cost.String())
		}
	}
	parts = append(parts, a.Now().Sub(s.began).Round(time.Millisecond).String())
	a.Notify("%s", strings.Join(parts, " · "))
}

func (s *stream) cost() (lathe.Tokens, lathe.Money) { return model.Count(s.usage, s.asked.info.Price) }

// failed also prints the error as the last JSON line.
func (s *stream) failed(err error) error {
	if !s.app.JSON || errors.Is(err, errWrite) {
		return err
	}
	var e *lathe.Error
	out := errorEvent{Type: "error", Code: lathe.CodeOf(err), Message: err.Error()}
	if errors.As(err, &e) {
		if api, ok := e.Fault.(*lathe.APIFault); ok {
			out.Status, out.Retryable = api.StatusCode, api.Retryable
		}
	}
	if e := s.write(out); e != nil {
		return e
	}
	return err
}
