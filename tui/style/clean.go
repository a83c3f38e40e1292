package style

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// TabWidth is how far a tab reaches. Columns would need to know where the text begins.
const TabWidth = 4

// maxMarks is how many marks may stand on one character. No language needs more; a thousand of them would
// run over the rows above.
const maxMarks = 8

// Clean makes a text safe and predictable for a terminal: no control characters and no escape sequences, tabs
// as spaces, no characters that turn the direction of others around unseen, and emoji without the joiners and
// selectors whose width no two terminals agree on. Line breaks become spaces; split before.
//
// Invisible characters are removed if harmless, and become U+FFFD if they could hide a part of a
// command from the user who reviews it.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	if strings.ContainsFunc(s, isJamo) {
		s = compose(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	var last rune
	marks := 0
	for i, r := range s {
		if isMark(r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		switch {
		case r == '\t':
			b.WriteString(strings.Repeat(" ", TabWidth))
		case r == '\n', r == 0x2028, r == 0x2029:
			b.WriteByte(' ')
		case r < 0x20 || r >= 0x7f && r < 0xa0, isInvisible(r):
			continue
		case r == 0x200d && isPicture(last), r >= 0x1f3fb && r <= 0x1f3ff && isPicture(last), isTag(r) && isPicture(last):
			continue
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"), isBidiControl(r), isTag(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// isClean reports whether there is nothing to clean: printable ASCII and letters of the planes below emoji.
func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f {
			return isCleanText(s[i:])
		}
	}
	return true
}

// isCleanText reports whether a text can go to the terminal unchanged. It is the fast path for most texts.
func isCleanText(s string) bool {
	marks := 0
	for i, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x1f000 || isInvisible(r) || isBidiControl(r) || isTag(r) ||
			isJamo(r) || r == 0x200d || r == 0x2028 || r == 0x2029 {
			return false
		}
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return false
		}
		if !isMark(r) {
			marks = 0
		} else if marks++; marks > maxMarks {
			return false
		}
	}
	return true
}

// isInvisible reports whether a character is nothing to see and nothing lost: soft hyphens, spaces without
// width, byte order marks, hints about direction, selectors of a form.
func isInvisible(r rune) bool {
	return r == 0xad || r == 0x61c || r == 0x180e || r == 0x200b || r == 0x200e || r == 0x200f ||
		r >= 0x2060 && r <= 0x2065 || r >= 0xfe00 && r <= 0xfe0f || r == 0xfeff || r >= 0xe0100 && r <= 0xe01ef
}

// isBidiControl reports whether a character changes the direction of those behind it without being seen.
func isBidiControl(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x206f
}

// isTag reports whether a character is an invisible tag or annotation.
func isTag(r rune) bool { return r >= 0xfff9 && r <= 0xfffb || r >= 0xe0000 && r <= 0xe007f }

// isPicture reports whether a character is drawn as a picture two cells wide, more or less.
func isPicture(r rune) bool { return r >= 0x1f000 && r < 0x20000 || r >= 0x2600 && r <= 0x27bf }

// isMark reports whether a character combines with the one before it. Most letters need no lookup
// in the tables.
func isMark(r rune) bool {
	switch {
	case r < 0x300, r >= 0x3400 && r < 0xa000, r >= 0xac00 && r < 0xd7a4:
		return false
	default:
		return r == 0x200c || r == 0x200d || unicode.In(r, unicode.Mn, unicode.Me)
	}
}

// Lines splits a text of any origin into lines without looks, ready to be wrapped.
func Lines(text string, a Attr) []Line {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	parts := strings.Split(text, "\n")
	out := make([]Line, len(parts))
	for i, p := range parts {
		p = strings.TrimRight(p, "\r")
		if at := strings.LastIndexByte(p, '\r'); at >= 0 {
			p = p[at+1:] // the last state of a progress bar
		}
		out[i] = Of(p, a)
	}
	return out
}

// StripEscapes takes whole escape sequences out of what a program wrote, so that no half of them is left as
// text: what its colors mean is not known here.
func StripEscapes(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	return ansi.Strip(s)
}

// The letters that syllables of Korean are made of, and where the syllables themselves begin.
const (
	firstLead, lastLead   = 0x1100, 0x1112
	firstVowel, lastVowel = 0x1161, 0x1175
	firstTail, lastTail   = 0x11a8, 0x11c2
	syllables             = 0xac00
)

// isJamo reports whether a character is the second or third letter of a syllable.
func isJamo(r rune) bool { return r >= firstVowel && r <= lastVowel || r >= firstTail && r <= lastTail }

// compose makes syllables of letters. Some systems write names of files as letters; terminals draw those in two
// cells, but tables of widths add up each letter.
func compose(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var held rune // a letter or an open syllable that may get another
	flush := func() {
		if held != 0 {
			b.WriteRune(held)
			held = 0
		}
	}
	for i, r := range s {
		isLead := held >= firstLead && held <= lastLead
		switch {
		case r >= firstVowel && r <= lastVowel && isLead:
			held = syllables + ((held-firstLead)*21+(r-firstVowel))*28
		case r >= firstTail && r <= lastTail && held >= syllables:
			held += r - firstTail + 1
			flush()
		case r >= firstLead && r <= lastLead:
			flush()
			held = r
		default:
			flush()
			_, size := utf8.DecodeRuneInString(s[i:]) // invalid bytes stay unchanged
			b.WriteString(s[i : i+size])
		}
	}
	flush()
	return b.String()
}
