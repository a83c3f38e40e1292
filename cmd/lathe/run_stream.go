package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/inline"
)

// streamJSON is the format that prints every event.
const streamJSON = "stream-json"

func (r *runner) streams() bool { return r.flags.format == streamJSON }

// resultLine is the last line of --format stream-json; its members have this order.
type resultLine struct {
	Type       string          `json:"type"`
	Status     string          `json:"status"`
	ExitCode   int             `json:"exitCode"`
	Error      string          `json:"error,omitempty"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Tokens     tokensJSON      `json:"tokens"`
	Cost       float64         `json:"cost"`
	Files      []fileJSON      `json:"files"`
	Session    lathe.SessionID `json:"session"`
	Share      string          `json:"share,omitempty"`
	Duration   int64           `json:"durationMs"`
}

type fileJSON struct {
	File      string `json:"file"`
	Status    string `json:"status,omitempty"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
}

// streamed prints an event of the session, or of one that works for it.
func (r *runner) streamed(ctx context.Context, ev lathe.Event) {
	if !r.streams() || ev.Fact.Type() == "" || ev.Session == "" || ev.Session != r.session.ID && !r.isBelow(ctx, ev.Session) {
		return
	}
	r.Printf("%s\n", layout.EscapeJSON(ev.AppendJSON(nil)))
	_ = r.Out.Flush() // its error comes again when the program ends
}

// result prints the last line.
func (r *runner) result(ctx context.Context, err error) {
	if !r.streams() {
		return
	}
	l := resultLine{
		ExitCode: cli.CodeOfError(err), Text: strings.Join(r.said, "\n"), Structured: r.structured,
		Tokens: tokensJSON{r.tokens.Input, r.tokens.Output, r.tokens.Reasoning, cacheJSON{r.tokens.Cache.Read, r.tokens.Cache.Write}},
		Cost:   r.cost.Dollars(), Files: r.files(context.WithoutCancel(ctx)), Session: r.session.ID, Duration: r.worked().Milliseconds(),
	}
	if r.session.Share != nil {
		l.Share = r.session.Share.URL
	}
	switch {
	case r.failed != nil:
		l.Error = termtext.OneLine(r.failed.Error())
	case err != nil && !errors.As(err, new(cli.Failed)):
		l.Error = termtext.OneLine(err.Error())
	}
	printResult(r.App, l)
}

func printResult(a *cli.App, l resultLine) {
	l.Type, l.Status = "result", cli.StatusOf(l.ExitCode)
	if l.Files == nil {
		l.Files = []fileJSON{}
	}
	_ = layout.JSONTo(a.Out).Encoder().Encode(l) // of the writer: it comes again when the program ends
	_ = a.Out.Flush()
}

// follow shows a turn, live where that can be, and tells how it ended.
func (r *runner) follow(ctx context.Context, p lathe.Prompt) error {
	if r.isLive() {
		r.view, r.titles = inline.Start(inline.Options{Out: r.Out, Size: r.ScreenSize, Now: r.Now, Log: r.Log, OnDraw: r.OnDraw}), map[lathe.SessionID]string{}
		defer r.closeView()
	}
	err := r.turn(ctx, p)
	r.closeView()
	if !r.streams() {
		return err
	}
	r.result(ctx, err)
	if err != nil && !errors.As(err, new(cli.Interrupt)) {
		err = cli.Failed{Code: cli.CodeOfError(err)} // told in the result
	}
	if err != nil {
		err = resulted{err}
	}
	return err
}

// noted keeps of a message what the end of the turn tells: who answers, what, and to which prompts.
func (r *runner) noted(m lathe.Message) {
	switch s := m.Said.(type) {
	case *lathe.User:
		r.agent = s.Agent
	case *lathe.Assistant:
		if !slices.Contains(r.prompts, s.Parent) {
			r.prompts = append(r.prompts, s.Parent)
		}
		if s.Structured != nil {
			r.structured = s.Structured
		}
	}
}

// answered keeps the texts of the newest answer.
func (r *runner) answered(in lathe.MessageID, text string) {
	if r.saidIn != in {
		r.saidIn, r.said = in, nil
	}
	if text = strings.TrimSpace(text); text != "" {
		r.said = append(r.said, text)
	}
}

// resulted is an error of a turn whose result was printed.
type resulted struct{ error }

func (r resulted) Unwrap() error { return r.error }

// reportResult ends --format stream-json with a result too when the turn could not even begin.
func reportResult(a *cli.App, f runFlags, err error) error {
	if f.format != streamJSON || err == nil || errors.As(err, new(resulted)) {
		return err
	}
	printResult(a, resultLine{ExitCode: cli.CodeOfError(err), Error: termtext.OneLine(err.Error())})
	return cli.Failed{Code: cli.CodeOfError(err)}
}

// files are what the turn has changed, by name.
func (r *runner) files(ctx context.Context) (out []fileJSON) {
	for _, prompt := range r.prompts {
		diffs, err := r.engine.Diff(ctx, r.session.ID, prompt)
		if err != nil {
			continue // it is for people to know, and not why a turn fails
		}
		for _, d := range diffs {
			i := slices.IndexFunc(out, func(f fileJSON) bool { return f.File == d.File })
			if i < 0 {
				out = append(out, fileJSON{File: d.File, Status: d.Status})
				i = len(out) - 1
			}
			out[i].Additions += d.Additions
			out[i].Deletions += d.Deletions
		}
	}
	slices.SortFunc(out, func(a, b fileJSON) int { return strings.Compare(a.File, b.File) })
	return out
}

// shared lets others read the session, and says where.
func (r *runner) shared(ctx context.Context) error {
	server, ok := r.engine.(*client.Client)
	if !ok || !r.flags.share {
		return nil
	}
	s, err := server.ShareFor(ctx, r.session.ID, r.flags.expires)
	if err != nil {
		r.unmake(ctx)
		return err
	}
	if r.session = s; s.Share != nil {
		r.note("~ %s", termtext.Plain(s.Share.URL))
	}
	return nil
}
