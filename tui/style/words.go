package style

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Plural counts things: 1 file, 2 files.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Capitalize writes a name with a capital.
func Capitalize(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	if upper := unicode.ToUpper(first); upper != first {
		return string(upper) + name[size:]
	}
	return name
}

// Prefix returns at most n bytes of a text, in whole characters.
func Prefix(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// ShortPath shortens a path to a width. It keeps the end, which is more specific than the beginning.
func ShortPath(path string, width int) string {
	l := Plain(path)
	w := l.Width()
	if w <= width {
		return path
	}
	return "…" + l.Cut(w-width+1, w).Text()
}

// FirstLine is what a place of one line shows of a text: its first line with something in it, and not more than any
// such place can hold.
func FirstLine(text string) string {
	const most = 1 << 10
	text = Prefix(strings.TrimLeft(text, " \t\r\n"), most)
	if at := strings.IndexAny(text, "\r\n"); at >= 0 {
		text = text[:at]
	}
	return text
}

// Clock writes when something was, as seen from now and in its zone: the time of a day, with the day if it was not
// today, and the day alone if it was in another year. The zero time is nothing.
func Clock(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.In(now.Location())
	sameDay := func(a, b time.Time) bool { return a.Year() == b.Year() && a.YearDay() == b.YearDay() }
	switch {
	case sameDay(t, now):
		return t.Format("15:04")
	case sameDay(t, now.AddDate(0, 0, -1)):
		return "yesterday " + t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	default:
		return t.Format("2 Jan 2006")
	}
}

// Spinner is a sign that turns with the frame; below 0 it stands still.
func Spinner(frame int) string {
	signs := [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return signs[max(frame, 0)%len(signs)]
}
