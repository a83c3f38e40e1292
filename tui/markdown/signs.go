package markdown

import (
	"strings"
	"unicode/utf8"
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter takes every character beyond ASCII for a letter.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

// wordLen is how long the name at the beginning is.
func wordLen(s, extra string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n]) || extra != "" && strings.IndexByte(extra, s[n]) >= 0) {
		n++
	}
	return n
}

// numberLen is how long the number at the beginning is, with its base, fraction, exponent and unit.
func numberLen(s string) int {
	n := 1
	for n < len(s) {
		c := s[n]
		switch {
		case isDigit(c), c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case c == '.' && n+1 < len(s) && isDigit(s[n+1]):
		case (c == '-' || c == '+') && (s[n-1] == 'e' || s[n-1] == 'E') && !strings.HasPrefix(s, "0x") && n+1 < len(s) && isDigit(s[n+1]):
		default:
			return n
		}
		n++
	}
	return n
}

// isChar reports whether a quote begins the literal of one character.
func isChar(s string) bool {
	if len(s) < 3 {
		return false
	}
	if s[1] == '\\' {
		end := strings.IndexByte(s[2:], '\'')
		return end >= 0 && end < 12
	}
	_, n := utf8.DecodeRuneInString(s[1:])
	return 1+n < len(s) && s[1+n] == '\''
}

// keyLen is how long a quoted key with a colon behind it is, 0 if it is none.
func keyLen(s, quote string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if !strings.HasPrefix(s[i:], quote) {
			continue
		}
		n := i + len(quote)
		if strings.HasPrefix(strings.TrimLeft(s[n:], " "), ":") {
			return n
		}
		return 0
	}
	return 0
}

// markup reads HTML and XML: tags with their attributes, comments, references.
func (x *Lexer) markup(r *run) {
	for r.at < len(r.text) {
		switch x.st.mode {
		case lexComment:
			x.inComment(r)
		case lexString:
			x.inString(r)
			if x.st.mode == lexPlain { // the string has ended, the tag has not
				x.st = lexState{mode: lexTag}
			}
		case lexTag:
			x.tag(r)
		default:
			x.betweenTags(r)
		}
	}
}

// betweenTags reads text up to the next tag or comment.
func (x *Lexer) betweenTags(r *run) {
	rest := r.rest()
	switch {
	case strings.HasPrefix(rest, "<!--"):
		x.st = lexState{mode: lexComment}
		r.take(4, comment)
	case len(rest) > 1 && rest[0] == '<' && (isLetter(rest[1]) || strings.IndexByte("/!?", rest[1]) >= 0):
		r.take(2-b2i(isLetter(rest[1])), punct)
		r.take(wordLen(r.rest(), "-:."), keyword)
		x.st = lexState{mode: lexTag}
	default:
		n := strings.IndexByte(rest[1:], '<') + 1
		if n == 0 {
			n = len(rest)
		}
		r.take(n, plain)
	}
}

// tag reads a piece inside a tag: an attribute, a value or the end.
func (x *Lexer) tag(r *run) {
	rest := r.rest()
	switch c := rest[0]; {
	case c == '>':
		r.take(1, punct)
		x.st = lexState{}
	case c == '"' || c == '\'':
		x.st = lexState{mode: lexString, arg: uint8(b2i(c == '\''))}
		r.take(1, str)
	case isLetter(c):
		r.take(wordLen(rest, "-:.@"), typ)
	case c == ' ':
		r.take(1, plain)
	default:
		r.take(1, punct)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
