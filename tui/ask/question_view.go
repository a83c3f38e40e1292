package ask

import (
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
)

// page is the content of a tab in rows, cached for a width and a theme. Marks and the cursor are drawn onto it.
type page struct {
	rows  []pageRow
	width int
	theme *style.Theme
}

type pageRow struct {
	line   style.Line
	option int // -1 for the question itself
	first  bool
}

// View draws the region, at most so high.
func (q *Question) View(th *style.Theme, width, height int) []style.Line {
	width = max(width, 20)
	inner := width - inset
	var rows []style.Line
	q.seen.tabsY = -1
	if q.tabs() > 1 {
		q.seen.tabsY = 0
		rows = append(rows, q.tabRow(th, inner))
	}
	hint := hintLine(th, q.hints(), inner)
	roomy := height >= len(rows)+6
	if roomy && len(rows) > 0 {
		rows = append(rows, nil)
	}
	room := height - len(rows)
	if roomy {
		room -= 2
	}
	q.seen.first, q.seen.cursorY = len(rows), -1
	rows = append(rows, q.pageRows(th, inner, max(1, room))...)
	if roomy {
		rows = append(rows, nil, hint)
	}
	return withBar(th, rows, width, th.Accent)
}

// pageRows is the part of the page that is seen, with a row that says that there is more.
func (q *Question) pageRows(th *style.Theme, width, room int) []style.Line {
	if q.here() == nil {
		q.rows = page{rows: q.summary(th, width)} // answers change; there are few
	} else if q.rows.theme != th || q.rows.width != width {
		q.rows = page{q.layout(th, width), width, th}
	}
	all := len(q.rows.rows)
	q.seen.shown = min(all, room)
	more := all > room && room > 2
	if more {
		q.seen.shown--
	}
	q.reveal()
	out := make([]style.Line, 0, room)
	for i := q.top; i < q.top+q.seen.shown; i++ {
		out = append(out, q.draw(th, q.rows.rows[i], width, q.seen.first+i-q.top))
	}
	if more {
		out = append(out, moreRow(th, q.top, all-q.top-q.seen.shown, width))
	}
	return out
}

// reveal scrolls to the option under the cursor, unless the user scrolled away from it.
func (q *Question) reveal() {
	q.top = max(0, min(q.top, len(q.rows.rows)-q.seen.shown))
	a := q.here()
	if a == nil || q.scrolledAway && !q.editing {
		return
	}
	from, to := -1, -1
	for i, r := range q.rows.rows {
		if r.option == a.at {
			if r.first {
				from = i
			}
			to = i
		}
	}
	switch {
	case from < 0:
	case a.at == 0 && to < q.seen.shown:
		q.top = 0 // with the question above it
	case from < q.top:
		q.top = from
	case to >= q.top+q.seen.shown:
		q.top = min(from, to-q.seen.shown+1)
	}
}

// layout wraps the question and its options.
func (q *Question) layout(th *style.Theme, width int) []pageRow {
	a := q.here()
	var out []pageRow
	odd := style.Fg(th.Warning)
	add := func(text string, look style.Attr, option int, lead int) {
		lines, _ := visible(text, look, odd)
		for _, l := range style.WrapAll(lines, max(1, width-lead)) {
			out = append(out, pageRow{append(style.Plain(strings.Repeat(" ", lead)), l...), option, false})
		}
	}
	question := a.Question.Question
	if a.Multiple.On() {
		question += " (select all that apply)"
	}
	add(question, style.Bold(th.Text), -1, 0)
	out = append(out, pageRow{nil, -1, false})
	lead := a.lead()
	for i, o := range a.Options {
		from := len(out)
		label := o.Label
		if strings.TrimSpace(label) == "" {
			label = "(empty)"
		}
		add(label, style.Fg(th.Text), i, lead)
		out[from].first = true
		if strings.TrimSpace(o.Description) != "" {
			add(o.Description, style.Fg(th.TextMuted), i, lead)
		}
	}
	if a.allowsCustom() {
		out = append(out, pageRow{style.Plain(strings.Repeat(" ", lead)), len(a.Options), true})
	}
	return out
}

// lead is how many cells stand before a label: cursor, number, box.
func (a *questionState) lead() int {
	n := 2 + len(fmt.Sprint(a.choices())) + 2
	if a.Multiple.On() {
		n += 4
	}
	return n
}

// draw puts cursor, number and box before an option, and the editor into the place of an own answer.
func (q *Question) draw(th *style.Theme, r pageRow, width, y int) style.Line {
	a := q.here()
	if a == nil || r.option < 0 {
		return r.line.Truncate(width)
	}
	on := r.option == a.at
	look := style.Fg(th.Text)
	if on {
		look = style.Bold(th.Primary)
	}
	line := r.line
	if on && r.first && r.option < len(a.Options) {
		line = line.With(func(x style.Attr) style.Attr { x.FG, x.Bold = th.Primary, true; return x })
	}
	if !r.first {
		return line.Truncate(width)
	}
	mark := "  "
	if on {
		mark = "› "
	}
	mark += fmt.Sprintf("%*d. ", len(fmt.Sprint(a.choices())), r.option+1)
	picked := r.option < len(a.Options) && a.picked[r.option] || r.option == len(a.Options) && a.custom != ""
	if a.Multiple.On() {
		mark += map[bool]string{true: "[✓] ", false: "[ ] "}[picked]
	}
	lead := style.Width(mark)
	rest := line.Cut(lead, line.Width())
	if r.option == len(a.Options) {
		rest = q.customRow(th, a, look, width-lead, lead, y)
	}
	row := append(style.Of(mark, look), rest...)
	if picked && !a.Multiple.On() {
		row = row.Truncate(width-2).Add(" ✓", style.Fg(th.Success))
	}
	return row.Truncate(width)
}

// customRow is the custom answer: its text, or the editor.
func (q *Question) customRow(th *style.Theme, a *questionState, look style.Attr, width, lead, y int) style.Line {
	switch {
	case q.editing:
		field := style.Attr{FG: th.Text, BG: th.BackgroundElement}
		line, at := q.text.View(field, width)
		q.seen.cursorX, q.seen.cursorY = edge+lead+at, y
		return line.Fit(width, field)
	case a.custom != "":
		return style.Of(a.custom, look)
	default:
		look.FG = th.TextMuted
		return style.Of("Type your own answer", look)
	}
}

// tabRow draws the tabs; where they do not fit, only the one that is open, with its number.
func (q *Question) tabRow(th *style.Theme, width int) style.Line {
	var row style.Line
	q.seen.tabs = make([][2]int, q.tabs())
	for i := range q.tabs() {
		if i > 0 {
			row = row.Add(" ", style.Attr{})
		}
		from := edge + row.Width()
		row = row.Add(dialog.Button(th, q.tabName(i), i == q.tab, false))
		q.seen.tabs[i] = [2]int{from, edge + row.Width()}
	}
	if row.Width() <= width {
		return row
	}
	clear(q.seen.tabs)
	name := fmt.Sprintf("%d/%d %s", q.tab+1, q.tabs(), q.tabName(q.tab))
	text, look := dialog.Button(th, name, true, false)
	return style.Of(text, look).Truncate(width)
}

// tabName is the header of a question, with a check mark once it is answered.
func (q *Question) tabName(i int) string {
	if i == len(q.list) {
		return "Confirm"
	}
	a := &q.list[i]
	name := oneLine(strings.TrimSpace(a.Header))
	if name == "" {
		name = fmt.Sprintf("Question %d", i+1)
	}
	name = style.Of(name, style.Attr{}).Truncate(30).Text()
	if len(a.answers()) > 0 {
		name += " ✓"
	}
	return name
}

// summary is the content of the last tab: each question with its answers.
func (q *Question) summary(th *style.Theme, width int) []pageRow {
	var out []pageRow
	add := func(l style.Line) { out = append(out, pageRow{l.Truncate(width), -1, false}) }
	add(style.Of("Send these answers?", style.Bold(th.Text)))
	add(nil)
	for i := range q.list {
		a := &q.list[i]
		head := strings.TrimSuffix(q.tabName(i), " ✓")
		got := a.answers()
		if len(got) == 0 {
			add(style.Of(head+": ", style.Fg(th.TextMuted)).Add("not answered", style.Fg(th.Warning)))
			continue
		}
		for j := range got {
			got[j] = oneLine(got[j])
		}
		text, _ := visibleLine(strings.Join(got, ", "), style.Fg(th.Text), style.Fg(th.Warning))
		add(append(style.Of(head+": ", style.Fg(th.TextMuted)), text...))
	}
	return out
}

// hints are the keys of the current tab, in pairs of key and label.
func (q *Question) hints() []string {
	switch a := q.here(); {
	case q.editing:
		return []string{"enter", "accept", "esc", "cancel"}
	case a == nil:
		return []string{"enter", "send", "tab", "back", "esc", "dismiss"}
	case q.isSingleChoice():
		return []string{"enter", "answer", "↑↓", "move", "esc", "dismiss"}
	default:
		return []string{"enter", "select", "tab", "next", "↑↓", "move", "esc", "dismiss"}
	}
}
