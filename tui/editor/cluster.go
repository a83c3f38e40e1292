package editor

import (
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/lathe-agent/lathe/tui/style"
)

// mostCluster limits the length of a grapheme cluster, against texts made to be slow.
const mostCluster = 128

// farBack is how far back to look for a safe cluster start.
const farBack = 1024

// cluster returns the length of the grapheme cluster at the start of a text.
func cluster(s string) int {
	if s == "" {
		return 0
	}
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1
	}
	c, _ := ansi.FirstGraphemeCluster(s[:min(len(s), 2*mostCluster)], ansi.WcWidth)
	n := len(c)
	if n == 0 {
		return 1
	}
	if n > mostCluster {
		for n = mostCluster; n > 1 && !utf8.RuneStart(s[n]); n-- {
		}
	}
	return n
}

// cells is how many cells a character of the text takes on the screen.
func cells(c string) int {
	if len(c) == 1 {
		if c[0] == '\t' {
			return style.TabWidth
		}
		return 1
	}
	return style.Width(style.Clean(c))
}

// next is the place behind the character or token at off.
func (l *line) next(off int) int {
	if off >= len(l.text) {
		return len(l.text)
	}
	if p, ok := l.tokenAround(off); ok {
		return p.end()
	}
	n := off + cluster(l.text[off:])
	if p, ok := l.tokenAround(n); ok && p.at < n { // a mark that would join the token's first character
		return p.at
	}
	if len(l.toks) > 0 {
		if p, ok := l.firstTokenIn(off, n); ok {
			return p.at
		}
	}
	return n
}

// firstTokenIn finds a token that begins behind from and before to.
func (l *line) firstTokenIn(from, to int) (placed, bool) {
	for _, p := range l.toks {
		if p.at > from && p.at < to {
			return p, true
		}
	}
	return placed{}, false
}

// prev is the place before the character or token that ends at off.
func (l *line) prev(off int) int {
	if off <= 0 {
		return 0
	}
	if p, ok := l.tokenBefore(off); ok {
		return p.at
	}
	if l.text[off-1] < utf8.RuneSelf && (off == 1 || l.text[off-2] < utf8.RuneSelf) {
		return off - 1
	}
	at := l.safeStart(off)
	for {
		n := l.next(at)
		if n >= off || n <= at {
			return at
		}
		at = n
	}
}

// safeStart finds a position before off where a character surely begins: after a token, between two
// ASCII characters, or so far away that it does not matter.
func (l *line) safeStart(off int) int {
	least := max(0, off-farBack)
	for i := off - 1; i > least; i-- {
		if p, ok := l.tokenBefore(i); ok && p.end() == i {
			return i
		}
		if l.text[i] < utf8.RuneSelf && l.text[i-1] < utf8.RuneSelf {
			return i
		}
	}
	for least > 0 && !utf8.RuneStart(l.text[least]) {
		least--
	}
	if p, ok := l.tokenAround(least); ok {
		return p.at
	}
	return least
}

// snap moves a byte offset forward to a valid position.
func (l *line) snap(off int) int {
	if off >= len(l.text) {
		return len(l.text)
	}
	if p, ok := l.tokenAround(off); ok && p.at < off {
		return p.end()
	}
	if off == 0 {
		return 0
	}
	at := l.prev(off)
	for at < off {
		n := l.next(at)
		if n <= at {
			break
		}
		at = n
	}
	return at
}

// isWord reports whether the character or token at off is of a word.
func (l *line) isWord(off int) bool {
	if p, ok := l.tokenAround(off); ok && p.at <= off {
		return true
	}
	r, _ := utf8.DecodeRuneInString(l.text[off:])
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
