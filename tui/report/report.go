// Package report renders what lathe tells about itself as rows of text: the contents of the context window, the cost
// of a session, settings, health checks and instruction files. Its functions are pure, so the full-screen dialogs and
// the plain terminal show the same. Rows carry tones instead of colors. No text reaches them with control characters.
//
// Start with Row and Context.
package report

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// Tone says how a text stands out. The full screen turns it into a color.
type Tone uint8

// The tones. Those from Part on number the parts of a bar.
const (
	Normal  Tone = iota
	Heading      // the title of a section
	Muted        // details
	Good         // a check that found no problem, a value that the user has set
	Warn         // a problem that leaves lathe usable
	Bad          // a problem that does not
	Part         // the first part of a bar
)

// Span is a text of one tone.
type Span struct {
	Text string
	Tone Tone
}

// Row is one line of a report, no wider than the width it was made for.
type Row []Span

// String is the text of a row.
func (r Row) String() string {
	var b strings.Builder
	for _, s := range r {
		b.WriteString(s.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// Text joins rows for a plain terminal.
func Text(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Plain is a text of several lines as rows.
func Plain(text string) (rows []Row) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		rows = append(rows, say(strings.TrimRight(line, "\n"), Normal))
	}
	return rows
}

// clean makes a text of any origin safe for one line.
func clean(text string) string { return style.Clean(style.FirstLine(text)) }

// say is a row of one text.
func say(text string, t Tone) Row { return Row{{clean(text), t}} }

// pair puts a text at the left edge and one at the right. The left text is cut if both do not fit.
func pair(left Row, right Span, width int) Row {
	right.Text = style.Plain(right.Text).Truncate(width * 2 / 3).Text()
	rest := width - style.Width(right.Text) - 1
	out, used := fit(left, rest)
	return append(out, Span{strings.Repeat(" ", max(1, rest-used+1)), Normal}, right)
}

// fit cuts a row to a width and returns its new width.
func fit(r Row, width int) (out Row, used int) {
	for _, s := range r {
		w := style.Width(s.Text)
		if used+w > width {
			s.Text = style.Plain(s.Text).Truncate(max(0, width-used)).Text()
			return append(out, s), used + style.Width(s.Text)
		}
		out, used = append(out, s), used+w
	}
	return out, used
}

// wrap breaks a long text into rows with an indent.
func wrap(text, indent string, t Tone, width int) (out []Row) {
	for _, l := range style.Plain(strings.Join(strings.Fields(style.Clean(text)), " ")).Wrap(max(1, width-len(indent)), nil) {
		out = append(out, Row{{indent, Normal}, {l.Text(), t}})
	}
	return out
}

// pad fills a text up to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-style.Width(text)))
}
