package live

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// markdown shows a text that grows. A line is shown as it comes until its end is there; then it is
// drawn once, in the look that it asks for, and never again.
type markdown struct {
	look  Style  // of everything; nothing of the text has a meaning then
	open  string // the line whose end has not come
	fence string // what ends the block of code that is open
	more  bool   // the open line goes on with one whose beginning is drawn
	blank bool   // an empty line is due before the next one
	began bool
	table []string // lines that may be a table, held back
}

// LongestLine is how many bytes of a line are looked at together: what is longer is cut at a space, so
// that no text takes more than its own length of time.
const LongestLine = 4096

// write takes more text and returns the rows that are complete.
func (m *markdown) write(text string, width int) (out []Row) {
	m.open += text
	for {
		line, rest, whole := strings.Cut(m.open, "\n")
		switch {
		case len(line) > LongestLine:
			out = append(out, m.cut(LongestLine, width)...)
		case whole:
			m.open = rest
			out = append(out, m.line(line, width)...)
			m.more = false
		default:
			return out
		}
	}
}

// end completes the open line.
func (m *markdown) end(width int) (out []Row) {
	if m.open != "" {
		out = m.line(m.open, width)
	}
	m.open, m.more = "", false
	return append(out, m.release(width)...)
}

// cut completes so many bytes of the open line, or less: up to a space.
func (m *markdown) cut(most, width int) []Row {
	at := min(max(most, 1), len(m.open)-1)
	for at > 0 && !utf8.RuneStart(m.open[at]) {
		at--
	}
	if space := strings.LastIndexByte(m.open[:at], ' '); space > 0 {
		at = space + 1
	}
	if at <= 0 {
		return nil
	}
	line := m.open[:at]
	m.open = m.open[at:]
	out := append(m.release(width), m.drawLine(line, width)...)
	m.more, m.blank = true, false
	return out
}

// pending is the open line as it came.
func (m *markdown) pending(width int) (out []Row) {
	if m.open == "" && len(m.table) == 0 {
		return nil
	}
	if m.blank {
		out = append(out, Row{})
	}
	if len(m.table) > 0 {
		if out = append(out, m.holding()); m.open == "" || m.holds(m.open) {
			return out
		}
	}
	indent := Cells("", m.look)
	if m.fence != "" {
		indent = Cells(codeIndent, 0)
	}
	return append(out, Wrapped(Cells(m.open, m.look), indent, indent, width)...)
}

const codeIndent = "  "

// line takes a line that is complete: it is drawn, or held back where it may belong to a table.
func (m *markdown) line(text string, width int) []Row {
	text = strings.TrimRight(text, " \t\r")
	if m.holds(text) {
		return m.hold(text, width)
	}
	return append(m.release(width), m.drawLine(text, width)...)
}

// drawLine draws a line by itself.
func (m *markdown) drawLine(text string, width int) []Row {
	text = strings.TrimRight(text, " \t\r")
	var out []Row
	switch {
	case text == "" && m.fence == "":
		m.blank = m.began
		return nil
	case m.look != 0:
		out = Wrapped(Cells(text, m.look), nil, nil, width)
	case m.fence != "":
		if m.closes(text) {
			m.fence = ""
			return nil
		}
		indent := Cells(codeIndent, 0)
		out = Wrapped(Cells(text, cyan), indent, indent, width)
	case m.more:
		out = Wrapped(inline(text, 0), nil, nil, width)
	default:
		if m.fence = opensFence(text); m.fence != "" {
			return nil
		}
		out = block(text, nil, width)
	}
	if m.blank && m.began {
		out = append([]Row{{}}, out...)
	}
	m.blank, m.began = false, true
	return out
}

func (m *markdown) closes(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, m.fence) && strings.Trim(text, m.fence[:1]) == ""
}

// opensFence is the fence a line begins, "" if it begins none.
func opensFence(text string) string {
	text = strings.TrimLeft(text, " ")
	for _, mark := range []string{"`", "~"} {
		info := strings.TrimLeft(text, mark)
		if n := len(text) - len(info); n >= 3 && !(mark == "`" && strings.Contains(info, mark)) {
			return strings.Repeat(mark, n)
		}
	}
	return ""
}

// block draws a line outside of code: its kind decides how it begins and how it goes on.
func block(text string, prefix []cell, width int) []Row {
	body := strings.TrimLeft(text, " \t")
	indent := Cells(text[:len(text)-len(body)], 0)
	if len(indent) > width/2 {
		indent = indent[:width/2]
	}
	switch {
	case strings.HasPrefix(body, ">"):
		return block(strings.TrimPrefix(body[1:], " "), joined(prefix, Cells("│ ", Dim)), width)
	case isHeading(body):
		title := strings.TrimSpace(strings.Trim(body, "#"))
		return Wrapped(inline(title, Bold), prefix, prefix, width)
	case isRule(body):
		return []Row{drawn(joined(prefix, Cells(strings.Repeat("─", min(40, max(3, width-widthOf(prefix)))), Dim)))}
	}
	if marker, rest := listItem(body); marker != "" {
		first := joined(prefix, indent, Cells(marker+" ", 0))
		hanging := joined(prefix, indent, Cells(strings.Repeat(" ", termtext.Columns(marker)+1), 0))
		return Wrapped(inline(rest, 0), first, hanging, width)
	}
	return Wrapped(inline(body, 0), joined(prefix, indent), joined(prefix, indent), width)
}

func isHeading(s string) bool {
	level := len(s) - len(strings.TrimLeft(s, "#"))
	return level >= 1 && level <= 6 && len(s) > level && s[level] == ' '
}

func isRule(s string) bool {
	bare := strings.ReplaceAll(s, " ", "")
	return len(bare) >= 3 && strings.Contains("-*_", bare[:1]) && strings.Trim(bare, bare[:1]) == ""
}

// listItem takes the mark off an item of a list.
func listItem(s string) (marker, rest string) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case len(s) > 2 && strings.Contains("-*+", s[:1]) && s[1] == ' ':
		marker, rest = "•", s[2:]
	case digits > 0 && digits < 10 && len(s) > digits+1 && strings.Contains(".)", s[digits:digits+1]) && s[digits+1] == ' ':
		marker, rest = s[:digits+1], s[digits+2:]
	default:
		return "", s
	}
	rest = strings.TrimLeft(rest, " ")
	for box, sign := range map[string]string{"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"} {
		if strings.HasPrefix(rest, box) {
			return sign, rest[len(box):]
		}
	}
	return marker, rest
}

// inline draws what stands within a line: code, emphasis, links. A mark that is not closed is a
// character like others.
func inline(s string, look Style) (out []cell) {
	from := 0 // of what is drawn as it is
	add := func(to, next int, special []cell) int {
		out = append(out, Cells(s[from:to], look)...)
		out = append(out, special...)
		from = next
		return next
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.ContainsRune("\\`*_{}[]()#+-.!~>|", rune(s[i+1])):
			add(i, i+1, nil)
			i += 2
		case c == '`':
			n := runLength(s[i:], '`')
			if end := closingCode(s, i+n, n); end >= 0 {
				i = add(i, end+n, Cells(s[i+n:end], look|cyan))
			} else {
				i += n
			}
		case c == '*' || c == '_' || c == '~':
			mark, what := emphasis(s[i:])
			if end := closingMark(s, i, mark); what != 0 && end >= 0 {
				i = add(i, end+len(mark), inline(s[i+len(mark):end], look|what))
			} else {
				i += runLength(s[i:], c)
			}
		case c == '[':
			if label, target, next := link(s, i); next > 0 {
				shown := inline(label, look|underlined)
				if target != label {
					shown = joined(shown, Cells(" ("+target+")", look|Dim))
				}
				i = add(i, next, shown)
			} else {
				i++
			}
		default:
			i++
		}
	}
	add(len(s), len(s), nil)
	return out
}

func runLength(s string, c byte) int { return len(s) - len(strings.TrimLeft(s, string(rune(c)))) }

// closingCode finds the run of exactly n back quotes that ends a span of code.
func closingCode(s string, from, n int) int {
	for i := from; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		if got := runLength(s[i:], '`'); got != n {
			i += got
			continue
		}
		return i
	}
	return -1
}

// emphasis is the mark that a text begins with, and what it means.
func emphasis(s string) (mark string, what Style) {
	switch {
	case strings.HasPrefix(s, "**"), strings.HasPrefix(s, "__"):
		return s[:2], Bold
	case strings.HasPrefix(s, "~~"):
		return s[:2], struck
	case s[0] == '~':
		return s[:1], 0
	default:
		return s[:1], italic
	}
}

// closingMark finds the mark that closes the one at i: it stands behind a word as that stands before one.
// Underscores within words are part of names.
func closingMark(s string, i int, mark string) int {
	from := i + len(mark)
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[from:])
	if from >= len(s) || unicode.IsSpace(after) || mark[0] == '_' && isWord(before) {
		return -1
	}
	for at := from; ; at++ {
		n := strings.Index(s[at:], mark)
		if n < 0 {
			return -1
		}
		at += n
		last, _ := utf8.DecodeLastRuneInString(s[:at])
		next, _ := utf8.DecodeRuneInString(s[at+len(mark):])
		switch {
		case at == from || unicode.IsSpace(last) || mark[0] == '_' && isWord(next):
		case len(mark) == 1 && (next == rune(mark[0]) || last == rune(mark[0])):
		default:
			return at
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// link reads [label](target) at i; next is 0 if there is none.
func link(s string, i int) (label, target string, next int) {
	end := strings.Index(s[i:], "](")
	if end < 0 || strings.Contains(s[i+1:i+end], "[") {
		return "", "", 0
	}
	label = s[i+1 : i+end]
	from := i + end + 2
	closed := strings.IndexAny(s[from:], ") ")
	if closed <= 0 || s[from+closed] != ')' || label == "" {
		return "", "", 0
	}
	return label, s[from : from+closed], from + closed + 1
}
