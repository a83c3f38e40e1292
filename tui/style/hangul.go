package style

import (
	"strings"
	"unicode/utf8"
)

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
			_, size := utf8.DecodeRuneInString(s[i:]) // bytes that are no rune stay what they are
			b.WriteString(s[i : i+size])
		}
	}
	flush()
	return b.String()
}
