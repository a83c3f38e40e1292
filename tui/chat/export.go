package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// Include selects the optional parts of an export.
type Include struct {
	Thinking, Tools, Metadata bool
	ModelName                 func(lathe.ModelRef) string
	Location                  *time.Location
}

// Markdown exports a session: the messages, and the selected optional parts.
func Markdown(s lathe.Session, messages []lathe.Message, in Include) string {
	if in.Location == nil {
		in.Location = time.UTC
	}
	at := func(t lathe.Time) string {
		return time.UnixMilli(int64(t)).In(in.Location).Format("2006-01-02 15:04:05")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", s.Title)
	fmt.Fprintf(&b, "**Session ID:** %s\n**Created:** %s\n**Updated:** %s\n\n---\n", s.ID, at(s.Created), at(s.Updated))
	for _, m := range messages {
		in.message(&b, m)
	}
	return b.String()
}

// message exports a message. Messages without any exported part are skipped.
func (in Include) message(b *strings.Builder, m lathe.Message) {
	head := "\n## User\n"
	if a, ok := m.Data.(*lathe.Assistant); ok {
		head = "\n## Assistant\n"
		if in.Metadata {
			head = "\n## Assistant (" + in.byline(a, m) + ")\n"
		}
	}
	var body strings.Builder
	for _, p := range m.Parts {
		in.part(&body, p.Body)
	}
	if a, ok := m.Data.(*lathe.Assistant); ok && a.Error != nil {
		fmt.Fprintf(&body, "\n**Error:** %s\n", FaultText(a.Error))
	}
	if body.Len() > 0 {
		b.WriteString(head)
		b.WriteString(body.String())
	}
}

// byline is the agent, the model and the working time of an answer.
func (in Include) byline(a *lathe.Assistant, m lathe.Message) string {
	model := a.Model.Model
	if in.ModelName != nil {
		model = in.ModelName(a.Model)
	}
	out := style.Capitalize(a.Agent) + " · " + model
	if a.Completed > 0 {
		var waits []lathe.Wait
		for _, p := range m.Parts {
			waits = append(waits, waitsOf(p.Body)...)
		}
		out += " · " + style.Duration(lathe.ActiveTime(m.Created, a.Completed, waits))
	}
	return out
}

// part exports a part of a message, if it is included.
func (in Include) part(b *strings.Builder, body lathe.Body) {
	switch p := body.(type) {
	case *lathe.Text:
		if !p.Synthetic.On() && !p.Ignored.On() && strings.TrimSpace(p.Text) != "" {
			fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(p.Text))
		}
	case *lathe.Reasoning:
		if in.Thinking && strings.TrimSpace(p.Text) != "" {
			fmt.Fprintf(b, "\n_Thinking:_\n\n%s\n", strings.TrimSpace(p.Text))
		}
	case *lathe.File:
		fmt.Fprintf(b, "\n_File: %s_\n", p.Filename)
	case *lathe.ToolCall:
		if in.Tools {
			exportCall(b, p)
		}
	default:
	}
}

// exportCall exports the arguments and the result of a tool call.
func exportCall(b *strings.Builder, t *lathe.ToolCall) {
	fmt.Fprintf(b, "\n**Tool: %s**\n", t.Tool)
	c := parseCall(t)
	if len(c.input) > 2 {
		input := c.input
		if pretty, err := json.MarshalIndent(json.RawMessage(c.input), "", "  "); err == nil {
			input = pretty
		}
		fmt.Fprintf(b, "\n%s\n", fenced("json", string(input)))
	}
	switch {
	case c.failed != "":
		fmt.Fprintf(b, "\n**Error:**\n\n%s\n", fenced("", c.failed))
	case c.output != "":
		fmt.Fprintf(b, "\n%s\n", fenced("", c.output))
	}
}

// fenced puts a text between fences that do not occur in it.
func fenced(lang, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
