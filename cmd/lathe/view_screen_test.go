package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// glass is what a terminal makes of the bytes that it is sent: rows of cells with their style, those
// that have left the screen too. It knows what the view uses, and reports all else.
type glass struct {
	width, height int
	rows          [][]cell2
	row, col      int
	look          string
	odd           []string // what it does not know
}

type cell2 struct {
	text, look string
	filler     bool // the right half of a wide one
}

func newGlass(width, height int) *glass {
	return &glass{width: width, height: height, rows: make([][]cell2, 1)}
}

func (g *glass) write(s string) {
	for s != "" {
		if strings.HasPrefix(s, "\x1b[") {
			end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				g.odd = append(g.odd, strconv.Quote(s))
				return
			}
			g.control(s[2:2+end], s[2+end])
			s = s[3+end:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		switch text := s[:n]; {
		case r == '\r':
			g.col = 0
		case r == '\n':
			g.down()
		case r < ' ':
			g.odd = append(g.odd, strconv.Quote(text))
		default:
			g.put(text, r)
		}
		s = s[n:]
	}
}

func (g *glass) down() {
	if g.row++; g.row == len(g.rows) {
		g.rows = append(g.rows, nil)
	}
}

func (g *glass) control(arguments string, what byte) {
	n, _ := strconv.Atoi(arguments)
	switch what {
	case 'm':
		if g.look = arguments; arguments == "0" {
			g.look = ""
		}
	case 'A': // not above what is seen
		g.row = max(g.row-max(1, n), max(0, len(g.rows)-g.height))
	case 'J':
		g.rows = g.rows[:g.row+1]
		g.rows[g.row] = g.rows[g.row][:min(g.col, len(g.rows[g.row]))]
	default:
		g.odd = append(g.odd, "CSI "+arguments+string(what))
	}
}

func (g *glass) put(text string, r rune) {
	w := termtext.RuneWidth(r)
	line := g.rows[g.row]
	if w == 0 {
		if at := min(g.col, len(line)) - 1; at >= 0 {
			for at > 0 && line[at].filler {
				at--
			}
			line[at].text += text
		}
		return
	}
	if g.col+w > g.width {
		g.col = 0
		g.down()
		line = g.rows[g.row]
	}
	for len(line) < g.col+w {
		line = append(line, cell2{text: " "})
	}
	line[g.col] = cell2{text: text, look: g.look}
	if w == 2 {
		line[g.col+1] = cell2{filler: true}
	}
	g.rows[g.row] = line
	g.col += w
}

// narrow makes the terminal narrower, as those do that break their long rows anew.
func (g *glass) narrow(width int) {
	var rows [][]cell2
	for i, line := range g.rows {
		for len(line) > width {
			rows = append(rows, line[:width:width])
			line = line[width:]
		}
		rows = append(rows, line)
		if i == g.row {
			g.row, g.col = len(rows)-1, min(g.col, len(line))
			break
		}
	}
	g.width, g.rows = width, rows
}

// String shows all rows; where the look changes its codes stand in ‹›.
func (g *glass) String() string {
	var b strings.Builder
	for _, line := range g.rows {
		look, text := "", ""
		for _, c := range line {
			if c.filler {
				continue
			}
			if c.look != look {
				text += "‹" + c.look + "›"
				look = c.look
			}
			text += c.text
		}
		if look != "" {
			text += "‹›"
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	for _, o := range g.odd {
		fmt.Fprintf(&b, "NOT KNOWN: %s\n", o)
	}
	return b.String()
}

// plain shows all rows without their looks.
func (g *glass) plain() string {
	for _, line := range g.rows {
		for i := range line {
			line[i].look = ""
		}
	}
	return g.String()
}
