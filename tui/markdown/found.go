package markdown

import (
	"bytes"
	"strings"
)

// These functions recognize URLs, mail addresses and HTML tags. Each returns the length of the match,
// 0 for none.

const (
	maxLocal  = 64 // bytes before the @ of a mailbox
	maxDomain = 255
	maxPart   = 63 // of a domain
	maxHost   = 256
)

// labelSize is how long a part of a domain is.
func labelSize(b []byte) int {
	size := 0
	for size < len(b) && size < maxPart && (isAlnum(b[size]) || size > 0 && b[size] == '-') {
		size++
	}
	for size > 0 && b[size-1] == '-' {
		size--
	}
	return size
}

// mailbox reads an address of mail.
func mailbox(b []byte) int {
	n := 0
	for n < len(b) && n < maxLocal && (isAlnum(b[n]) || strings.IndexByte("!#$%&'*+-./=?^_`{|}~", b[n]) >= 0) {
		n++
	}
	if n == 0 || n >= len(b) || b[n] != '@' {
		return 0
	}
	end := 0
	for at := n + 1; ; at++ {
		size := labelSize(b[min(at, len(b)):])
		if size == 0 {
			return end
		}
		at += size
		end = at
		if end-n-1 > maxDomain {
			return 0
		}
		if at >= len(b) || b[at] != '.' {
			return end
		}
	}
}

// scheme reads an address with a scheme, as it may stand in <>.
func scheme(b []byte) int {
	n := 0
	for n < len(b) && (isAlpha(b[n]) || n > 0 && (isDigit(b[n]) || strings.IndexByte("+-.", b[n]) >= 0)) {
		n++
	}
	if n < 2 || n > 32 || n >= len(b) || b[n] != ':' {
		return 0
	}
	for n++; n < len(b) && b[n] > ' ' && b[n] != '<' && b[n] != '>'; {
		n++
	}
	return n
}

// bare reads a URL without marks, and returns the scheme to prepend.
func bare(b []byte) (n int, prefix string) {
	switch b[0] {
	case 'h', 'f':
		for _, s := range [...]string{"http://", "https://", "ftp://"} {
			if bytes.HasPrefix(b, []byte(s)) {
				n = site(b, len(s), true)
			}
		}
	case 'w':
		if bytes.HasPrefix(b, []byte("www.")) {
			n, prefix = site(b, len("www."), false), "http://"
		}
	}
	if n == 0 && isAlnum(b[0]) {
		n, prefix = bareMailbox(b), "mailto:"
	}
	return trimURLEnd(b, n), prefix
}

// site reads a host with a dot, from at on, and the path after it.
func site(b []byte, at int, port bool) int {
	end := at
	for end < len(b) && end-at <= maxHost+1 && (isAlnum(b[end]) || strings.IndexByte("-@:%._+~#=", b[end]) >= 0) {
		end++
	}
	dot := end - 1 // the last that a name of small letters follows
	for dot > at && !(b[dot] == '.' && dot+1 < len(b) && isLower(b[dot+1]) && dot-at <= maxHost) {
		dot--
	}
	if dot <= at {
		return 0
	}
	n := dot + 1
	for n < len(b) && isLower(b[n]) {
		n++
	}
	if port && n+1 < len(b) && b[n] == ':' && isDigit(b[n+1]) {
		for n++; n < len(b) && isDigit(b[n]); {
			n++
		}
	}
	if n < len(b) && strings.IndexByte("/#?", b[n]) >= 0 {
		for n < len(b) && (isAlnum(b[n]) || strings.IndexByte("-@:%_+.~#$!?&/=();,'\">^{}[]`", b[n]) >= 0) {
			n++
		}
	}
	return n
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// bareMailbox reads a mailbox whose domain has a dot.
func bareMailbox(b []byte) int {
	n := mailbox(b)
	if n == 0 || bytes.IndexByte(b[bytes.IndexByte(b, '@'):n-1], '.') < 0 {
		return 0
	}
	if n < len(b) && (b[n] == '-' || b[n] == '_') {
		return 0
	}
	return n
}

// trimURLEnd excludes trailing punctuation that belongs to the sentence.
func trimURLEnd(b []byte, n int) int {
	excess := bytes.Count(b[:n], []byte(")")) - bytes.Count(b[:n], []byte("("))
	for n > 1 {
		switch b[n-1] {
		case '?', '!', '.', ',', ':', '*', '_', '~':
			n--
		case ')':
			if excess <= 0 {
				return n
			}
			excess--
			n--
		case ';':
			j := n - 2
			for j > 0 && isAlnum(b[j]) {
				j--
			}
			if j == n-2 || b[j] != '&' {
				return n
			}
			n = j
		default:
			return n
		}
	}
	return n
}

// tag reads a tag, opening or closing.
func tag(b []byte) int {
	n := 1
	closing := n < len(b) && b[n] == '/'
	n += b2i(closing)
	if n >= len(b) || !isAlpha(b[n]) {
		return 0
	}
	for n < len(b) && (isAlnum(b[n]) || b[n] == '-') {
		n++
	}
	for !closing {
		at := skipBlanks(b, n)
		if at == n || at >= len(b) || !isAlpha(b[at]) && b[at] != '_' && b[at] != ':' {
			break
		}
		if n = attribute(b, at); n == 0 {
			return 0
		}
	}
	n = skipBlanks(b, n)
	if !closing && n < len(b) && b[n] == '/' {
		n++
	}
	if n >= len(b) || b[n] != '>' {
		return 0
	}
	return n + 1
}

// attribute reads a name and its value, and returns where they end.
func attribute(b []byte, n int) int {
	for n < len(b) && (isAlnum(b[n]) || strings.IndexByte(":._-", b[n]) >= 0) {
		n++
	}
	at := skipBlanks(b, n)
	if at >= len(b) || b[at] != '=' {
		return n
	}
	at = skipBlanks(b, at+1)
	if at >= len(b) {
		return 0
	}
	if b[at] == '"' || b[at] == '\'' {
		end := bytes.IndexByte(b[at+1:], b[at])
		if end < 0 {
			return 0
		}
		return at + 1 + end + 1
	}
	n = at
	for n < len(b) && b[n] > ' ' && strings.IndexByte("\"'=<>`", b[n]) < 0 {
		n++
	}
	if n == at {
		return 0
	}
	return n
}
