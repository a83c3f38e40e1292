package status

import (
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// item is a piece of a row that can be dropped if it does not fit. Rank 0 stays, the highest goes first.
type item struct {
	line style.Line
	rank int
	part Part
	hint bool // a key hint, apart from the others
}

// row is a line with a left and a right side.
type row struct {
	left, right []item
	between     style.Line // items of the same side
}

// gap is the minimum distance between the sides.
const gap = 2

// fit drops items until the row fits the width.
func (r row) fit(width int) row {
	for r.width() > width {
		worst, side, at := 0, 0, 0
		for s, items := range [][]item{r.left, r.right} {
			for i, it := range items {
				if it.rank > 0 && it.rank >= worst {
					worst, side, at = it.rank, s, i
				}
			}
		}
		switch {
		case worst == 0:
			return r
		case side == 0:
			r.left = slices.Delete(slices.Clone(r.left), at, at+1)
		default:
			r.right = slices.Delete(slices.Clone(r.right), at, at+1)
		}
	}
	return r
}

// width is the minimum width of the row, without margins.
func (r row) width() int {
	w := r.side(r.left).Width() + r.side(r.right).Width()
	if len(r.left) > 0 && len(r.right) > 0 {
		w += gap
		if r.right[0].hint {
			w += gap // a hint is no continuation of the left side
		}
	}
	return w
}

// side joins the items of a side.
func (r row) side(items []item) (out style.Line) {
	for i, it := range items {
		if i > 0 {
			out = append(out, r.separator(items[i-1], it)...)
		}
		out = append(out, it.line...)
	}
	return out
}

// separator stands between two items of a side.
func (r row) separator(a, b item) style.Line {
	switch {
	case a.hint && b.hint:
		return style.Plain("  ")
	case a.hint != b.hint:
		return style.Plain("   ")
	default:
		return r.between
	}
}

// marginOf is the distance of a row from both edges of the frame.
func marginOf(width int) int {
	if width < 30 {
		return min(1, width/2)
	}
	return 2
}

// draw makes the row as wide as asked, with a margin at both ends.
func (r row) draw(width int) style.Line {
	margin := marginOf(width)
	width -= 2 * margin
	r = r.fit(width)
	left, right := r.side(r.left), r.side(r.right)
	line := style.Plain(strings.Repeat(" ", margin))
	if rw := right.Width(); rw > 0 && rw <= width {
		line = append(line, left.Fit(width-rw, style.Attr{})...)
		return append(line, right...)
	}
	return append(line, append(left, right...).Truncate(width)...)
}

// partAt finds the part at a column of the drawn row.
func (r row) partAt(x, width int) Part {
	x, width = x-marginOf(width), width-2*marginOf(width)
	r = r.fit(width)
	find := func(items []item, at int) Part {
		for i, it := range items {
			if i > 0 {
				at += r.separator(items[i-1], it).Width()
			}
			w := it.line.Width()
			if x >= at && x < at+w {
				return it.part
			}
			at += w
		}
		return None
	}
	if p := find(r.left, 0); p != None {
		return p
	}
	return find(r.right, width-r.side(r.right).Width())
}

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

// cell is one cell of the bar at a distance behind the light.
func cell(th *style.Theme, color style.Color, behind int) style.Span {
	if behind < 0 || behind > 3 {
		return style.Span{Text: "·", Attr: style.Fg(th.TextMuted)}
	}
	faded := color.Blend(th.Background, 1-0.22*float64(behind))
	return style.Span{Text: "■", Attr: style.Attr{FG: faded, Faint: behind > 1 && faded == color}}
}
