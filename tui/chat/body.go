package chat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/diff"
	"github.com/lathe-agent/lathe/tui/markdown"
	"github.com/lathe-agent/lathe/tui/style"
)

// Row limits of collapsed and expanded results: a screen is not a pager.
const (
	foldedOutput  = 10
	foldedDiff    = 24
	foldedGeneric = 3
	foldedFailure = 3
	maxRows       = 2000
)

// rowLimit is how many rows of something are shown.
func rowLimit(open bool, folded int) int {
	if open {
		return maxRows
	}
	return folded
}

// body draws the result of a call.
func (pt *painter) body(c *call, width int, open bool) []style.Line {
	switch c.tool {
	case "bash":
		rows := pt.output(c.shownOutput(), width, open, c.running, foldedOutput)
		if open {
			rows = append(pt.output(c.restOfCommand(), width, true, false, foldedOutput), rows...)
		}
		return rows
	case "read":
		return pt.readBody(c, width, open)
	case "write":
		return append(pt.writeBody(c, width, open), pt.diagnostics(c, width)...)
	case "edit":
		return append(pt.diff(c.meta.Diff, width, open), pt.diagnostics(c, width)...)
	case "apply_patch":
		return pt.patchBody(c, width, open)
	case "todowrite":
		return pt.todos(c, width)
	case "question":
		return pt.answers(c, width)
	case "task":
		return pt.taskBody(c, width)
	case "glob", "grep", "webfetch", "websearch", "skill", "list":
		if open {
			return pt.output(c.output, width, true, false, foldedOutput)
		}
		return nil
	default:
		if open || pt.env.Show.Generic {
			return pt.output(c.output, width, open, false, foldedGeneric)
		}
		return nil
	}
}

// restOfCommand is a command below its first line, which is in the head.
func (c *call) restOfCommand() string {
	_, rest, _ := strings.Cut(strings.TrimSpace(c.args.Command), "\n")
	return rest
}

// shownOutput is the output of a command: from its metadata while it runs, else all of it.
func (c *call) shownOutput() string {
	if c.meta.Output != "" || c.running {
		return c.meta.Output
	}
	return c.output
}

// output draws text that a program wrote: its first rows, while it runs its last ones.
func (pt *painter) output(text string, width int, open, running bool, folded int) []style.Line {
	text = strings.TrimRight(style.StripEscapes(text), "\n ")
	if text == "" {
		return nil
	}
	var note string
	lines, left := clip(text, rowLimit(open, folded), running)
	if left > 0 {
		note = fmt.Sprintf("… %d more lines", left)
		if !open {
			note += ", click to expand"
		}
		if running {
			note = fmt.Sprintf("… %d earlier lines", left)
		}
	}
	muted := style.Fg(pt.env.Theme.TextMuted)
	rows := style.WrapAll(style.Lines(lines, muted), max(1, width-2))
	switch {
	case note == "":
	case running:
		rows = append([]style.Line{style.Of(note, muted)}, rows...)
	default:
		rows = append(rows, style.Of(note, muted))
	}
	return pt.box(rows, width)
}

// box puts rows behind a thin bar.
func (pt *painter) box(rows []style.Line, width int) []style.Line {
	bar := style.Span{Text: "│ ", Attr: style.Fg(pt.env.Theme.BorderSubtle)}
	for i, r := range rows {
		rows[i] = append(style.Line{bar}, r.Truncate(max(1, width-2))...)
	}
	return rows
}

// clip takes the first or the last lines of a text without splitting all of it.
func clip(text string, most int, last bool) (kept string, left int) {
	total := strings.Count(text, "\n") + 1
	if total <= most {
		return text, 0
	}
	at := 0
	if last {
		at = len(text)
		for range most {
			at = strings.LastIndexByte(text[:at], '\n')
		}
		return text[at+1:], total - most
	}
	for range most {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return text[:at-1], total - most
}

// failure draws why a call failed.
func (pt *painter) failure(c *call, width int, open bool) []style.Line {
	th := pt.env.Theme
	why, hint := c.failed, "… click to expand"
	if c.tool == "task" {
		why, hint = taskErrorText(why), "…"
		if c.meta.Session != "" {
			hint += " click to open"
		}
	}
	text, left := clip(strings.TrimSpace(why), rowLimit(open, foldedFailure), false)
	rows := style.WrapAll(style.Lines(text, style.Fg(th.Error)), max(1, width-2))
	if !open && len(rows) > foldedFailure {
		rows, left = rows[:foldedFailure], left+1
	}
	if left > 0 {
		rows = append(rows, style.Of(hint, style.Fg(th.TextMuted)))
	}
	return pt.box(rows, width)
}

// taskErrorText is the error in a task report, without the tags for the model.
func taskErrorText(report string) string {
	_, text, ok := strings.Cut(report, "<task_error>")
	if !ok {
		return report
	}
	text, _, _ = strings.Cut(text, "</task_error>")
	return text
}

func (pt *painter) readBody(c *call, width int, open bool) (rows []style.Line) {
	for _, p := range c.meta.Loaded {
		rows = append(rows, style.Of("  ↳ loaded "+pt.path(p), style.Fg(pt.env.Theme.TextMuted)).Truncate(width))
	}
	if open {
		rows = append(rows, pt.output(c.output, width, true, false, foldedOutput)...)
	}
	return rows
}

// writeBody draws a file that was written, with the numbers of its lines.
func (pt *painter) writeBody(c *call, width int, open bool) []style.Line {
	th := pt.env.Theme
	text, left := clip(strings.TrimRight(c.args.Content, "\n"), rowLimit(open, foldedOutput), false)
	code := markdown.Code(ext(c.args.FilePath), text, th)
	digits := len(fmt.Sprint(len(code)))
	rows := make([]style.Line, 0, len(code)+1)
	for i, l := range code {
		row := style.Of(fmt.Sprintf("%*d ", digits, i+1), style.Fg(th.DiffLineNumber))
		rows = append(rows, append(row, l...))
	}
	if left > 0 {
		rows = append(rows, style.Of(fmt.Sprintf("… %d more lines, click to expand", left), style.Fg(th.TextMuted)))
	}
	return pt.box(rows, width)
}

// ext is the extension or name that determines the language.
func ext(file string) string {
	if i := strings.LastIndexAny(file, "./\\"); i >= 0 {
		return file[i+1:]
	}
	return file
}

func (pt *painter) diff(patch string, width int, open bool) []style.Line {
	if patch == "" {
		return nil
	}
	return diff.Lines(patch, diff.Options{
		Theme: pt.env.Theme, Width: width, Split: width > 116 && !pt.env.Show.Stacked, Wrap: !pt.env.Show.CutDiff, Max: rowLimit(open, foldedDiff),
	})
}

// patchBody draws the change of each file.
func (pt *painter) patchBody(c *call, width int, open bool) (rows []style.Line) {
	th := pt.env.Theme
	for _, f := range c.meta.Files {
		verb := map[string]string{"add": "Created", "delete": "Deleted", "move": "Moved"}[f.Type]
		l := style.Of(cmp.Or(verb, "Patched")+" "+cmp.Or(f.RelativePath, pt.path(f.FilePath)), style.Fg(th.Text))
		if f.MovePath != "" {
			l = l.Add(" → "+pt.path(f.MovePath), style.Fg(th.Text))
		}
		rows = append(rows, append(l, pt.counts(f.Additions, f.Deletions)...).Truncate(width))
		if f.Type != "delete" || open {
			rows = append(rows, pt.diff(f.Patch, width, open)...)
		}
	}
	return rows
}

// diagnostics draws the first errors of the language server about the change.
func (pt *painter) diagnostics(c *call, width int) (rows []style.Line) {
	const shown = 3
	for _, file := range slices.Sorted(maps.Keys(c.meta.Diagnose)) {
		for _, d := range c.meta.Diagnose[file] {
			if d.Severity > 1 || len(rows) == shown {
				continue
			}
			at := fmt.Sprintf("%s:%d:%d ", pt.path(file), d.Range.Start.Line+1, d.Range.Start.Character+1)
			rows = append(rows, style.Of("! "+at+oneLine(d.Message), style.Fg(pt.env.Theme.Error)).Truncate(width))
		}
	}
	return rows
}

// todos draws the todo list of a call: the stored one, or the arguments while it runs.
func (pt *painter) todos(c *call, width int) (rows []style.Line) {
	todos := c.meta.Todos
	if todos == nil {
		todos = c.args.Todos
	}
	for _, t := range todos {
		box, look := pt.env.Theme.Todo(t.Status)
		l := style.Of(box, look).Add(oneLine(t.Content), look)
		rows = append(rows, l.Wrap(max(1, width-2), style.Plain("    "))...)
	}
	return pt.box(rows, width)
}

// answers draws questions with their answers.
func (pt *painter) answers(c *call, width int) (rows []style.Line) {
	th := pt.env.Theme
	for i, q := range c.args.Questions {
		rows = append(rows, style.Of(q.Question, style.Fg(th.TextMuted)).Wrap(max(1, width-2), nil)...)
		switch {
		case i < len(c.meta.Answers) && len(c.meta.Answers[i]) > 0:
			rows = append(rows, style.Of(strings.Join(c.meta.Answers[i], ", "), style.Fg(th.Text)).Wrap(max(1, width-2), nil)...)
		case !c.running:
			rows = append(rows, style.Of("no answer", style.Attr{FG: th.TextMuted, Italic: true}))
		}
	}
	return pt.box(rows, width)
}

// taskBody shows the progress of a subagent.
func (pt *painter) taskBody(c *call, width int) []style.Line {
	var ch Child
	if pt.env.Child != nil {
		ch, _ = pt.env.Child(c.meta.Session)
	}
	words := ""
	switch {
	case c.running && ch.Retry+ch.Activity != "":
		words = cmp.Or(ch.Retry, ch.Activity)
	case ch.Calls > 0:
		words = style.Plural(ch.Calls, "call")
	case c.meta.Backdrop:
		words = "in the background"
	}
	if words == "" {
		return nil
	}
	return []style.Line{style.Of("  ↳ "+words, style.Fg(pt.env.Theme.TextMuted)).Truncate(width)}
}

// childOf is the progress of the subagent of a call.
func (pt *painter) childOf(b lathe.Body) (c Child) {
	t, ok := b.(*lathe.ToolCall)
	if !ok || t.Tool != "task" || pt.env.Child == nil {
		return c
	}
	c, _ = pt.env.Child(parseCall(t).meta.Session)
	return c
}
