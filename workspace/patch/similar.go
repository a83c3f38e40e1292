package patch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// similarity is 1 for equal texts and 0 for texts with nothing in common: the share of
// characters that need no change. Where the budget ends it is 0.
func similarity(a, b string, work *budget) float64 {
	if a == b {
		return 1
	}
	if work.spent() || !work.spend(8*(len(a)+len(b))+2*len(a)*len(b)) {
		return 0
	}
	x, y := []rune(a), []rune(b)
	return 1 - float64(phrase.Distance(x, y))/float64(max(len(x), len(y)))
}

// foldPunctuation writes in ASCII what typesetting made of it: curly quotes, dashes, the
// ellipsis, spaces that do not break.
func foldPunctuation(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		out.WriteString(foldRune(r))
	}
	return out.String()
}

func foldRune(r rune) string {
	switch r {
	case '\u2018', '\u2019', '\u201a', '\u201b':
		return "'"
	case '\u201c', '\u201d', '\u201e', '\u201f':
		return `"`
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return "-"
	case '\u2026':
		return "..."
	case '\u00a0', '\u2002', '\u2003', '\u2004', '\u2005', '\u2006', '\u2007', '\u2008', '\u2009', '\u200a',
		'\u202f', '\u205f', '\u3000':
		return " "
	}
	return string(r)
}

// collapse writes every run of white space as one space, and none at the ends.
func collapse(text string) string { return strings.Join(strings.Fields(text), " ") }

// squeeze has no white space, no typeset punctuation and no capitals: lines that look the same
// become equal.
func squeeze(line string) string { return string(squeezed(nil, line)) }

// squeezed appends a squeezed line to a buffer.
func squeezed(buf []byte, line string) []byte {
	for i := range len(line) {
		b := line[i]
		switch {
		case b >= utf8.RuneSelf:
			return squeezeRunes(buf, line[i:])
		case b == ' ' || '\t' <= b && b <= '\r':
		case 'A' <= b && b <= 'Z':
			buf = append(buf, b+'a'-'A')
		default:
			buf = append(buf, b)
		}
	}
	return buf
}

func squeezeRunes(buf []byte, line string) []byte {
	for _, r := range foldPunctuation(line) {
		if !unicode.IsSpace(r) {
			buf = utf8.AppendRune(buf, unicode.ToLower(r))
		}
	}
	return buf
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// insideWord reports whether a span cuts a word of the text at one of its ends.
func insideWord(text string, sp span) bool {
	cut := func(at int) bool {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at:])
		return at > 0 && at < len(text) && wordRune(before) && wordRune(after)
	}
	return cut(sp.start) || cut(sp.end)
}
