package modeltest

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// js is a piece of JSON.
type js string

// obj makes an object with its members in the order given, because clients have fast paths for
// the order that providers use: names and values in turns.
func obj(members ...any) js {
	out := []byte{'{'}
	for i := 0; i+1 < len(members); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, members[i].(string))
		out = append(out, ':')
		out = appendValue(out, members[i+1])
	}
	return js(append(out, '}'))
}

// list makes an array.
func list(values ...js) js {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return js(append(out, ']'))
}

// with adds members to the end of an object.
func (o js) with(members ...any) js {
	more := obj(members...)
	switch {
	case len(more) == 2:
		return o
	case len(o) == 2:
		return more
	default:
		return o[:len(o)-1] + "," + more[1:]
	}
}

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case js:
		return append(dst, v...)
	case string:
		return appendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	default:
		panic(fmt.Sprintf("modeltest: %T has no JSON here", v))
	}
}

// appendString writes a string as providers do: nothing escaped that need not be. Bytes that
// are no UTF-8 stay; a surrogate becomes its escape, as when a pair is split over two deltas.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst, i = append(dst, '\\', c), i+1
		case c == '\n':
			dst, i = append(dst, `\n`...), i+1
		case c < ' ':
			dst, i = fmt.Appendf(dst, `\u%04x`, c), i+1
		case c == 0xED && i+2 < len(s) && s[i+1]&0xE0 == 0xA0 && s[i+2]&0xC0 == 0x80:
			dst, i = fmt.Appendf(dst, `\u%04x`, 0xD000|int(s[i+1]&0x3F)<<6|int(s[i+2]&0x3F)), i+3
		default:
			_, n := utf8.DecodeRuneInString(s[i:])
			dst, i = append(dst, s[i:i+n]...), i+n
		}
	}
	return append(dst, '"')
}

// cut splits a text into n pieces of about the same number of characters, fewer if it has
// fewer; at least one, which may be empty.
func cut(s string, n int) []string {
	var ends []int
	for i := range s {
		if i > 0 {
			ends = append(ends, i)
		}
	}
	n = max(1, min(n, len(ends)+1))
	out := make([]string, 0, n)
	from := 0
	for k := 1; k < n; k++ {
		to := ends[k*(len(ends)+1)/n-1]
		out, from = append(out, s[from:to]), to
	}
	return append(out, s[from:])
}
