package main

import (
	"fmt"
	"html"
	"strings"
)

// The sizes of a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 16
	bar        = 34 // height of the title bar
)

// The colors of the terminal.
const (
	background = "#16181d"
	foreground = "#d5d8de"
	frame      = "#2a2e36"
	quiet      = "#868c98"
)

// palette returns one of the first sixteen colors.
func palette(n int) string {
	return [16]string{
		"#3b404a", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d5d8de",
		"#868c98", "#ef8891", "#b1d69a", "#f0d396", "#82c4f5", "#d898ea", "#79cdd6", "#ffffff",
	}[n]
}

// color returns one of 256 colors.
func color(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < 16:
		return palette(n)
	case n < 232:
		level := func(v int) int { return [6]int{0, 95, 135, 175, 215, 255}[v] }
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	default:
		gray := 8 + (n-232)*10
		return fmt.Sprintf("#%02x%02x%02x", gray, gray, gray)
	}
}

// with applies the parameters of an SGR sequence.
func (st style) with(list []int) style {
	for i := 0; i < len(list); i++ {
		switch n := list[i]; {
		case n == 0:
			st = style{}
		case n == 1:
			st.bold = true
		case n == 2:
			st.faint = true
		case n == 3:
			st.italic = true
		case n == 4:
			st.under = true
		case n == 7:
			st.turned = true
		case n == 22:
			st.bold, st.faint = false, false
		case n == 23:
			st.italic = false
		case n == 24:
			st.under = false
		case n == 27:
			st.turned = false
		case n >= 30 && n <= 37:
			st.fg = palette(n - 30)
		case n >= 90 && n <= 97:
			st.fg = palette(n - 82)
		case n >= 40 && n <= 47:
			st.bg = palette(n - 40)
		case n >= 100 && n <= 107:
			st.bg = palette(n - 92)
		case n == 39:
			st.fg = ""
		case n == 49:
			st.bg = ""
		case (n == 38 || n == 48) && i+2 < len(list):
			c := ""
			if list[i+1] == 5 {
				c, i = color(list[i+2]), i+2
			} else if i+4 < len(list) {
				c, i = fmt.Sprintf("#%02x%02x%02x", list[i+2]&255, list[i+3]&255, list[i+4]&255), i+4
			}
			if n == 38 {
				st.fg = c
			} else {
				st.bg = c
			}
		}
	}
	return st
}

// svg draws the screen below a title bar.
func (s *screen) svg(title string) string {
	lines := s.lines
	for s.rows == 0 && len(lines) > 1 && text(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	page := s.page()
	width, height := 2*margin+cellWidth*float64(s.cols), bar+2*margin+cellHeight*len(lines)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<title>%s</title>`+"\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/><path d="M0 %d h%.0f" stroke="%s"/>`+"\n", page, bar, width, frame)
	fmt.Fprintf(&b, `<text x="%d" y="22" fill="%s">%s</text>`+"\n", margin, quiet, html.EscapeString(title))
	for i, line := range lines {
		top := bar + margin + cellHeight*i
		drawBackground(&b, line, top, page)
		drawText(&b, line, top)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// page returns the background that fills more than a third of the screen, or else the default.
func (s *screen) page() string {
	cells := map[string]int{}
	for _, line := range s.lines {
		for _, c := range line {
			cells[c.style.bg]++
		}
	}
	page, most := background, s.cols*len(s.lines)/3
	for bg, n := range cells {
		if bg != "" && n > most {
			page, most = bg, n
		}
	}
	return page
}

// drawBackground draws one rectangle for each run of equal background. Crisp edges leave no gaps.
func drawBackground(b *strings.Builder, line []cell, top int, page string) {
	for from := 0; from < len(line); {
		_, bg := line[from].style.colors()
		to := from + 1
		for to < len(line) {
			if _, next := line[to].style.colors(); next != bg {
				break
			}
			to++
		}
		if bg != "" && bg != page {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" shape-rendering="crispEdges"/>`+"\n",
				margin+cellWidth*float64(from), top, cellWidth*float64(to-from), cellHeight, bg)
		}
		from = to
	}
}

// drawText draws one element for each run of equal style. Each has its exact length, so that columns align
// in any font.
func drawText(b *strings.Builder, line []cell, top int) {
	for from := 0; from < len(line); {
		to := from + 1
		for to < len(line) && line[to].style == line[from].style {
			to++
		}
		if piece, st := text(line[from:to]), line[from].style; piece != "" {
			fg, _ := st.colors()
			fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
				margin+cellWidth*float64(from), top+14, cellWidth*float64(columns(line[from:to])), fg, st.attributes(), html.EscapeString(piece))
		}
		from = to
	}
}

// columns returns the width of a piece without the spaces at its end.
func columns(piece []cell) int {
	n := len(piece)
	for n > 0 && piece[n-1].text == " " {
		n--
	}
	return n
}

func (st style) colors() (fg, bg string) {
	fg, bg = st.fg, st.bg
	if fg == "" {
		fg = foreground
	}
	if st.turned {
		if bg == "" {
			bg = background
		}
		return bg, fg
	}
	return fg, bg
}

func (st style) attributes() (out string) {
	if st.bold {
		out += ` font-weight="bold"`
	}
	if st.faint {
		out += ` opacity="0.6"`
	}
	if st.italic {
		out += ` font-style="italic"`
	}
	if st.under {
		out += ` text-decoration="underline"`
	}
	return out
}
