// Package fulltext splits texts into words for an index, parses what a user searches for, and finds it in texts.
//
// The same words serve the index of every database, the query and the snippet, so that a hit of
// the index can be verified and shown. It knows no database and no sessions. All functions are
// pure and take hostile text: their work is linear in it, and their results are bounded.
//
// Start with [Words], then [Parse].
package fulltext

import (
	"unicode"
	"unicode/utf8"
)

// maxWord is the length of a word in bytes. Longer ones, as in encoded data, are known by their beginning.
const maxWord = 40

// Words returns the distinct entries of texts for an index, in the order of their first appearance, at most limit of
// them: the words, and the pairs of common words in a row.
func Words(limit int, texts ...string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(entry []byte) {
		if !seen[string(entry)] && len(out) < limit {
			s := string(entry)
			seen[s] = true
			out = append(out, s)
		}
	}
	pair := make([]byte, 0, 2*maxWord)
	for _, text := range texts {
		pair = pair[:0] // the last word and a joint, if the word is common
		scan(text, func(word []byte, _, _ int) bool {
			add(word)
			common := isCommon(word)
			if common && len(pair) > 0 {
				add(append(pair, word...))
			}
			if pair = pair[:0]; common {
				pair = append(append(pair, word...), joint...)
			}
			return len(out) < limit
		})
	}
	return out
}

// scan calls f with each word, folded to lower case, and its place in the text, until f returns false. The
// word is valid during the call. A word is a run of letters, digits and marks. Each
// character of a script that is written without spaces is a word of its own.
func scan(text string, f func(word []byte, start, end int) bool) {
	buf := make([]byte, 0, maxWord+utf8.UTFMax)
	start := -1
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		kind := kindOf(r)
		if kind != inWord && start >= 0 {
			if !f(buf, start, i) {
				return
			}
			start = -1
		}
		switch {
		case kind == alone:
			if !f(utf8.AppendRune(buf[:0], r), i, i+size) {
				return
			}
		case kind == inWord && start < 0:
			start, buf = i, appendFolded(buf[:0], r)
		case kind == inWord:
			buf = appendFolded(buf, r)
		}
		i += size
	}
	if start >= 0 {
		f(buf, start, len(text))
	}
}

// appendFolded appends a character in lower case, unless the word has its full length.
func appendFolded(buf []byte, r rune) []byte {
	if len(buf) >= maxWord {
		return buf
	}
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(buf, byte(r))
	}
	return utf8.AppendRune(buf, unicode.ToLower(r))
}

// The kinds of characters.
const (
	between = iota // separates words
	inWord
	alone // a word of its own
)

func kindOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return inWord
		}
		return between
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return alone
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return inWord
	default:
		return between
	}
}
