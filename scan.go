package lathe

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A small JSON scanner. It cuts an object or array into its values without looking inside them,
// so that a record can be read in one pass and unknown members stay as they are. Callers give
// it valid JSON; of anything else it may notice nothing, but it never panics and never
// recurses.

var errSyntax = errors.New("not JSON")

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that starts at i.
func stringEnd(b []byte, i int) (int, error) {
	for start := i + 1; ; { // from one quote to the next
		n := bytes.IndexByte(b[start:], '"')
		if n < 0 {
			return 0, errSyntax
		}
		quote, slashes := start+n, 0
		for slashes < n && b[quote-1-slashes] == '\\' {
			slashes++
		}
		if start = quote + 1; slashes%2 == 0 { // an odd number of them escapes the quote
			return start, nil
		}
	}
}

// valueEnd returns the index after the value that starts at i.
func valueEnd(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, errSyntax
	}
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			end, err := stringEnd(b, i)
			if err != nil || depth == 0 {
				return end, err
			}
			i = end
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth--; depth < 0 {
				return 0, errSyntax
			}
			if i++; depth == 0 {
				return i, nil
			}
		default:
			if depth > 0 {
				i++
				continue
			}
			return literalEnd(b, i)
		}
	}
	return 0, errSyntax
}

func literalEnd(b []byte, i int) (int, error) {
	start := i
	for i < len(b) && (isAlnum(b[i]) || b[i] == '-' || b[i] == '+' || b[i] == '.') {
		i++
	}
	if i == start {
		return 0, errSyntax
	}
	return i, nil
}

// scanObject appends the members of the object to dst. Keys and values alias b.
func scanObject(b []byte, dst []member) ([]member, error) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return dst, errSyntax
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return dst, nil
	}
	for i < len(b) {
		if b[i] != '"' {
			return dst, errSyntax
		}
		end, err := stringEnd(b, i)
		if err != nil {
			return dst, err
		}
		key := plainKey(b[i:end])
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return dst, errSyntax
		}
		i = skipSpace(b, i+1)
		if end, err = valueEnd(b, i); err != nil {
			return dst, err
		}
		dst = append(dst, member{key: key, val: b[i:end]})
		if i = skipSpace(b, end); i >= len(b) {
			break
		}
		if b[i] == '}' {
			return dst, nil
		}
		if b[i] != ',' {
			break
		}
		i = skipSpace(b, i+1)
	}
	return dst, errSyntax
}

// plainKey takes needless escapes out of a quoted key, so that it can be compared,
// and returns it without its quotes.
func plainKey(quoted []byte) []byte {
	key := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(key, '\\') < 0 && utf8.Valid(key) {
		return key
	}
	s, ok := unquote(quoted)
	if !ok {
		return key
	}
	plain := appendString(nil, s)
	return plain[1 : len(plain)-1]
}

// scanArray calls f with each value of the array.
func scanArray(b []byte, f func(item []byte)) error {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return errSyntax
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return nil
	}
	for i < len(b) {
		end, err := valueEnd(b, i)
		if err != nil {
			return err
		}
		f(b[i:end])
		if i = skipSpace(b, end); i >= len(b) {
			break
		}
		if b[i] == ']' {
			return nil
		}
		if b[i] != ',' {
			break
		}
		i = skipSpace(b, i+1)
	}
	return errSyntax
}

// unquote reads a JSON string. Broken UTF-8 and lone surrogates become U+FFFD.
func unquote(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return "", false
	}
	b = b[1 : len(b)-1]
	b = replaceInvalid(b)
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return string(b), true
	}
	var out strings.Builder
	out.Grow(len(b))
	for ; i >= 0; i = bytes.IndexByte(b, '\\') {
		r, n := unescape(b[i:])
		if n == 0 {
			return "", false
		}
		out.Write(b[:i])
		out.WriteRune(r)
		b = b[i+n:]
	}
	out.Write(b)
	return out.String(), true
}

// unescape reads the escape at the start of b and says how long it is, 0 if it is none.
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		r := hex4(b)
		if r < 0 {
			return 0, 0
		}
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
			return pair, 12
		}
		return utf8.RuneError, 6
	}
	return 0, 0
}

// replaceInvalid replaces each byte that is no UTF-8 by U+FFFD.
func replaceInvalid(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	out := make([]byte, 0, len(b)+2*utf8.UTFMax)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out, b = utf8.AppendRune(out, r), b[n:]
	}
	return out
}

// hex4 reads \uXXXX at the start of b, -1 if it is not one.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

// appendString writes a JSON string; broken UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	if len(s) > 1024 { // grown once, not piece by piece
		dst = slices.Grow(dst, len(s)+len(s)/16+2)
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, w := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && w == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += w
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// appendNumber writes a double the way JavaScript would: whole numbers without a point.
func appendNumber(dst []byte, f float64) []byte {
	switch {
	case f != f || math.IsInf(f, 0):
		return append(dst, '0')
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.AppendInt(dst, int64(f), 10)
	case math.Abs(f) < 1e-6 || math.Abs(f) >= 1e21:
		dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
		if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' { // e-07 is e-7
			dst = append(dst[:n-2], dst[n-1])
		}
		return dst
	default:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
}

// compactJSON takes the white space out of a value that spans lines, because an event
// is one line, and repairs broken UTF-8, which JSON parsers let through.
func compactJSON(b []byte) []byte {
	b = replaceInvalid(b)
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}
