package chat

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/markdown"
	"github.com/lathe-agent/lathe/tui/style"
)

// user draws a prompt: a panel with a bar in the color of its agent.
func (pt *painter) user(b *block, h lathe.MessageView, now stamp) []style.Line {
	th, m := pt.env.Theme, h.Message()
	said := m.Data.(*lathe.User)
	var rows []style.Line
	width := max(1, pt.env.Width-4)
	var badges style.Line
	for i := range h.Len() {
		switch body := h.Part(i).Body.(type) {
		case *lathe.Text:
			if !body.Synthetic.On() {
				rows = append(rows, pt.promptText(b, body.Text, width, len(rows), now.open)...)
			}
		case *lathe.File:
			badges = append(append(badges, pt.badge(body)...), style.Span{Text: " "})
		case *lathe.Compaction:
			return []style.Line{pt.compacted()}
		case *lathe.Subtask:
			rows = append(rows, style.Of("↳ "+body.Agent+": "+body.Description, style.Fg(th.TextMuted)).Truncate(width))
		default:
		}
	}
	if len(badges) > 0 {
		rows = append(rows, badges.Wrap(width, nil)...)
	}
	if len(rows) == 0 {
		return nil // written by the engine: a note to the model
	}
	if last := pt.promptState(m, now.queued); len(last) > 0 {
		rows = append(rows, last.Truncate(width))
	}
	return pt.panel(rows, pt.agentColor(said.Agent))
}

// Rows of a folded prompt: a long paste stays folded after sending. The question stands at its start or at its end.
const (
	longPrompt  = 12
	promptStart = 5
	promptEnd   = 3
)

// promptText draws the text of a prompt. A long one is folded; only the rows that are shown are wrapped.
func (pt *painter) promptText(b *block, text string, width, above int, open bool) []style.Line {
	th := pt.env.Theme
	text = strings.TrimRight(text, "\n")
	wrap := func(s string) []style.Line { return style.WrapAll(style.Lines(s, style.Fg(th.Text)), width) }
	long := strings.Count(text, "\n")+1 > longPrompt || len(text) > longPrompt*width*2 && len(wrap(text)) > longPrompt
	b.canFold = b.canFold || long
	switch {
	case !long:
		return wrap(text)
	case open:
		rows := wrap(text)
		b.foldRow = above + len(rows)
		return append(rows, style.Of("click to fold", style.Fg(th.TextMuted)))
	}
	head, _ := clip(text, promptStart, false)
	tail, _ := clip(text, promptEnd, true)
	first, last := wrap(style.Prefix(head, promptStart*width*4)), wrap(style.Prefix(tail, promptEnd*width*4))
	first, last = first[:min(len(first), promptStart)], last[max(0, len(last)-promptEnd):]
	note := "… click to expand"
	if left := strings.Count(text, "\n") + 1 - promptStart - promptEnd; left > 0 {
		note = fmt.Sprintf("… %d more lines, click to expand", left)
	} else {
		last = nil // it is one long line, whose start is shown
	}
	b.foldRow = above + len(first)
	return append(append(first, style.Of(note, style.Fg(th.TextMuted))), last...)
}

// promptState is the last row of a prompt: whether it is queued, and its time.
func (pt *painter) promptState(m lathe.Message, queued bool) (l style.Line) {
	th := pt.env.Theme
	if queued {
		word, ground := pt.waitingBadge(m.ID)
		l = style.Line{{Text: word, Attr: style.Attr{FG: th.Background, BG: ground, Bold: true}}}
	}
	if pt.env.Show.Timestamps {
		if len(l) > 0 {
			l = l.Add(" ", style.Attr{})
		}
		l = l.Add(style.Clock(m.Created.Std(), pt.env.Now), style.Fg(th.TextMuted))
	}
	return l
}

// waitingBadge says for what a prompt waits: for the next step of the turn, for its end, or for the user. Of a prompt
// that another client sent, it is not known.
func (pt *painter) waitingBadge(id lathe.MessageID) (word string, ground style.Color) {
	th := pt.env.Theme
	delivery := lathe.Delivery("")
	if pt.env.Delivery != nil {
		delivery = pt.env.Delivery(id)
	}
	switch {
	case pt.env.PausedPrompts:
		return " PAUSED ", th.Warning
	case delivery == lathe.Queue:
		return " QUEUED ", th.Accent
	case delivery == lathe.Steer:
		return " STEERING ", th.Info
	default:
		return " WAITING ", th.Accent
	}
}

// panel puts rows on a ground of their own, with a bar at the left.
func (pt *painter) panel(rows []style.Line, bar style.Color) []style.Line {
	ground := style.Attr{BG: pt.env.Theme.BackgroundPanel}
	for i, r := range rows {
		line := style.Line{{Text: "┃", Attr: style.Fg(bar).On(ground.BG)}, {Text: " ", Attr: ground}}
		rows[i] = append(line, r.On(ground.BG)...).Fit(pt.env.Width, ground)
	}
	return rows
}

// badge is a file in short.
func (pt *painter) badge(f *lathe.File) style.Line {
	th := pt.env.Theme
	kind := "file"
	switch {
	case strings.HasPrefix(f.Mime, "image/"):
		kind = "img"
	case f.Mime == "application/pdf":
		kind = "pdf"
	case f.Mime == "application/x-directory":
		kind = "dir"
	case strings.HasPrefix(f.Mime, "text/"):
		kind = "txt"
	}
	name := f.Filename
	if name == "" && !strings.HasPrefix(f.URL, "data:") {
		name = path.Base(f.URL)
	}
	return style.Of(" "+kind+" ", style.Attr{FG: th.Background, BG: th.Secondary, Bold: true}).
		Add(" "+name+" ", style.Attr{FG: th.TextMuted, BG: th.BackgroundElement})
}

// compacted is the divider above a compaction summary.
func (pt *painter) compacted() style.Line {
	const words = "Compaction"
	th := pt.env.Theme
	side := max(1, (pt.env.Width-style.Width(words)-2)/2)
	bar := strings.Repeat("─", side)
	return style.Of(bar, style.Fg(th.BorderSubtle)).Add(" "+words+" ", style.Fg(th.TextMuted)).Add(bar, style.Fg(th.BorderSubtle)).Truncate(pt.env.Width)
}

// reasoning draws the reasoning: one row, or all of it.
func (w *walk) reasoning(b *block, id lathe.PartID, r *lathe.Reasoning) []style.Line {
	th := w.env.Theme
	b.canFold, b.pad = true, margin
	title, rest := splitTitle(r.Text)
	var head style.Line
	muted := style.Attr{FG: th.TextMuted, Italic: true}
	switch {
	case r.Time.End == 0:
		head = style.Of(style.Spinner(w.env.Frame)+" ", style.Fg(th.Accent)).Add("Thinking", muted)
	case w.form(id, r) == inline:
		head = style.Of("+ ", style.Fg(th.TextMuted)).Add("Thought", muted)
	default:
		head = style.Of("− ", style.Fg(th.TextMuted)).Add("Thought", muted)
	}
	if title != "" {
		head = head.Add(": "+title, muted)
	}
	if r.Time.End > r.Time.Start {
		head = head.Add(" · "+style.Duration(time.Duration(r.Time.End-r.Time.Start)*time.Millisecond), style.Fg(th.TextMuted))
	}
	width := max(1, w.env.Width-2*margin)
	rows := []style.Line{head.Truncate(width)}
	if w.form(id, r) == inline {
		return rows
	}
	b.head = rows
	b.bar = style.Span{Text: "│ ", Attr: style.Fg(th.BorderSubtle)}
	b.tint = th.Thinking()
	return b.markdown(rest, markdown.Options{Theme: th, Width: max(1, width-2), Conceal: true, Growing: r.Time.End == 0})
}

// splitTitle splits off a bold first line: models use it as the title of their reasoning.
func splitTitle(text string) (title, rest string) {
	t := strings.TrimLeft(text, " \n")
	if !strings.HasPrefix(t, "**") {
		return "", text
	}
	line, rest, _ := strings.Cut(t, "\n")
	line = strings.TrimSpace(line)
	if len(line) < 5 || !strings.HasSuffix(line, "**") || strings.Count(line, "**") != 2 {
		return "", text
	}
	return line[2 : len(line)-2], strings.TrimLeft(rest, "\n")
}

// hasFooter reports whether an answer has a footer.
func (w *walk) hasFooter(message int) bool {
	a, ok := w.t.View(message).Data().(*lathe.Assistant)
	if !ok {
		return false
	}
	ended := a.Completed != 0 && a.Finish != "" && a.Finish != "tool-calls"
	return a.Error != nil || ended && (w.env.Show.Metadata || len(w.notes(a)) > 0)
}

// notes are the results of checks on an answer, stored on its prompt. They are shown and not sent to a model.
func (w *walk) notes(a *lathe.Assistant) (out []string) {
	i := w.t.Find(a.Parent)
	if i < 0 {
		return nil
	}
	h := w.t.View(i)
	for i := range h.Len() {
		_, body, _ := h.Peek(i)
		if t, ok := body.(*lathe.Text); ok && t.Ignored.On() && t.Synthetic.On() {
			out = append(out, t.Text)
		}
	}
	return out
}

// footer draws the footer of an answer: the error, or the agent, model and duration.
func (w *walk) footer(b *block, message int) []style.Line {
	if !w.hasFooter(message) {
		return nil
	}
	th, m := w.env.Theme, w.t.View(message).Message()
	a := m.Data.(*lathe.Assistant)
	var rows []style.Line
	_, aborted := a.Error.(*lathe.AbortedFault)
	if a.Error != nil && !aborted {
		rows = w.fault(a.Error)
	}
	rows = append(rows, w.noteRows(b, w.notes(a), w.c.open[lathe.PartID(m.ID)])...)
	if !w.env.Show.Metadata && !aborted {
		return rows
	}
	color := w.agentColor(a.Agent)
	if aborted {
		color = th.TextMuted
	}
	l := style.Of("▣ ", style.Fg(color)).Add(style.Capitalize(a.Agent), style.Fg(th.Text)).Add(" · "+w.modelName(a.Model), style.Fg(th.TextMuted))
	if d := w.elapsed(a, m.Created); d > 0 {
		l = l.Add(" · "+style.Duration(d), style.Fg(th.TextMuted))
	}
	if aborted {
		l = l.Add(" · interrupted", style.Fg(th.Warning))
	}
	return append(rows, indent(l).Truncate(w.env.Width))
}

// noteRows are the notes of checks in one row, unfolded in full: they are no second answer.
func (w *walk) noteRows(b *block, notes []string, open bool) (rows []style.Line) {
	if len(notes) == 0 {
		return nil
	}
	dim := style.Attr{FG: w.env.Theme.TextMuted, Faint: true}
	width := max(1, w.env.Width-2*margin)
	first := "! " + oneLine(notes[0])
	if len(notes) > 1 {
		first = fmt.Sprintf("! %d checks: %s", len(notes), oneLine(notes[0]))
	}
	b.canFold = len(notes) > 1 || style.Width(first) > width || strings.Contains(strings.TrimSpace(notes[0]), "\n")
	if !open {
		return []style.Line{indent(style.Of(first, dim).Truncate(width))}
	}
	for _, note := range notes {
		for _, l := range style.WrapAll(style.Lines("! "+note, dim), width) {
			rows = append(rows, indent(l))
		}
	}
	return rows
}

// elapsed is how long the exchange took since its prompt, without the time spent waiting for the user.
func (w *walk) elapsed(a *lathe.Assistant, began lathe.Time) time.Duration {
	if a.Completed == 0 {
		return 0
	}
	first := w.t.Find(a.Parent)
	if first >= 0 {
		began = w.t.View(first).Message().Created
	}
	var waits []lathe.Wait
	for i := max(first, 0); i < w.t.Count(); i++ {
		h := w.t.View(i)
		if other, ok := h.Data().(*lathe.Assistant); !ok || other.Parent != a.Parent {
			continue
		}
		for j := range h.Len() {
			_, body, _ := h.Peek(j)
			waits = append(waits, waitsOf(body)...)
		}
	}
	return lathe.ActiveTime(began, a.Completed, waits)
}

func waitsOf(body lathe.Body) []lathe.Wait {
	if c, ok := body.(*lathe.ToolCall); ok {
		return c.Waits()
	}
	return nil
}

// fault draws why an answer failed.
func (pt *painter) fault(f lathe.Fault) []style.Line {
	th := pt.env.Theme
	rows := style.WrapAll(style.Lines(FaultText(f), style.Fg(th.Text)), max(1, pt.env.Width-6))
	const most = 20
	if len(rows) > most {
		rows = append(rows[:most], style.Of("…", style.Fg(th.TextMuted)))
	}
	out := make([]style.Line, len(rows))
	for i, r := range rows {
		out[i] = indent(append(style.Line{{Text: "┃ ", Attr: style.Fg(th.Error)}}, r...))
	}
	return out
}

// FaultText explains why an answer failed, and what to do.
func FaultText(f lathe.Fault) string {
	text := lathe.FaultMessage(f)
	switch f := f.(type) {
	case *lathe.ProviderAuthFault:
		return fmt.Sprintf("%s rejected the credentials: %s\nLog in again with /connect.", f.ProviderID, text)
	case *lathe.OutputLengthFault:
		return "The answer reached the model's output limit. Send “continue”, or ask for less at once."
	case *lathe.APIFault:
		if f.StatusCode > 0 {
			return fmt.Sprintf("%s (HTTP %d)%s", text, f.StatusCode, statusAdvice(f.StatusCode))
		}
	case *lathe.OverflowFault:
		return text + "\nThe conversation exceeds the model's context window: /compact makes it shorter."
	case *lathe.ContentFilterFault:
		return "The provider's content filter blocked the answer. " + text
	case *lathe.UnknownFault, *lathe.AbortedFault, *lathe.StructuredOutputFault, *lathe.OtherFault:
	}
	return cmp.Or(text, f.Name())
}

// statusAdvice suggests a fix for an HTTP error of a provider.
func statusAdvice(code int) string {
	const login = "\nThe API key may be wrong or expired: log in again with /connect."
	return map[int]string{
		401: login, 403: login, 402: "\nThe account may be out of credit. Try another model: /models.",
		404: "\nThe model may not exist: choose another with /models.",
	}[code]
}

// reverted lists the undone messages and changes.
func (w *walk) reverted() []style.Line {
	th := w.env.Theme
	n := 0
	for i := w.count; i < w.t.Count(); i++ {
		if isUser(w.t.View(i)) {
			n++
		}
	}
	words := "1 message undone"
	if n != 1 {
		words = fmt.Sprintf("%d messages undone", n)
	}
	redo := cmp.Or(w.env.RedoKey, "/redo")
	rows := []style.Line{style.Of(words, style.Fg(th.Text)), style.Of(redo+" or /redo to restore", style.Fg(th.TextMuted))}
	for _, d := range w.t.Diff() {
		rows = append(rows, append(style.Of(w.path(d.File), style.Fg(th.TextMuted)), w.counts(d.Additions, d.Deletions)...))
	}
	for i := range rows {
		rows[i] = rows[i].Truncate(max(1, w.env.Width-4))
	}
	return w.panel(rows, th.Warning)
}

// counts is how many lines of a file changed.
func (pt *painter) counts(added, removed int) style.Line {
	th := pt.env.Theme
	return style.Of(fmt.Sprintf(" +%d", added), style.Fg(th.DiffAdded)).Add(fmt.Sprintf(" −%d", removed), style.Fg(th.DiffRemoved))
}
