package markdown

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxLabel = 999 // bytes of a label
	maxNest  = 32  // parentheses in each other in an address; without it, reading them could take for ever
)

// labelAt reads a label in brackets and how much of the text it takes with them; 0 if there is none.
func labelAt(text []byte) ([]byte, int) {
	if len(text) == 0 || text[0] != '[' {
		return nil, 0
	}
	for i := 1; i < len(text) && i <= maxLabel+1; i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return nil, 0
		case ']':
			return text[1:i], i + 1
		}
	}
	return nil, 0
}

// normalizeLabel makes labels alike that mean the same.
func normalizeLabel(label []byte) string {
	return strings.ToLower(strings.ToUpper(strings.Join(strings.Fields(string(label)), " ")))
}

func skipBlanks(text []byte, at int) int {
	for at < len(text) && strings.IndexByte(blanks, text[at]) >= 0 {
		at++
	}
	return at
}

// bracketed reads a destination between angle brackets.
func bracketed(text []byte, at int) (url []byte, end int, ok bool) {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i += b2i(i+1 < len(text) && isPunct(text[i+1]))
		case '>':
			return text[at+1 : i], i + 1, true
		case '<', '\n':
			return nil, 0, false
		}
	}
	return nil, 0, false
}

// destination reads where a link leads, and where that ends.
func destination(text []byte, at int) (url []byte, end int, ok bool) {
	if at < len(text) && text[at] == '<' {
		return bracketed(text, at)
	}
	depth, i := 0, at
loop:
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i += b2i(i+1 < len(text) && isPunct(text[i+1]))
		case c == '(':
			if depth++; depth > maxNest {
				return nil, 0, false
			}
		case c == ')':
			if depth--; depth < 0 {
				break loop
			}
		case c <= ' ':
			break loop
		}
	}
	return text[at:i], i, i > at && depth <= 0
}

// title finds the end of a title, which is read only to know where a link ends.
func title(text []byte, at int) (int, bool) {
	if at >= len(text) || strings.IndexByte(`"'(`, text[at]) < 0 {
		return 0, false
	}
	ends := text[at]
	if ends == '(' {
		ends = ')'
	}
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ends:
			return i + 1, true
		case '(':
			if ends == ')' {
				return 0, false
			}
		}
	}
	return 0, false
}

// target reads the part in parentheses after the text of a link.
func target(text []byte, at int) (url []byte, end int, ok bool) {
	at = skipBlanks(text, at+1)
	if at < len(text) && text[at] == ')' {
		return nil, at + 1, true
	}
	url, end, ok = destination(text, at)
	if !ok {
		return nil, 0, false
	}
	at = skipBlanks(text, end)
	if at > end {
		if behind, ok := title(text, at); ok {
			at = skipBlanks(text, behind)
		}
	}
	if at >= len(text) || text[at] != ')' {
		return nil, 0, false
	}
	return url, at + 1, true
}

// plainText resolves escapes and entities.
func plainText(b []byte) string {
	i := bytes.IndexAny(b, "\\&")
	if i < 0 {
		return string(b)
	}
	out := append(make([]byte, 0, len(b)), b[:i]...)
	for i < len(b) {
		switch {
		case b[i] == '\\' && i+1 < len(b) && isPunct(b[i+1]):
			out = append(out, b[i+1])
			i += 2
		case b[i] == '&':
			s, n := entity(b[i:])
			out = append(out, s...)
			i += n
		default:
			out = append(out, b[i])
			i++
		}
	}
	return string(out)
}

// entity reads a character that is written as a name or a number, or the & alone.
func entity(b []byte) (string, int) {
	const longest = 33
	end := bytes.IndexByte(b[:min(len(b), longest)], ';')
	if end < 2 {
		return "&", 1
	}
	name := string(b[1:end])
	if name[0] == '#' {
		digits, base := name[1:], 10
		if len(digits) > 0 && (digits[0] == 'x' || digits[0] == 'X') {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil || len(digits) > 7 {
			return "&", 1
		}
		if n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			n = utf8.RuneError
		}
		return string(rune(n)), end + 1
	}
	for i := range len(name) {
		if !isAlnum(name[i]) {
			return "&", 1
		}
	}
	// Names that are known without their semicolon are resolved even as the beginning of others; then the
	// semicolon is left.
	s := html.UnescapeString("&" + name + ";")
	if strings.HasSuffix(s, ";") && name != "semi" {
		return "&", 1
	}
	return s, end + 1
}

// address returns where a click may lead: the web, a mailbox, a file. Everything else is only shown.
func address(url string) string {
	low := strings.ToLower(url[:min(len(url), 8)])
	for _, scheme := range [...]string{"http://", "https://", "mailto:", "file://"} {
		if strings.HasPrefix(low, scheme) {
			return escapeURL(plainText([]byte(url)))
		}
	}
	return ""
}

// escapeURL percent-encodes invalid characters of a URL.
func escapeURL(url string) string {
	const hex = "0123456789ABCDEF"
	var out []byte
	for i := range len(url) {
		c := url[i]
		keep := isAlnum(c) || strings.IndexByte("!#$&'()*+,-./:;=?@_~", c) >= 0 ||
			c == '%' && i+2 < len(url) && isHex(url[i+1]) && isHex(url[i+2])
		switch {
		case keep && out != nil:
			out = append(out, c)
		case !keep:
			if out == nil {
				out = append(make([]byte, 0, len(url)+16), url[:i]...)
			}
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	if out == nil {
		return url
	}
	return string(out)
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// isPunct reports whether a backslash takes the meaning of a sign away.
func isPunct(c byte) bool {
	return c > ' ' && c < 0x7f && !isAlnum(c)
}
