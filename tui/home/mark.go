package home

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// logoArt is the logo, one character per square. Two rows of squares make one row of cells.
const logoArt = `
##............##....##............
##............##....##............
##....####...#####..#####....####.
##.......##...##....##..##..##..##
##....#####...##....##..##..######
##...##..##...##....##..##..##....
##...##..##...##....##..##..##....
.##...#####....###..##..##...####.`

// smallBelow is the minimum width of the large logo.
const smallBelow = 50

// logo draws the name, from one color of the theme to another.
func logo(th *style.Theme, small bool) []style.Line {
	if small {
		return []style.Line{style.Of("▞ ", style.Fg(th.Secondary)).Add("lathe", style.Bold(th.Primary))}
	}
	rows := strings.Split(strings.TrimPrefix(logoArt, "\n"), "\n")
	width := len(rows[0])
	var out []style.Line
	for y := 0; y < len(rows); y += 2 {
		l := make(style.Line, 0, width)
		for x := range width {
			share := 1 - float64(x)/float64(width)
			l = append(l, style.Span{Text: halfBlock(rows[y][x] == '#', rows[y+1][x] == '#'), Attr: style.Fg(th.Primary.Blend(th.Secondary, share))})
		}
		out = append(out, l)
	}
	return out
}

// halfBlock is the cell of two squares.
func halfBlock(upper, lower bool) string {
	switch {
	case upper && lower:
		return "█"
	case upper:
		return "▀"
	case lower:
		return "▄"
	default:
		return " "
	}
}
