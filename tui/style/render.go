package style

import "strings"

// Render writes lines as a terminal reads them, one behind the other with line breaks between. Every line
// ends as it began, without looks.
func Render(lines []Line) string {
	size := 0
	for _, l := range lines {
		size++
		for _, s := range l {
			size += len(s.Text) + usualChange
		}
	}
	b := make([]byte, 0, size)
	for i, l := range lines {
		if i > 0 {
			b = append(b, '\n')
		}
		b = l.appendTo(b)
	}
	return string(b)
}

// usualChange is how many bytes it takes to go from one look to another, about.
const usualChange = 40

// appendTo writes a line with escape sequences only where the style changes.
func (l Line) appendTo(b []byte) []byte {
	var last Attr
	for _, s := range l {
		if s.Text == "" {
			continue
		}
		if s.Attr != last {
			b = change(b, last, s.Attr)
			last = s.Attr
		}
		b = append(b, s.Text...)
	}
	if last != (Attr{}) {
		b = change(b, last, Attr{})
	}
	return b
}

// change goes from one look to another.
func change(b []byte, from, to Attr) []byte {
	if from.Link != to.Link {
		b = append(b, "\x1b]8;;"...)
		b = append(b, safeLink(to.Link)...)
		b = append(b, '\x1b', '\\')
	}
	b = append(b, "\x1b["...) // an empty first parameter takes all looks away
	return append(to.appendCodes(b), 'm')
}

// appendCodes writes the parameters of a look, each behind a semicolon.
func (a Attr) appendCodes(b []byte) []byte {
	for _, f := range [...]struct {
		on   bool
		code byte
	}{{a.Bold, '1'}, {a.Faint, '2'}, {a.Italic, '3'}, {a.Underline, '4'}, {a.Invert, '7'}, {a.Strike, '9'}} {
		if f.on {
			b = append(b, ';', f.code)
		}
	}
	return a.BG.appendTo(a.FG.appendTo(b, '3'), '4')
}

// Paint styles a text for the output of commands. It is not cleaned.
func Paint(text string, a Attr) string {
	codes := a.appendCodes(nil)
	if len(codes) == 0 {
		return text
	}
	return "\x1b[" + string(codes[1:]) + "m" + text + "\x1b[0m"
}

// safeLink drops an address that could end the sequence it stands in. Semicolons, which part the fields of
// that sequence, are written in the other way that addresses have.
func safeLink(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x21 || s[i] >= 0x7f {
			return ""
		}
	}
	return strings.ReplaceAll(s, ";", "%3B")
}

// Text returns the text of lines, without styles and trailing spaces.
func Text(lines []Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(l.Text(), " "))
	}
	return b.String()
}
