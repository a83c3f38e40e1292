package turn

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/inline"
	"github.com/lathe-agent/lathe/tui/style"
)

// Output is a sink of `lathe run` that also prints how the turn ended.
type Output interface {
	Sink
	// End prints the summary. It gets the error of Run and returns the error of the command.
	End(ctx context.Context, err error) error
}

// Plain prints the answer to standard output and everything else to standard error.
type Plain struct {
	*cli.App
	Turn       *Turn
	Began      time.Time
	Thinking   bool // reasoning is shown
	Structured bool // only a structured answer is printed

	reasoning map[lathe.PartID]bool // open ones
	printed   map[lathe.PartID]bool // texts on the screen
	midLine   bool                  // the screen is in the middle of a line
	held      string                // an answer to print unless a check replaces it
}

// NewPlain returns the plain output of a turn that starts now.
func NewPlain(a *cli.App, t *Turn) *Plain {
	return &Plain{App: a, Turn: t, Began: a.Now(), reasoning: map[lathe.PartID]bool{}, printed: map[lathe.PartID]bool{}}
}

// Show prints an event of the session.
func (s *Plain) Show(_ context.Context, ev lathe.Event) {
	if ev.Session != s.Turn.Session.ID {
		return
	}
	switch f := ev.Fact.(type) {
	case *lathe.PartDelta:
		s.delta(f)
	case *lathe.PartChanged:
		s.part(f.Part)
	case *lathe.PartRemoved:
		if s.printed[f.Part] {
			s.Note("(connection lost; the text above is repeated)")
		}
	default:
	}
}

// Note prints a notice, faint on a color terminal.
func (s *Plain) Note(text string) { s.remark(s.dim(text)) }

func (s *Plain) remark(text string) {
	s.newLine()
	s.Notify("%s", text)
}

func (s *Plain) dim(text string) string { return s.Paint(s.Stderr, text, style.Attr{Faint: true}) }

// delta streams text on a terminal. Elsewhere only whole texts are printed, so that a discarded attempt leaves no
// output.
func (s *Plain) delta(d *lathe.PartDelta) {
	switch {
	case s.Structured || !cli.IsTerminal(s.Stdout.File) || d.Message == s.Turn.Record.Summary:
	case !s.reasoning[d.Part]:
		s.printed[d.Part] = true
		s.say(termtext.PlainText(d.Delta))
	case s.Thinking:
		s.say(s.dim(termtext.PlainText(d.Delta)))
	}
}

func (s *Plain) say(text string) {
	if text != "" {
		s.Printf("%s", text)
		s.midLine = !strings.HasSuffix(text, "\n")
		s.Flush()
	}
}

// newLine ends an unfinished line.
func (s *Plain) newLine() {
	if s.midLine {
		s.say("\n")
	}
}

// part prints a finished part.
func (s *Plain) part(p lathe.Part) {
	switch b := p.Body.(type) {
	case *lathe.Text:
		switch {
		case b.Synthetic.On() && !isRemark(b):
			s.retract(p)
		case s.Turn.Record.IsAnswer(p) && !s.Structured:
			s.text(p.ID, b.Text)
		}
	case *lathe.Reasoning:
		s.reasoning[p.ID] = b.Time.End == 0
		switch {
		case b.Time.End == 0 || !s.Thinking:
		case cli.IsTerminal(s.Stdout.File):
			s.newLine()
		case b.Text != "":
			s.Note("Thinking: " + termtext.PlainText(b.Text))
		}
	case *lathe.ToolCall:
		if !inline.IsCompacted(b) {
			s.release()
			s.call(b)
		}
	default:
	}
}

func (s *Plain) text(id lathe.PartID, text string) {
	switch {
	case s.printed[id]:
		s.newLine()
	case strings.TrimSpace(text) != "":
		s.held += strings.TrimSpace(termtext.PlainText(text)) + "\n" // a check may replace it
	}
}

// release prints the held answer.
func (s *Plain) release() {
	s.say(s.held)
	s.held = ""
}

// retract prints an answer that a check rejected as a notice. A truncated answer stays, because it is continued.
func (s *Plain) retract(p lathe.Part) {
	names, cutOff := firedChecks(p)
	if cutOff {
		s.release()
	}
	if len(names) > 0 && s.held != "" {
		s.Note(strings.TrimSuffix(s.held, "\n"))
		s.held = ""
	}
}

// firedChecks returns the names of the checks that a part reports.
func firedChecks(p lathe.Part) (names []string, cutOff bool) {
	fired := check.CountIssues([]lathe.Message{{Parts: []lathe.Part{p}}})
	for _, c := range check.All() {
		if fired[c] > 0 {
			names = append(names, string(c))
		}
	}
	return names, fired[check.CutOff] > 0
}

// call prints a finished tool call in one line.
func (s *Plain) call(c *lathe.ToolCall) {
	switch st := c.State.(type) {
	case *lathe.Completed:
		s.Note(Icon(c.Tool) + " " + termtext.Clip(termtext.OneLine(termtext.Plain(cmp.Or(st.Title, c.Tool))), 100))
	case *lathe.Failed:
		s.Note("✗ " + termtext.Plain(c.Tool) + " failed: " + termtext.Clip(termtext.OneLine(termtext.Plain(st.Error)), 200))
	default:
	}
}

// Icon returns the icon of a tool, the same as in OpenCode.
func Icon(tool string) string {
	return cmp.Or(map[string]string{
		"bash": "$", "read": "→", "skill": "→", "list": "→", "write": "←", "edit": "←", "apply_patch": "%", "webfetch": "%",
		"glob": "✱", "grep": "✱", "websearch": "◈", "todowrite": "#", "task": "#",
	}[tool], "⚙")
}

// Ask prints a question and reads the answer.
func (s *Plain) Ask(ctx context.Context, about []string, choices string) (string, error) {
	s.newLine()
	s.App.Ask("%s\n  %s ", strings.Join(about, "\n"), choices)
	return s.readAnswer(ctx)
}

func (s *Plain) readAnswer(ctx context.Context) (string, error) {
	line, err := cli.ReadOrCancel(ctx, func() ([]byte, error) {
		text, err := bufio.NewReader(s.Stdin).ReadString('\n')
		return []byte(text), err
	})
	return string(line), err
}

// End prints the rest of the answer and the summary.
func (s *Plain) End(ctx context.Context, err error) error {
	s.release()
	s.newLine()
	return s.end(ctx, err, s.remark, func() {
		s.Note(s.summary(ctx, "", s.Turn.Record.worked(s.Began, s.Now()).Round(100*time.Millisecond).String()))
	})
}

// end prints how the turn ended, using the output's functions for notices and the summary.
func (s *Plain) end(ctx context.Context, err error, remark func(string), summary func()) error {
	var refused NotSent
	switch {
	case errors.As(err, &refused):
		return refused.error
	case err != nil && s.Attach != "":
		remark(fmt.Sprintf("Interrupted and stopped on the server. Continue with `lathe run --attach %s -s %s PROMPT`.", termtext.Plain(s.Attach), s.Turn.Session.ID))
		return err
	case err != nil: // closing the engine settles the turn, which can be resumed
		remark(fmt.Sprintf("Interrupted. Resume with `lathe run --resume -s %s`.", s.Turn.Session.ID))
		return err
	}
	s.Turn.settle(ctx, s.App)
	summary()
	if err := s.Turn.outcome(); err != nil || !s.Structured {
		return err
	}
	return s.printStructured()
}

// summary returns the last line: tokens, cost, extra text, time and budget.
func (s *Plain) summary(ctx context.Context, changes, took string) string {
	r, budget := &s.Turn.Record, ""
	if accounts, err := session.BudgetAccounts(ctx, &s.Host, s.Turn.Engine, s.Turn.Session); err == nil {
		budget = session.BudgetLine(accounts)
	}
	return session.JoinDots(session.FormatTokens(r.Tokens), session.FormatCost(r.Cost), changes, took, budget)
}

// printStructured prints the structured answer, or returns an error if there is none.
func (s *Plain) printStructured() error {
	if s.Turn.Record.Structured == nil {
		return errUnstructured()
	}
	var line bytes.Buffer
	if err := json.Compact(&line, s.Turn.Record.Structured); err != nil {
		return err
	}
	s.Printf("%s\n", line.Bytes())
	return nil
}

func errUnstructured() error {
	return lathe.Errorf(lathe.Refused, "the model did not return the structured answer; try again, or use another model")
}
