package patch

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// contrast shows a line of the file and the one that was quoted for it, as they are, one under the
// other, with a caret under the first difference. Nothing is escaped: what is shown can be copied.
func contrast(number int, have, want, quote string) string {
	have, want = strings.ToValidUTF8(have, "\ufffd"), strings.ToValidUTF8(want, "\ufffd")
	at := commonPrefix(have, want)
	for at > 0 && at < len(have) && !utf8.RuneStart(have[at]) {
		at--
	}
	file := fmt.Sprintf("line %d", number)
	width := max(len(file), len(quote))
	before := have[:at]
	have, want, before = around(have, at), around(want, at), around(before, at)
	return fmt.Sprintf("%-*s |%s\n%-*s |%s\n%-*s |%s^", width, file, have, width, quote, want, width, "", blankOf(before))
}

// around cuts a long line to what lies around an offset.
func around(line string, at int) string {
	const before, after = 120, 80
	cut := ""
	if end := at + after; end < len(line) {
		line, cut = strings.ToValidUTF8(line[:end], ""), "…"
	}
	if start := at - before; start > 0 && start < len(line) {
		line = "…" + strings.ToValidUTF8(line[start:], "")
	}
	return line + cut
}

// blankOf is as wide as a text: tabs stay, so that what follows stands under the same column.
func blankOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, text)
}
