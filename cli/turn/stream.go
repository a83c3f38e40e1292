package turn

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Stream prints every event of the session and its subagents, then a result.
type Stream struct {
	*cli.App
	Turn       *Turn
	Began      time.Time
	Structured bool // --output-schema is set
}

// Result is the last line of a stream, with its members in this order.
type Result struct {
	Type       string          `json:"type"`
	Status     string          `json:"status"`
	ExitCode   int             `json:"exitCode"`
	Error      string          `json:"error,omitempty"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Tokens     lathe.Tokens    `json:"tokens"`
	Cost       float64         `json:"cost"`
	Files      []fileChange    `json:"files"`
	Session    lathe.SessionID `json:"session"`
	Share      string          `json:"share,omitempty"`
	Duration   int64           `json:"durationMs"`
}

// Show prints an event of the session or a subagent.
func (s *Stream) Show(ctx context.Context, ev lathe.Event) {
	if ev.Fact.Type() == "" || ev.Session == "" || ev.Session != s.Turn.Session.ID && !s.Turn.IsDescendant(ctx, ev.Session) {
		return
	}
	s.Printf("%s\n", layout.EscapeJSON(ev.AppendJSON(nil)))
	s.Flush()
}

// Note prints nothing, because standard output is for programs.
func (s *Stream) Note(string) {}

// End prints the result.
func (s *Stream) End(ctx context.Context, err error) error {
	t, r := s.Turn, &s.Turn.Record
	var refused NotSent
	switch {
	case errors.As(err, &refused):
		err = refused.error
	case err == nil:
		t.settle(ctx, s.App)
		if err = t.outcome(); err == nil && s.Structured && r.Structured == nil {
			err = errUnstructured()
		}
	}
	l := Result{
		ExitCode: cli.ExitCodeOf(err), Text: r.answer(), Structured: r.Structured, Tokens: r.Tokens, Cost: r.Cost.Dollars(),
		Files: t.files(context.WithoutCancel(ctx)), Session: t.Session.ID, Duration: r.worked(s.Began, s.Now()).Milliseconds(),
	}
	if t.Session.Share != nil {
		l.Share = t.Session.Share.URL
	}
	switch {
	case r.Failed != nil:
		l.Error = termtext.OneLine(r.Failed.Error())
	case err != nil && !errors.As(err, new(cli.Reported)):
		l.Error = termtext.OneLine(err.Error())
	}
	s.result(l)
	if err == nil {
		return nil
	}
	if !errors.As(err, new(cli.Interrupt)) {
		err = cli.Reported{Code: cli.ExitCodeOf(err)} // printed in the result
	}
	return resulted{err}
}

func (s *Stream) result(l Result) {
	l.Type, l.Status = "result", cli.StatusOf(l.ExitCode)
	_ = layout.JSONTo(s.Out).Encoder().Encode(l) // Finish reports an error of the writer
	s.Flush()
}

// resulted is the error of a turn whose result was printed.
type resulted struct{ error }

func (r resulted) Unwrap() error { return r.error }

// ReportResult prints a result for a turn that could not start.
func ReportResult(a *cli.App, err error) error {
	if err == nil || errors.As(err, new(resulted)) {
		return err
	}
	code := cli.ExitCodeOf(err)
	(&Stream{App: a}).result(Result{ExitCode: code, Error: termtext.OneLine(err.Error()), Files: []fileChange{}})
	return cli.Reported{Code: code}
}
