package style

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Attr is how a piece of text looks. The zero value is the terminal's own.
type Attr struct {
	FG, BG                                         Color
	Bold, Faint, Italic, Underline, Strike, Invert bool
	Link                                           string // where a click leads, for terminals that can
}

// On returns the attributes with this background where they have none.
func (a Attr) On(bg Color) Attr { a.BG = a.BG.Or(bg); return a }

// Fg returns plain text of a color.
func Fg(c Color) Attr { return Attr{FG: c} }

// Bold returns bold text of a color.
func Bold(c Color) Attr { return Attr{FG: c, Bold: true} }

// Span is a piece of text that looks the same from end to end. Its text has been through Clean and has no
// line break.
type Span struct {
	Text string
	Attr Attr
}

// Line is one row of a screen, or a text that is still to be wrapped.
type Line []Span

// Of makes a line of one piece. The text may come from anywhere.
func Of(text string, a Attr) Line { return Line{{Clean(text), a}} }

// Plain makes a line without looks.
func Plain(text string) Line { return Of(text, Attr{}) }

// Add puts a piece behind the line. The text may come from anywhere.
func (l Line) Add(text string, a Attr) Line {
	if text == "" {
		return l
	}
	return append(l, Span{Clean(text), a})
}

// Width is how many cells a text takes.
func Width(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] >= 0x80 || text[i] < 0x20 {
			return ansi.StringWidthWc(text)
		}
	}
	return len(text)
}

// Width is how many cells the line takes.
func (l Line) Width() (n int) {
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// Text returns the text of the line.
func (l Line) Text() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// With changes the looks of every piece.
func (l Line) With(change func(Attr) Attr) Line {
	out := make(Line, len(l))
	for i, s := range l {
		out[i] = Span{s.Text, change(s.Attr)}
	}
	return out
}

// On gives a background to the pieces that have none.
func (l Line) On(bg Color) Line { return l.With(func(a Attr) Attr { return a.On(bg) }) }

// Cut returns the cells from (inclusive) to (exclusive). Half of a wide character becomes a space.
func (l Line) Cut(from, to int) Line {
	var out Line
	at := 0
	for _, s := range l {
		w := Width(s.Text)
		if at+w > from && at < to {
			if text := cutText(s.Text, from-at, to-at, w); text != "" {
				out = append(out, Span{text, s.Attr})
			}
		}
		if at += w; at >= to {
			break
		}
	}
	return out
}

// cutText is Cut for one piece of w cells; from and to may lie outside.
func cutText(text string, from, to, w int) string {
	if from <= 0 && to >= w {
		return text
	}
	if isASCII(text) {
		return text[max(from, 0):min(to, w)]
	}
	var b strings.Builder
	at := 0
	for rest := text; rest != "" && at <= to; { // marks without a width may stand at the end
		var c string
		var n int
		c, n, rest = Next(rest)
		switch {
		case at >= from && at+n <= to:
			b.WriteString(c)
		case at+n > from && at < to: // it straddles an edge
			b.WriteString(strings.Repeat(" ", min(at+n, to)-max(at, from)))
		}
		at += n
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Next splits the first character off a text that is not empty: what a person sees as one, with marks that combine.
func Next(s string) (c string, width int, rest string) {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return s[:1], 1, s[1:]
	}
	c, width = ansi.FirstGraphemeCluster(s[:charEnd(s)], ansi.WcWidth)
	if c == "" {
		return s[:1], 1, s[1:]
	}
	return c, width, s[len(c):]
}

// charEnd is where to stop looking for the end of a character. In some scripts a character has no end.
func charEnd(s string) int {
	const most = 64
	if len(s) <= most {
		return len(s)
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return end
}

// Fit makes the line exactly as wide: cut with an ellipsis, or filled with spaces of the given looks.
func (l Line) Fit(width int, fill Attr) Line {
	switch w := l.Width(); {
	case w > width:
		return l.Truncate(width)
	case w < width:
		return append(l[:len(l):len(l)], Span{strings.Repeat(" ", width-w), fill})
	default:
		return l
	}
}

// Truncate cuts the line to at most this width; where something is lost, an ellipsis says so.
func (l Line) Truncate(width int) Line {
	if l.Width() <= width {
		return l
	}
	if width <= 0 {
		return nil
	}
	out := l.Cut(0, width-1)
	last := l[0].Attr
	if len(out) > 0 {
		last = out[len(out)-1].Attr
	}
	return append(out, Span{"…", last})
}

// Over lays other onto the line from column x on.
func (l Line) Over(x int, other Line) Line {
	w := other.Width()
	if x < 0 {
		other, x, w = other.Cut(-x, w), 0, max(0, w+x)
	}
	out := l.Cut(0, x).Fit(x, Attr{})
	out = append(out[:len(out):len(out)], other...)
	return append(out, l.Cut(x+w, l.Width())...)
}

// Block makes lines exactly as many and as wide, on a background.
func Block(lines []Line, width, height int, bg Color) []Line {
	out := make([]Line, height)
	for i := range out {
		var l Line
		if i < len(lines) {
			l = lines[i]
		}
		out[i] = l.On(bg).Fit(width, Attr{BG: bg})
	}
	return out
}
