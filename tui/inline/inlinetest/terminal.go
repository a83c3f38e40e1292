// Package inlinetest is a terminal for tests of the live view: it turns the bytes that are sent back into rows.
package inlinetest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// Terminal is what a terminal makes of the bytes that it is sent: rows of cells with their style, those
// that have left the screen too. It knows what the view uses, and reports all else.
type Terminal struct {
	Width, height int
	Rows          [][]cell
	row, col      int
	Style         string   // of the next cells
	Unknown       []string // unsupported sequences
}

type cell struct {
	text, look string
	filler     bool // the right half of a wide one
}

// New makes a terminal of a size.
func New(width, height int) *Terminal {
	return &Terminal{Width: width, height: height, Rows: make([][]cell, 1)}
}

// Write interprets output to the terminal.
func (g *Terminal) Write(s string) {
	for s != "" {
		if strings.HasPrefix(s, "\x1b[") {
			end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				g.Unknown = append(g.Unknown, strconv.Quote(s))
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
			g.Unknown = append(g.Unknown, strconv.Quote(text))
		default:
			g.put(text, r)
		}
		s = s[n:]
	}
}

func (g *Terminal) down() {
	if g.row++; g.row == len(g.Rows) {
		g.Rows = append(g.Rows, nil)
	}
}

func (g *Terminal) control(arguments string, what byte) {
	n, _ := strconv.Atoi(arguments)
	switch what {
	case 'm':
		g.Style = strings.TrimPrefix(strings.TrimPrefix(arguments, "0"), ";")
	case 'A': // not above the screen
		g.row = max(g.row-max(1, n), max(0, len(g.Rows)-g.height))
	case 'C':
		g.col = min(g.col+max(1, n), g.Width-1)
	case 'h', 'l', 'u': // modes change no cell
		if !strings.HasPrefix(arguments, "?") && !strings.ContainsAny(arguments, "<>") {
			g.Unknown = append(g.Unknown, "CSI "+arguments+string(what))
		}
	case 'K':
		if n == 2 {
			g.Rows[g.row] = nil
		} else {
			g.Rows[g.row] = g.Rows[g.row][:min(g.col, len(g.Rows[g.row]))]
		}
	case 'J':
		g.Rows = g.Rows[:g.row+1]
		g.Rows[g.row] = g.Rows[g.row][:min(g.col, len(g.Rows[g.row]))]
	default:
		g.Unknown = append(g.Unknown, "CSI "+arguments+string(what))
	}
}

func (g *Terminal) put(text string, r rune) {
	w := termtext.Columns(string(r))
	line := g.Rows[g.row]
	if w == 0 {
		if at := min(g.col, len(line)) - 1; at >= 0 {
			for at > 0 && line[at].filler {
				at--
			}
			line[at].text += text
		}
		return
	}
	if g.col+w > g.Width {
		g.col = 0
		g.down()
		line = g.Rows[g.row]
	}
	for len(line) < g.col+w {
		line = append(line, cell{text: " "})
	}
	line[g.col] = cell{text: text, look: g.Style}
	if w == 2 {
		line[g.col+1] = cell{filler: true}
	}
	g.Rows[g.row] = line
	g.col += w
}

// Resize makes the terminal narrower and rewraps its rows.
func (g *Terminal) Resize(width int) {
	var rows [][]cell
	for i, line := range g.Rows {
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
	g.Width, g.Rows = width, rows
}

// String shows all rows; where the look changes its codes stand in ‹›.
func (g *Terminal) String() string {
	var b strings.Builder
	for _, line := range g.Rows {
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
	for _, o := range g.Unknown {
		fmt.Fprintf(&b, "NOT KNOWN: %s\n", o)
	}
	return b.String()
}

// Plain shows all rows without their looks.
func (g *Terminal) Plain() string {
	for _, line := range g.Rows {
		for i := range line {
			line[i].look = ""
		}
	}
	return g.String()
}
