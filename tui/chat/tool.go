package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// call is a tool call in the form that views need, in any state.
type call struct {
	id, tool       string
	input          json.RawMessage
	args           args
	meta           meta
	output, failed string
	pending        bool
	running        bool
	began, ended   lathe.Time
	waits          []lathe.Wait // for a person
}

// args are the arguments that views show, of all tools together.
type args struct {
	Command, Pattern, Path              string
	FilePath, Content, URL, Query, Name string
	Offset, Limit                       int
	Description                         string
	Agent                               string `json:"subagent_type"`
	Tool, Error                         string // of an invalid call
	Todos                               []lathe.Todo
	Questions                           []lathe.Question
}

// meta is the known metadata of tool results.
type meta struct {
	Output   string
	Exit     *int
	Diff     string
	Files    []fileMeta
	Count    *int
	Matches  *int
	Loaded   []string
	Todos    []lathe.Todo
	Answers  [][]string
	Session  lathe.SessionID `json:"sessionId"`
	Backdrop bool            `json:"background"`
	FileDiff *struct{ Additions, Deletions int }
	Diagnose map[string][]diagnostic `json:"diagnostics"`
}

type fileMeta struct {
	Type, RelativePath, FilePath, MovePath, Patch string
	Additions, Deletions                          int
}

type diagnostic struct {
	Severity int
	Message  string
	Range    struct{ Start struct{ Line, Character int } }
}

// parseCall converts a tool call. Arguments of the wrong type are ignored: they come from models.
func parseCall(t *lathe.ToolCall) (c call) {
	c.id, c.tool, c.waits = t.CallID, t.Tool, t.Waits()
	var metadata json.RawMessage
	switch s := t.State.(type) {
	case *lathe.Pending:
		c.input, c.pending = s.Input, true
	case *lathe.Running:
		c.input, metadata, c.running, c.began = s.Input, s.Metadata, true, s.Start
	case *lathe.Completed:
		c.input, metadata, c.output, c.began, c.ended = s.Input, s.Metadata, s.Output, s.Start, s.End
	case *lathe.Failed:
		c.input, metadata, c.failed, c.began, c.ended = s.Input, s.Metadata, s.Error, s.Start, s.End
		c.failed = cmp.Or(c.failed, "failed")
	}
	_ = json.Unmarshal(c.input, &c.args) // as far as it is ours
	_ = json.Unmarshal(metadata, &c.meta)
	return c
}

// isRefused reports whether a rule or the user rejected a call: it did not fail.
func (c *call) isRefused() bool {
	all := []string{"rejected permission", "specified a rule", "user dismissed", "QuestionRejectedError"}
	return slices.ContainsFunc(all, func(words string) bool { return strings.Contains(c.failed, words) })
}

// keptPlanning is how the user answered a plan without approving it: "Kept planning", with the words if there are any.
func (c *call) keptPlanning() string {
	text := cmp.Or(c.failed, c.output)
	if c.tool != "plan_exit" || !strings.HasPrefix(text, "Kept planning") {
		return ""
	}
	if _, words, ok := strings.Cut(text, " and says: "); ok {
		words, _, _ = strings.Cut(words, "\nRevise the plan, then")
		return "Kept planning: " + oneLine(words)
	}
	return "Kept planning"
}

// refusalWords are the words with which the user rejected a call.
func (c *call) refusalWords() string {
	_, words, _ := strings.Cut(c.failed, "rejected permission for this call and says: ")
	return strings.TrimSpace(words)
}

// toolForm tells how a call is shown.
func (w *walk) toolForm(id lathe.PartID, t *lathe.ToolCall) form {
	switch s := t.State.(type) {
	case *lathe.Pending:
		return inline
	case *lathe.Failed:
		if w.c.open[id] {
			return boxed
		}
		return inline
	case *lathe.Running:
		switch t.Tool {
		case "bash", "todowrite", "edit", "apply_patch":
			if len(s.Metadata) > 40 {
				return boxed
			}
		case "write", "question":
			return boxed
		}
		return inline
	case *lathe.Completed:
		return w.doneForm(id, t.Tool, s)
	default:
		return inline
	}
}

// doneForm is the form of a finished call: boxed if its result is worth seeing, else one row.
func (w *walk) doneForm(id lathe.PartID, tool string, s *lathe.Completed) form {
	switch tool {
	case "edit", "write", "apply_patch", "todowrite", "question":
		return boxed
	case "bash":
		if s.Output == "" && len(s.Metadata) < 40 {
			return inline
		}
		return boxed
	case "read", "glob", "grep", "webfetch", "websearch", "task", "skill", "list", "plan_enter", "plan_exit":
	default:
		if w.env.Show.Generic || w.c.open[id] {
			return boxed
		}
	}
	if w.c.open[id] {
		return boxed
	}
	if !w.env.Show.Details && tool != "task" {
		return hidden
	}
	return inline
}

// tool draws a call: its head and, if useful, its result.
func (w *walk) tool(b *block, id lathe.PartID, t *lathe.ToolCall) []style.Line {
	c := parseCall(t)
	b.child, b.pad = c.meta.Session, margin
	width := max(1, w.env.Width-2*margin)
	rows := []style.Line{w.head(&c, width)}
	open := w.c.open[id]
	b.canFold = c.tool != "task"
	switch {
	case c.keptPlanning() != "":
	case c.failed != "":
		if words := c.refusalWords(); words != "" {
			rows = append(rows, style.Of("↳ ", style.Fg(w.env.Theme.TextMuted)).Add(words, style.Fg(w.env.Theme.Text)).Wrap(width, style.Plain("  "))...)
		} else if !c.isRefused() || open {
			rows = append(rows, w.failure(&c, width, open)...)
		}
	case c.pending, c.running && c.isEdit() && w.isAsked(&c): // the request below shows the change
	default:
		rows = append(rows, w.body(&c, width, open)...)
	}
	return rows
}

// head is the row that describes a call.
func (pt *painter) head(c *call, width int) style.Line {
	th := pt.env.Theme
	icon, words := pt.words(c)
	look := style.Fg(th.TextMuted)
	sign := style.Of(icon+" ", look)
	switch {
	case c.pending || c.running:
		sign = style.Of(style.Spinner(pt.env.Frame)+" ", style.Fg(th.Accent))
		look = style.Fg(th.Text)
		if c.pending {
			look = style.Fg(th.TextMuted)
			words += " …"
		}
	case c.keptPlanning() != "":
	case c.isRefused():
		look = style.Attr{FG: th.TextMuted, Strike: true}
	case c.failed != "":
		look = style.Fg(th.Error)
		sign = style.Of("✗ ", look)
	}
	end := pt.ending(c)
	room := max(4, width-2-end.Width())
	return append(append(sign, style.Of(words, look).Truncate(room)...), end...).Truncate(width)
}

// ending is the end of a head: a duration, an exit code, line counts.
func (pt *painter) ending(c *call) (l style.Line) {
	th := pt.env.Theme
	muted := style.Fg(th.TextMuted)
	if c.running {
		return pt.runningTime(c)
	}
	if c.isRefused() {
		return l.Add(" not allowed", muted)
	}
	if f := c.meta.FileDiff; f != nil && c.tool == "edit" {
		l = pt.counts(f.Additions, f.Deletions)
	}
	if c.tool == "bash" && c.meta.Exit != nil && *c.meta.Exit != 0 {
		l = l.Add(fmt.Sprintf(" exit %d", *c.meta.Exit), style.Fg(th.Error))
	}
	if d := lathe.ActiveTime(c.began, c.ended, c.waits); d >= 2*time.Second {
		l = l.Add(" "+style.Duration(d), muted)
	}
	return l
}

// isEdit reports whether a call changes files.
func (c *call) isEdit() bool { return c.tool == "write" || c.tool == "edit" || c.tool == "apply_patch" }

// isAsked reports whether the call waits for an answer of the user.
func (pt *painter) isAsked(c *call) bool {
	if pt.env.Waits == nil {
		return false
	}
	waits := pt.env.Waits(c.id)
	return len(waits) > 0 && waits[len(waits)-1][1] == 0
}

// runningTime is how long a call works, without the time in which the user was asked.
func (pt *painter) runningTime(c *call) (l style.Line) {
	var waits []lathe.Wait
	if pt.env.Waits != nil {
		waits = slices.Clone(pt.env.Waits(c.id))
	}
	now := lathe.Time(pt.env.Now.UnixMilli())
	if pt.isAsked(c) {
		waits[len(waits)-1][1] = now
		l = l.Add(" waiting for you", style.Fg(pt.env.Theme.Warning))
	}
	if d := lathe.ActiveTime(c.began, now, waits); c.began > 0 && d >= time.Second {
		l = l.Add(" "+style.Duration(d.Truncate(time.Second)), style.Fg(pt.env.Theme.TextMuted))
	}
	return l
}

// words are the icon and the description of a call.
func (pt *painter) words(c *call) (icon, words string) {
	a := &c.args
	switch c.tool {
	case "bash":
		return "$", orPreparing(oneLine(a.Command), c, "Preparing a command")
	case "read":
		s := "Read " + pt.path(a.FilePath)
		if a.Offset > 0 {
			s += fmt.Sprintf(" from line %d", a.Offset)
		}
		if a.Limit > 0 {
			s += fmt.Sprintf(" (%d lines)", a.Limit)
		}
		return "→", orPreparing(s, c, "Reading")
	case "write":
		return "←", orPreparing("Write "+pt.path(a.FilePath), c, "Writing a file")
	case "edit":
		return "←", orPreparing("Edit "+pt.path(a.FilePath), c, "Preparing an edit")
	case "apply_patch":
		return "%", patchWords(c)
	case "glob":
		return "✱", orPreparing(found("Glob", a.Pattern, pt.path(a.Path), c.meta.Count), c, "Finding files")
	case "grep":
		return "✱", orPreparing(found("Grep", a.Pattern, pt.path(a.Path), c.meta.Matches), c, "Searching")
	case "webfetch":
		return "%", orPreparing("Fetch "+a.URL, c, "Fetching")
	case "websearch":
		return "◈", orPreparing(fmt.Sprintf("Search the web for “%s”", a.Query), c, "Searching the web")
	case "skill":
		return "→", orPreparing(fmt.Sprintf("Skill “%s”", a.Name), c, "Loading a skill")
	case "task":
		return taskWords(c)
	case "todowrite":
		return "≡", "Plan"
	case "question":
		return "?", "Questions"
	case "plan_exit":
		return "●", cmp.Or(c.keptPlanning(), map[bool]string{true: "Plan", false: "Plan approved"}[c.pending || c.running || c.failed != ""])
	case "invalid": // the engine's, in the place of a call that could not be made
		return "✗", orPreparing(strings.TrimSpace(a.Tool+": "+oneLine(a.Error)), c, "Preparing a call")
	default:
		return "⚙", c.tool + short(c.input)
	}
}

// orPreparing returns verb while the arguments have not arrived.
func orPreparing(words string, c *call, verb string) string {
	if c.pending && len(c.input) <= 2 {
		return verb
	}
	return words
}

// patchWords describes a patch by its file, or by the number of files.
func patchWords(c *call) string {
	switch n := len(c.meta.Files); {
	case n == 1:
		return "Patch " + c.meta.Files[0].RelativePath
	case n > 1:
		return fmt.Sprintf("Patch %d files", n)
	case c.pending:
		return "Preparing a patch"
	default:
		return "Patch"
	}
}

// found describes a search and its number of matches.
func found(verb, pattern, in string, n *int) string {
	s := fmt.Sprintf("%s “%s”", verb, pattern)
	if in != "" && in != "." {
		s += " in " + in
	}
	switch {
	case n == nil:
	case *n == 1:
		s += " (1 match)"
	default:
		s += fmt.Sprintf(" (%d matches)", *n)
	}
	return s
}

func taskWords(c *call) (icon, words string) {
	icon = "✓"
	if c.running || c.pending {
		icon = "│"
	}
	if c.args.Agent == "" {
		return icon, "Preparing a task"
	}
	return icon, style.Capitalize(c.args.Agent) + ": " + c.args.Description
}

// short writes arguments as `[key=value, …]`.
func short(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil || len(fields) == 0 {
		return ""
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		v := string(fields[k])
		var s string
		if json.Unmarshal(fields[k], &s) == nil {
			v = s
		}
		if v = oneLine(v); len(v) > 60 {
			v = style.Plain(v).Truncate(60).Text()
		}
		out = append(out, k+"="+v)
	}
	return " [" + strings.Join(out, ", ") + "]"
}

// oneLine makes one line of many.
func oneLine(s string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more && strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return line
}
