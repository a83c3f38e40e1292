package turn

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/tui/inline"
)

// Record collects the results of a turn.
type Record struct {
	Agent      string            // of the answer
	Prompts    []lathe.MessageID // answered so far
	Texts      []Text
	Structured json.RawMessage
	Tokens     lathe.Tokens
	Cost       lathe.Money
	Tools      int             // finished calls
	Summary    lathe.MessageID // latest summary of a compaction, which is only for the model
	Refused    bool            // a permission request was refused
	Failed     error

	waits map[lathe.PartID][]lathe.Wait // time that finished calls waited for the user
}

// Text is a trimmed text of an answer; it may be "".
type Text struct {
	In   lathe.MessageID
	Text string
}

// add records an event of the session and reports whether a compaction has started.
func (r *Record) add(f lathe.Fact) (compressed bool) {
	switch f := f.(type) {
	case *lathe.PartChanged:
		r.part(f.Part)
	case *lathe.MessageChanged:
		switch m := f.Info.Data.(type) {
		case *lathe.User:
			r.Agent = m.Agent
		case *lathe.Assistant:
			if !slices.Contains(r.Prompts, m.Parent) {
				r.Prompts = append(r.Prompts, m.Parent)
			}
			if m.Structured != nil {
				r.Structured = m.Structured
			}
			if m.Summary.On() && r.Summary != f.Info.ID {
				r.Summary = f.Info.ID
				return true
			}
		}
	case *lathe.SessionFailed:
		r.Failed = cli.WithExit(lathe.Errorf(lathe.Internal, "%s", lathe.FaultMessage(f.Error)), cli.FaultExitCode(f.Error))
	default:
	}
	return false
}

// part records the texts, tool calls and usage that the summary and the JSON output need.
func (r *Record) part(p lathe.Part) {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if r.IsAnswer(p) {
			r.Texts = append(r.Texts, Text{p.Message, strings.TrimSpace(b.Text)})
		}
	case *lathe.ToolCall:
		if !b.Settled() || inline.IsCompacted(b) {
			return
		}
		r.Tools++
		if w := b.Waits(); len(w) > 0 {
			if r.waits == nil {
				r.waits = map[lathe.PartID][]lathe.Wait{}
			}
			r.waits[p.ID] = w
		}
		if s, ok := b.State.(*lathe.Failed); ok && isRefused(s.Metadata) {
			r.Refused = true
		}
	case *lathe.StepFinish:
		r.Tokens, r.Cost = r.Tokens.Add(b.Tokens), r.Cost.Add(b.Cost)
	default:
	}
}

// IsAnswer reports whether a part is a finished text for the user.
func (r *Record) IsAnswer(p lathe.Part) bool {
	b, ok := p.Body.(*lathe.Text)
	return ok && inline.IsAnswer(b) && p.Message != r.Summary
}

// isRemark reports whether a text is a notice of the engine and not part of the answer.
func isRemark(b *lathe.Text) bool { return b.Ignored.On() && (b.Time != nil || b.Synthetic.On()) }

// isRefused reports whether a call was refused without a user, or because it repeated itself.
func isRefused(metadata json.RawMessage) bool {
	var m struct{ Unattended, Stopped bool }
	return json.Unmarshal(metadata, &m) == nil && (m.Unattended || m.Stopped)
}

// answer returns the text of the latest answer.
func (r *Record) answer() string {
	var out []string
	for _, t := range r.Texts {
		if t.Text != "" && t.In == r.Texts[len(r.Texts)-1].In {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, "\n")
}

// worked returns the duration of the turn since a time, without the time spent waiting for the user.
func (r *Record) worked(began, now time.Time) time.Duration {
	var waits []lathe.Wait
	for _, w := range r.waits {
		waits = append(waits, w...)
	}
	return lathe.ActiveTime(lathe.Time(began.UnixMilli()), lathe.Time(now.UnixMilli()), waits)
}

// fileChange counts the changed lines of a file.
type fileChange struct {
	File      string `json:"file"`
	Status    string `json:"status,omitempty"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
}

// files returns the files that the turn changed, by name.
func (t *Turn) files(ctx context.Context) []fileChange {
	out := []fileChange{}
	for _, prompt := range t.Record.Prompts {
		diffs, err := t.Engine.Diff(ctx, t.Session.ID, prompt)
		if err != nil {
			continue // informational, so not an error of the turn
		}
		for _, d := range diffs {
			i := slices.IndexFunc(out, func(f fileChange) bool { return f.File == d.File })
			if i < 0 {
				out = append(out, fileChange{File: d.File, Status: d.Status})
				i = len(out) - 1
			}
			out[i].Additions += d.Additions
			out[i].Deletions += d.Deletions
		}
	}
	slices.SortFunc(out, func(a, b fileChange) int { return strings.Compare(a.File, b.File) })
	return out
}
