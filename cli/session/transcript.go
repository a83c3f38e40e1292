package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Transcript prints messages as text.
type Transcript struct {
	Out    io.Writer
	Now    time.Time
	width  int
	Detail bool // show reasoning, tool input and tool output
}

// The default and the maximum width of the rules between messages.
const (
	ruleWidth = 80
	ruleMost  = 100
)

func (t *Transcript) Messages(all []lathe.Message) error {
	for _, m := range all {
		var b strings.Builder
		t.message(&b, m)
		if _, err := io.WriteString(t.Out, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// message prints a message: speaker and ID, its parts, then tokens, cost and time.
func (t *Transcript) message(b *strings.Builder, m lathe.Message) {
	b.WriteString("\n" + t.rule(t.speaker(m), string(m.ID)) + "\n")
	for _, p := range m.Parts {
		if text := t.part(p); text != "" {
			b.WriteString(strings.TrimRight(text, "\n ") + "\n")
		}
	}
	a, ok := m.Data.(*lathe.Assistant)
	if !ok {
		return
	}
	if a.Error != nil {
		fmt.Fprintf(b, "✗ %s: %s\n", termtext.Plain(a.Error.Name()), termtext.Plain(lathe.FaultMessage(a.Error)))
	}
	if foot := JoinDots(FormatTokens(a.Tokens), FormatCost(a.Cost), layout.FormatSpan(m.Created, a.Completed)); foot != "" {
		fmt.Fprintf(b, "  %s\n", foot)
	}
}

// JoinDots joins the non-empty words with dots.
func JoinDots(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " · ")
}

// FormatCost formats an amount, or nothing if it is zero.
func FormatCost(m lathe.Money) string {
	if m == 0 {
		return ""
	}
	return m.Short()
}

// speaker returns the author and time of a message.
func (t *Transcript) speaker(m lathe.Message) string {
	a, ok := m.Data.(*lathe.Assistant)
	if !ok {
		return "you · " + layout.FormatTime(m.Created, t.Now)
	}
	summary := ""
	if a.Summary.On() {
		summary = "summary"
	}
	return JoinDots(termtext.Plain(a.Agent), summary, layout.FormatTime(m.Created, t.Now), termtext.Plain(modelName(a.Model)))
}

// rule returns a line with a name at each end, or two lines if they do not fit.
func (t *Transcript) rule(left, right string) string {
	width := ruleWidth
	if t.width > 0 {
		width = min(t.width, ruleMost)
	}
	if width < termtext.Columns(right)+layout.MinColumn+8 {
		return "── " + termtext.Clip(left, max(layout.MinColumn, width-3)) + "\n   " + right
	}
	left = termtext.Clip(left, max(layout.MinColumn, width-termtext.Columns(right)-8))
	fill := max(2, width-termtext.Columns(left)-termtext.Columns(right)-5)
	return "── " + left + " " + strings.Repeat("─", fill) + " " + right
}

// part formats a part, or returns "" if it is not shown.
func (t *Transcript) part(p lathe.Part) string {
	switch b := p.Body.(type) {
	case *lathe.Text:
		switch {
		case b.Ignored.On():
			return "! " + t.line(b.Text) // a notice about the answer
		case b.Synthetic.On() && !t.Detail:
			return ""
		}
		return termtext.PlainText(b.Text)
	case *lathe.Reasoning:
		if !t.Detail || b.Text == "" {
			return ""
		}
		return "Thinking: " + termtext.PlainText(b.Text)
	case *lathe.ToolCall:
		return t.tool(b)
	case *lathe.File:
		return "+ " + t.line("file "+fileName(b))
	case *lathe.Patch:
		return "~ " + t.line(termtext.Plural(len(b.Files), "file")+" changed: "+strings.Join(b.Files, ", "))
	case *lathe.Subtask:
		return "# " + t.line("task for "+b.Agent+": "+b.Description)
	case *lathe.AgentMention:
		return "@ " + t.line(b.Name)
	case *lathe.Compaction:
		return "… the history before this was summarized"
	case *lathe.Retry:
		return "! " + t.line(fmt.Sprintf("attempt %d failed: %s", b.Attempt, lathe.FaultMessage(b.Error)))
	case *lathe.UnknownBody:
		return "? " + t.line("a part of type "+b.TypeName+" (unknown to this version)")
	default: // step boundaries and snapshots
		return ""
	}
}

func (t *Transcript) line(s string) string {
	if t.width > 0 {
		return termtext.Clip(termtext.Plain(s), t.width-2)
	}
	return termtext.Plain(s)
}

func fileName(f *lathe.File) string {
	name := f.Filename
	if name == "" && !strings.HasPrefix(f.URL, "data:") {
		name = f.URL
	}
	return strings.TrimSpace(name + " (" + f.Mime + ")")
}

// tool formats a tool call, with input and output if wanted.
func (t *Transcript) tool(c *lathe.ToolCall) string {
	icon, title, body, input := "·", "", "", json.RawMessage(nil)
	switch s := c.State.(type) {
	case *lathe.Pending:
		input = s.Input
	case *lathe.Running:
		icon, title, input = "▸", s.Title, s.Input
	case *lathe.Completed:
		icon, title, body, input = "✓", s.Title, s.Output, s.Input
	case *lathe.Failed:
		icon, title, input = "✗", strings.TrimPrefix(phrase.Hint(s.Input)+": "+s.Error, ": "), s.Input
	}
	out := icon + " " + t.line(c.Tool+"  "+cmp.Or(title, phrase.Hint(input)))
	if !t.Detail {
		return out
	}
	if len(input) > 0 && string(input) != "{}" {
		out += "\n" + indent(termtext.PlainText(string(input)))
	}
	if body != "" {
		out += "\n" + indent(termtext.PlainText(strings.TrimRight(body, "\n")))
	}
	return out
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
