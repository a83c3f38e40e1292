package ask

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/tui/style"
)

// maxBlank is how many empty lines stand in a row before they are counted instead: a screen of them would
// hide the text after them.
const maxBlank = 3

// visible shows a text with all hidden characters: invisible or confusable characters
// and direction marks are written as escapes in the odd style. hidden reports whether there were any.
func visible(text string, plain, odd style.Attr) (lines []style.Line, hidden bool) {
	blank := 0
	flush := func() {
		if blank > maxBlank {
			lines = append(lines, style.Of(fmt.Sprintf("⋮ %d empty lines", blank), odd))
		} else {
			for range blank {
				lines = append(lines, nil)
			}
		}
		blank = 0
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.Trim(part, " \t") == "" {
			blank++
			continue
		}
		flush()
		line, h := visibleLine(part, plain, odd)
		lines, hidden = append(lines, line), hidden || h
	}
	flush()
	return lines, hidden
}

// visibleLine replaces hidden characters of one line by escapes in the odd style.
func visibleLine(text string, plain, odd style.Attr) (line style.Line, hidden bool) {
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= 0x20 && c < 0x7f || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if name := escapeName(r, n, c); name != "" {
			line = line.Add(text[from:i], plain).Add(name, odd)
			from, hidden = i+n, true
		}
		i += n
	}
	return line.Add(text[from:], plain), hidden
}

// firstHidden names the first character of a text that cannot be trusted to be seen, or "". Ends of lines as
// other systems write them are fine, and so are the joiners that emoji and some scripts need.
func firstHidden(text string) string {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= 0x20 && c < 0x7f || c == '\t' || c == '\n' || c == '\r' && strings.HasPrefix(text[i:], "\r\n") {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if name := escapeName(r, n, c); name != "" && r != 0x200c && r != 0x200d {
			return name
		}
		i += n
	}
	return ""
}

// escapeName is how a character is written that cannot be trusted to be seen, or "".
func escapeName(r rune, n int, first byte) string {
	switch {
	case r == utf8.RuneError && n <= 1:
		return fmt.Sprintf(`\x%02x`, first)
	case r == '\r':
		return `\r`
	case r == 0x1b:
		return `\e`
	case r < 0x20 || r == 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case isHidden(r):
		return fmt.Sprintf("<U+%04X>", r)
	default:
		return ""
	}
}

// isHidden reports whether a character has no look of its own: signs that steer, spaces that are not the
// space, fillers, selectors of variants.
func isHidden(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r <= 0xa0, r == 0xad, unicode.Is(unicode.Cf, r), unicode.Is(unicode.Z, r):
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800, r == 0x034f, r == 0x17b4, r == 0x17b5:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0000 && r <= 0xe0fff:
		return true
	default:
		return false
	}
}
