package status

import "github.com/lathe-agent/lathe/tui/style"

// barWidth is how many cells the animation takes.
const barWidth = 8

// bar draws a light that runs from side to side and leaves a trail. Below frame 0 it stands still.
func bar(th *style.Theme, color style.Color, frame int) style.Line {
	if frame < 0 {
		return style.Of("working…", style.Fg(color))
	}
	const turn = 2 * (barWidth - 1)
	at, forward := frame%turn, true
	if at >= barWidth {
		at, forward = turn-at, false
	}
	out := make(style.Line, 0, barWidth)
	for i := range barWidth {
		behind := at - i
		if !forward {
			behind = i - at
		}
		out = append(out, cell(th, color, behind))
	}
	return out
}

// cell is one cell of the bar, so many behind the light.
func cell(th *style.Theme, color style.Color, behind int) style.Span {
	if behind < 0 || behind > 3 {
		return style.Span{Text: "·", Attr: style.Fg(th.TextMuted)}
	}
	faded := color.Blend(th.Background, 1-0.22*float64(behind))
	return style.Span{Text: "■", Attr: style.Attr{FG: faded, Faint: behind > 1 && faded == color}}
}
