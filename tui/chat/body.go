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

// How many rows are shown of what can be unfolded, and of what is unfolded: a screen is not a pager.
const (
	foldedOutput  = 10
	foldedDiff    = 24
	foldedGeneric = 3
	foldedFailure = 3
	mostRows      = 2000
)

// most is how many rows of something are shown.
func most(open bool, folded int) int {
	if open {
		return mostRows
	}
	return folded
}

// body draws what came of a call.
func (w *walk) body(c *call, width int, open bool) []style.Line {
	switch c.tool {
	case "bash":
		return w.output(c.shown(), width, open, c.running, foldedOutput)
	case "read":
		return w.readBody(c, width, open)
	case "write":
		return append(w.written(c, width, open), w.diagnostics(c, width)...)
	case "edit":
		return append(w.diff(c.meta.Diff, width, open), w.diagnostics(c, width)...)
	case "apply_patch":
		return w.patched(c, width, open)
	case "todowrite":
		return w.todos(c, width)
	case "question":
		return w.answers(c, width)
	case "task":
		return w.taskBody(c, width)
	case "glob", "grep", "webfetch", "websearch", "skill", "list":
		if open {
			return w.output(c.output, width, true, false, foldedOutput)
		}
		return nil
	default:
		if open || w.env.Show.Generic {
			return w.output(c.output, width, open, false, foldedGeneric)
		}
		return nil
	}
}

// shown is the output of a command: what it has told of it, or all of it.
func (c *call) shown() string {
	if c.meta.Output != "" || c.running {
		return c.meta.Output
	}
	return c.output
}

// output draws text that a program wrote: its first rows, while it runs its last ones.
func (w *walk) output(text string, width int, open, running bool, folded int) []style.Line {
	text = strings.TrimRight(style.StripEscapes(text), "\n ")
	if text == "" {
		return nil
	}
	var note string
	lines, left := clip(text, most(open, folded), running)
	if left > 0 {
		note = fmt.Sprintf("… %d more lines", left)
		if !open {
			note += ", click to unfold"
		}
		if running {
			note = fmt.Sprintf("… %d lines before", left)
		}
	}
	muted := style.Fg(w.env.Theme.TextMuted)
	rows := style.WrapAll(style.Lines(lines, muted), max(1, width-2))
	switch {
	case note == "":
	case running:
		rows = append([]style.Line{style.Of(note, muted)}, rows...)
	default:
		rows = append(rows, style.Of(note, muted))
	}
	return w.box(rows, width)
}

// box puts rows behind a thin bar.
func (w *walk) box(rows []style.Line, width int) []style.Line {
	bar := style.Span{Text: "│ ", Attr: style.Fg(w.env.Theme.BorderSubtle)}
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
func (w *walk) failure(c *call, width int, open bool) []style.Line {
	th := w.env.Theme
	why, hint := c.failed, "… click to unfold"
	if c.tool == "task" {
		why, hint = inEnvelope(why), "…"
		if c.meta.Session != "" {
			hint += " click to go there"
		}
	}
	text, left := clip(strings.TrimSpace(why), most(open, foldedFailure), false)
	rows := style.WrapAll(style.Lines(text, style.Fg(th.Error)), max(1, width-2))
	if !open && len(rows) > foldedFailure {
		rows, left = rows[:foldedFailure], left+1
	}
	if left > 0 {
		rows = append(rows, style.Of(hint, style.Fg(th.TextMuted)))
	}
	return w.box(rows, width)
}

// inEnvelope is what a report on a task says, without what is around it for the model.
func inEnvelope(report string) string {
	_, text, ok := strings.Cut(report, "<task_error>")
	if !ok {
		return report
	}
	text, _, _ = strings.Cut(text, "</task_error>")
	return text
}

func (w *walk) readBody(c *call, width int, open bool) (rows []style.Line) {
	for _, p := range c.meta.Loaded {
		rows = append(rows, style.Of("  ↳ loaded "+w.path(p), style.Fg(w.env.Theme.TextMuted)).Truncate(width))
	}
	if open {
		rows = append(rows, w.output(c.output, width, true, false, foldedOutput)...)
	}
	return rows
}

// written draws a file that was written, with the numbers of its lines.
func (w *walk) written(c *call, width int, open bool) []style.Line {
	th := w.env.Theme
	text, left := clip(strings.TrimRight(c.args.Content, "\n"), most(open, foldedOutput), false)
	code := markdown.Code(ext(c.args.FilePath), text, th)
	digits := len(fmt.Sprint(len(code)))
	rows := make([]style.Line, 0, len(code)+1)
	for i, l := range code {
		row := style.Of(fmt.Sprintf("%*d ", digits, i+1), style.Fg(th.DiffLineNumber))
		rows = append(rows, append(row, l...))
	}
	if left > 0 {
		rows = append(rows, style.Of(fmt.Sprintf("… %d more lines, click to unfold", left), style.Fg(th.TextMuted)))
	}
	return w.box(rows, width)
}

// ext is what a file's name says of its language.
func ext(file string) string {
	if i := strings.LastIndexAny(file, "./\\"); i >= 0 {
		return file[i+1:]
	}
	return file
}

func (w *walk) diff(patch string, width int, open bool) []style.Line {
	if patch == "" {
		return nil
	}
	return diff.Lines(patch, diff.Options{
		Theme: w.env.Theme, Width: width, Split: width > 116 && !w.env.Show.Stacked, Wrap: !w.env.Show.CutDiff, Max: most(open, foldedDiff),
	})
}

// patched draws what was done to each file.
func (w *walk) patched(c *call, width int, open bool) (rows []style.Line) {
	th := w.env.Theme
	for _, f := range c.meta.Files {
		verb := map[string]string{"add": "Created", "delete": "Deleted", "move": "Moved"}[f.Type]
		l := style.Of(cmp.Or(verb, "Patched")+" "+cmp.Or(f.RelativePath, w.path(f.FilePath)), style.Fg(th.Text))
		if f.MovePath != "" {
			l = l.Add(" → "+w.path(f.MovePath), style.Fg(th.Text))
		}
		rows = append(rows, append(l, w.counts(f.Additions, f.Deletions)...).Truncate(width))
		if f.Type != "delete" || open {
			rows = append(rows, w.diff(f.Patch, width, open)...)
		}
	}
	return rows
}

// diagnostics draws the first errors that a language server has about what was written.
func (w *walk) diagnostics(c *call, width int) (rows []style.Line) {
	const shown = 3
	for _, file := range slices.Sorted(maps.Keys(c.meta.Diagnose)) {
		for _, d := range c.meta.Diagnose[file] {
			if d.Severity > 1 || len(rows) == shown {
				continue
			}
			at := fmt.Sprintf("%s:%d:%d ", w.path(file), d.Range.Start.Line+1, d.Range.Start.Character+1)
			rows = append(rows, style.Of("! "+at+oneLine(d.Message), style.Fg(w.env.Theme.Error)).Truncate(width))
		}
	}
	return rows
}

func (w *walk) todos(c *call, width int) (rows []style.Line) {
	todos := c.meta.Todos
	if todos == nil {
		todos = c.args.Todos
	}
	for _, t := range todos {
		box, look := w.env.Theme.Todo(t.Status)
		l := style.Of(box, look).Add(oneLine(t.Content), look)
		rows = append(rows, l.Wrap(max(1, width-2), style.Plain("    "))...)
	}
	return w.box(rows, width)
}

// answers draws questions and what was answered.
func (w *walk) answers(c *call, width int) (rows []style.Line) {
	th := w.env.Theme
	for i, q := range c.args.Questions {
		rows = append(rows, style.Of(q.Question, style.Fg(th.TextMuted)).Wrap(max(1, width-2), nil)...)
		switch {
		case i < len(c.meta.Answers) && len(c.meta.Answers[i]) > 0:
			rows = append(rows, style.Of(strings.Join(c.meta.Answers[i], ", "), style.Fg(th.Text)).Wrap(max(1, width-2), nil)...)
		case !c.running:
			rows = append(rows, style.Of("no answer", style.Attr{FG: th.TextMuted, Italic: true}))
		}
	}
	return w.box(rows, width)
}

// taskBody says what the session that works for a call does, or did.
func (w *walk) taskBody(c *call, width int) []style.Line {
	muted := style.Fg(w.env.Theme.TextMuted)
	var ch Child
	ok := false
	if w.env.Child != nil {
		ch, ok = w.env.Child(c.meta.Session)
	}
	words := ""
	switch {
	case c.running && ch.Retry != "":
		words = ch.Retry
	case c.running && ch.Doing != "":
		words = ch.Doing
	case ok && ch.Calls > 0:
		words = style.Plural(ch.Calls, "call")
	case c.meta.Backdrop:
		words = "in the background"
	}
	if words == "" {
		return nil
	}
	return []style.Line{style.Of("  ↳ "+words, muted).Truncate(width)}
}

// childOf is what is known of the session that works for a call.
func (w *walk) childOf(b lathe.Body) (c Child) {
	t, ok := b.(*lathe.ToolCall)
	if !ok || t.Tool != "task" || w.env.Child == nil {
		return c
	}
	parsed := read(t)
	c, _ = w.env.Child(parsed.meta.Session)
	return c
}
