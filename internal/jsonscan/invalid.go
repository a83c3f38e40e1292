package jsonscan

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// ReplaceInvalid replaces invalid characters in the strings of a JSON value: broken UTF-8, and halves of
// surrogate pairs that stand alone, which some servers refuse. It returns the value itself if
// all characters are valid.
func ReplaceInvalid(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = []byte(string([]rune(string(raw)))) // each byte that is none, as a parser does
	}
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n := 1
		switch {
		case raw[i] != '\\':
		case IsHighSurrogate(raw[i:]) && isHalf(raw[i+6:], secondHalf):
			n = 12
		case isHalf(raw[i:], firstHalf+secondHalf):
			out, i = append(out, `\ufffd`...), i+6
			continue
		default:
			n = 2
		}
		n = min(n, len(raw)-i)
		out, i = append(out, raw[i:i+n]...), i+n
	}
	return out
}

// The second hex digit of a surrogate tells which half of a pair it is.
const firstHalf, secondHalf = "89ab", "cdef"

// IsHighSurrogate reports whether b begins with the escape of the first half of a surrogate pair.
func IsHighSurrogate(b []byte) bool { return isHalf(b, firstHalf) }

// isHalf reports whether b begins with the escape of a half whose second digit is one of those
// given.
func isHalf(b []byte, second string) bool {
	return len(b) >= 6 && b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && strings.IndexByte(second, b[3]|0x20) >= 0 && isHex(b[4]) && isHex(b[5])
}
