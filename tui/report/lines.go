package report

import "github.com/lathe-agent/lathe/tui/style"

// Lines renders rows in the colors of a theme.
func Lines(th *style.Theme, rows []Row) (out []style.Line) {
	for _, r := range rows {
		var line style.Line
		for _, s := range r {
			line = line.Add(s.Text, toneStyle(th, s.Tone))
		}
		out = append(out, line)
	}
	return out
}

// toneStyle turns a tone into a color of the theme. The parts of a bar have neighbors that differ.
func toneStyle(th *style.Theme, t Tone) style.Attr {
	switch t {
	case Normal:
		return style.Fg(th.Text)
	case Heading:
		return style.Bold(th.Accent)
	case Muted:
		return style.Fg(th.TextMuted)
	case Good:
		return style.Fg(th.Success)
	case Warn:
		return style.Fg(th.Warning)
	case Bad:
		return style.Fg(th.Error)
	default:
		parts := []style.Color{th.Primary, th.Info, th.Secondary, th.Success, th.Warning, th.Accent}
		return style.Fg(parts[int(t-Part)%len(parts)])
	}
}
