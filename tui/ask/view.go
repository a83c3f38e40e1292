package ask

import (
	"fmt"

	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// edge is how many columns a region's bar takes, and inset how many it needs with the space at the right.
const (
	edge  = 2
	inset = 3
)

// View draws the region, at most so high; all of it when full screen.
func (p *Permission) View(th *style.Theme, width, height int) []style.Line {
	width = max(width, 20)
	inner := width - inset
	color := th.Warning
	if p.isUnsandboxed() {
		color = th.Error
	}
	head := p.head(th, inner, color)
	p.seen.buttons = nil
	foot := p.foot(th, inner)
	hint := p.hints(th, inner)
	body := p.rows(th, inner)
	roomy := height >= len(head)+len(foot)+len(hint)+6
	if height < len(head)+len(foot)+2 {
		head = head[:1]
	}
	fixed := len(head) + len(foot)
	if roomy {
		fixed += len(hint) + 2
	}
	rows := head
	if roomy {
		rows = append(rows, nil)
	}
	rows = append(rows, p.window(th, body, inner, max(2, height-fixed))...)
	if roomy {
		rows = append(rows, nil)
	}
	at := len(rows)
	rows = append(rows, foot...)
	if roomy {
		rows = append(rows, hint...)
	}
	for i := range p.seen.buttons {
		p.seen.buttons[i].y += at
	}
	p.seen.cursorY = at + len(foot) - 1
	return withBar(th, rows, width, color)
}

// window is the visible part of the body, and a row that counts the hidden lines. Both are drawn on any
// screen size: half of a command must never look like the whole.
func (p *Permission) window(th *style.Theme, body []style.Line, width, room int) []style.Line {
	p.seen.all = len(body)
	p.seen.shown = min(len(body), room)
	if len(body) > room {
		p.seen.shown = room - 1
	}
	p.Wheel(0)
	rows := append([]style.Line(nil), body[p.top:p.top+p.seen.shown]...)
	if len(body) > room {
		rows = append(rows, moreRow(th, p.top, len(body)-p.top-p.seen.shown, width))
	}
	for p.full && len(rows) < room {
		rows = append(rows, nil)
	}
	return rows
}

// moreRow counts the hidden lines, so that a part never looks like the whole.
func moreRow(th *style.Theme, above, below, width int) style.Line {
	text := fmt.Sprintf("↓ %d more lines below", below)
	switch {
	case below == 0:
		text = fmt.Sprintf("↑ %d lines above (end)", above)
	case above > 0:
		text = fmt.Sprintf("↑ %d above  ↓ %d more lines below", above, below)
	}
	return style.Of(text, style.Bold(th.Warning)).Truncate(width)
}

// head is the title of the region and the request in one line each.
func (p *Permission) head(th *style.Theme, width int, color style.Color) []style.Line {
	name := "Permission required"
	if p.stage == confirming || p.stage == editing {
		if name = "Allow always?"; p.save.scope == grant.Session {
			name = "Allow for this session?"
		}
	}
	top := style.Of("△ "+name, style.Bold(color))
	if p.o.From != "" {
		top = top.Add("  from subagent "+oneLine(p.o.From), style.Fg(th.TextMuted))
	}
	if p.waiting > 0 {
		top = top.Add(fmt.Sprintf("  %d more pending", p.waiting), style.Fg(th.TextMuted))
	}
	icon, text := p.title()
	title, _ := visibleLine(oneLine(text), style.Fg(th.Text), style.Fg(th.Warning))
	return []style.Line{top.Truncate(width), append(style.Of(icon+" ", style.Fg(color)), title...).Truncate(width)}
}

// oneLine keeps a text for a title short before it is looked at letter by letter.
func oneLine(text string) string {
	const most = 512
	for i := range text {
		if text[i] == '\n' || i >= most {
			return text[:i] + "…"
		}
	}
	return text
}

// foot draws the buttons, or the reason that is being written.
func (p *Permission) foot(th *style.Theme, width int) []style.Line {
	switch p.stage {
	case editing:
		return p.editFoot(th, width)
	case choosing, confirming:
		note, whole := p.note(th, width)
		if p.seen.noted = -1; whole && p.stage == choosing {
			p.seen.noted = p.at
		}
		rows := p.buttons(th, width)
		for i := range p.seen.buttons {
			p.seen.buttons[i].y += len(note)
		}
		return append(note, rows...)
	}
	ask := style.Of("Reason for rejecting:", style.Bold(th.Text)).Add("  Leave it empty to end the turn.", style.Fg(th.TextMuted))
	rows := ask.Wrap(width, nil)
	look := style.Attr{FG: th.Text, BG: th.BackgroundElement}
	line, at := p.reason.View(look, width-2)
	p.seen.cursorX = edge + 2 + at
	return append(rows, append(style.Of("› ", style.Fg(th.Primary)), line...).Fit(width, look))
}

// buttons draws the choices in a row with long names, with short ones, or each in a row of its own.
func (p *Permission) buttons(th *style.Theme, width int) []style.Line {
	long := func(c choice) string { return c.long }
	short := func(c choice) string { return c.short }
	for _, name := range []func(choice) string{long, short} {
		if row, places := p.buttonRow(th, p.choice, 0, name); row.Width() <= width {
			p.seen.buttons = places
			return []style.Line{row}
		}
	}
	var rows []style.Line
	for i := range p.choice {
		row, places := p.buttonRow(th, p.choice[i:i+1], i, short)
		places[0].y = i
		rows, p.seen.buttons = append(rows, row.Truncate(width)), append(p.seen.buttons, places...)
	}
	return rows
}

func (p *Permission) buttonRow(th *style.Theme, list []choice, from int, name func(choice) string) (row style.Line, places []place) {
	for i, c := range list {
		if i > 0 {
			row = row.Add(" ", style.Attr{})
		}
		start := edge + row.Width()
		row = row.Add(dialog.Button(th, fmt.Sprintf("%d %s", from+i+1, name(c)), from+i == p.at, c.action == reject || c.action == confirm))
		places = append(places, place{0, start, edge + row.Width(), c.action})
	}
	return row, places
}

// hints says which keys do something now.
func (p *Permission) hints(th *style.Theme, width int) []style.Line {
	list := []string{"enter", "confirm", "esc", "reject"}
	if p.at < 0 {
		list = []string{fmt.Sprintf("1-%d ←→", len(p.choice)), "select", "esc", "reject"}
	}
	switch p.stage {
	case confirming:
		list = []string{"enter", "confirm", "esc", "back"}
	case editing:
		list = []string{"enter", "done", "esc", "discard", "tab", "next proposal"}
		if len(p.save.patterns) > 1 {
			list = append(list, "↑↓", "pattern")
		}
		return []style.Line{hintLine(th, list, width)}
	case explaining:
		list = []string{"enter", "reject", "↑", "back"}
		if p.typed || p.Unsent() != "" {
			list = []string{"enter", "reject", "esc", "back"}
		}
	case choosing:
	}
	if p.stage != explaining {
		full := "full screen"
		if p.full {
			full = "smaller"
		}
		list = append(list, p.keys.Label(key.PermissionPromptFullscreen), full)
		if p.seen.all > p.seen.shown {
			list = append(list, "↑↓", "scroll")
		}
		list = append(list, "type", "to reject with a reason")
	}
	return []style.Line{hintLine(th, list, width)}
}

// hintLine writes pairs of keys and labels, as many as fit.
func hintLine(th *style.Theme, list []string, width int) style.Line {
	var row style.Line
	for i := 0; i+1 < len(list); i += 2 {
		if list[i] == "" {
			continue
		}
		next := th.Hint(list[i], list[i+1])
		if len(row) > 0 {
			next = append(style.Plain("  "), next...)
		}
		if row.Width()+next.Width() > width {
			break
		}
		row = append(row, next...)
	}
	return row
}

// withBar adds a bar at the left of rows, on the panel background.
func withBar(th *style.Theme, rows []style.Line, width int, color style.Color) []style.Line {
	out := make([]style.Line, len(rows))
	for i, r := range rows {
		line := append(style.Line{{Text: "┃ ", Attr: style.Fg(color)}}, r...)
		out[i] = line.On(th.BackgroundPanel).Fit(width, style.Attr{BG: th.BackgroundPanel})
	}
	return out
}
