package markdown

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// reach is how far back from the end an open mark is closed. A mark that is open for longer is
// plain text.
const reach = 160

// closeMarks closes open marks at the end of a growing text, so that their content gets its final look
// at once: **bo, `co, [link](htt.
func closeMarks(src []byte) []byte {
	var open [][]byte // marks, the innermost last
	var since []int
	prev := ' '
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '\\' && i+1 < len(src):
			prev = rune(src[i+1])
			i += 2
			continue
		case c == '`':
			n := runOf(src[i:], '`')
			end := closingRun(src[i+n:], n)
			if end < 0 {
				return withClosers(openCode(src, i, n), open, since)
			}
			i, prev = i+n+end+n, '`'
			continue
		case c == '*' || c == '_' || c == '~':
			n := runOf(src[i:], c)
			next, _ := utf8.DecodeRune(src[i+n:])
			if i+n == len(src) {
				return withClosers(lastMark(src, i, open), open, since)
			}
			open, since = toggleMark(open, since, src[i:i+n], i, prev, next)
			i, prev = i+n, rune(c)
			continue
		case c == ']' && i+1 < len(src) && src[i+1] == '(':
			if end := bytes.IndexAny(src[i:], ")\n "); end < 0 && len(src)-i < 2048 {
				return withClosers(append(append([]byte(nil), src[:i]...), "]()"...), open, since)
			}
		}
		r, n := utf8.DecodeRune(src[i:])
		prev, i = r, i+n
	}
	return withClosers(src, open, since)
}

// closingRun finds a run of exactly n backticks.
func closingRun(src []byte, n int) int {
	for i := 0; i < len(src); {
		k := runOf(src[i:], '`')
		if k == n {
			return i
		}
		i += max(k, 1)
	}
	return -1
}

// openCode closes code that was begun at i with n backticks.
func openCode(src []byte, i, n int) []byte {
	switch held := bytes.TrimRight(src[i+n:], "`"); {
	case len(src)-i > reach:
		return src
	case len(bytes.TrimSpace(held)) == 0:
		return src[:i] // nothing in it yet
	default:
		out := append([]byte(nil), src[:i+n+len(held)]...)
		return append(out, src[i:i+n]...)
	}
}

// lastMark leaves a mark at the very end away: it opens what is not there yet, or closes what will be closed
// anyway.
func lastMark(src []byte, i int, open [][]byte) []byte {
	if i > 0 && src[i-1] != ' ' && len(open) == 0 {
		return src // behind a word and with nothing to close, it is a sign
	}
	return src[:i]
}

// toggleMark opens or closes a mark by its surrounding characters.
func toggleMark(open [][]byte, since []int, mark []byte, at int, prev, next rune) ([][]byte, []int) {
	before, after := unicode.IsSpace(prev), unicode.IsSpace(next)
	if mark[0] == '~' && len(mark) != 2 || len(mark) > 3 {
		return open, since
	}
	if mark[0] == '_' && isWord(prev) && isWord(next) {
		return open, since
	}
	if k := len(open) - 1; k >= 0 && !before && bytes.Equal(open[k], mark) {
		return open[:k], since[:k]
	}
	if !after && (before || !isWord(prev)) {
		return append(open, mark), append(since, at)
	}
	return open, since
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// withClosers puts the ends of open marks behind the text, before spaces at its end.
func withClosers(src []byte, open [][]byte, since []int) []byte {
	body := bytes.TrimRight(src, " \n")
	var out []byte
	for k := len(open) - 1; k >= 0; k-- {
		if len(src)-since[k] > reach || since[k]+len(open[k]) >= len(body) {
			continue
		}
		if out == nil {
			out = append([]byte(nil), body...)
		}
		out = append(out, open[k]...)
	}
	if out == nil {
		return src
	}
	return append(out, src[len(body):]...)
}
