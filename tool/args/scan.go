package args

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// These functions split JSON into values without decoding, so that unchanged values keep
// its bytes and its order. All of it wants valid JSON, as [json.Valid] says.

// Member is one member of an object; val aliases the object.
type Member struct {
	Key string
	Val []byte
}

// object is the members of one, each name once.
type object []Member

// find returns the value of a member, nil if there is none.
func (o object) find(name string) []byte {
	for i := range o {
		if o[i].Key == name {
			return o[i].Val
		}
	}
	return nil
}

// Members returns the members in their order.
func Members(object []byte) (out []Member) {
	values(object, func(key string, val []byte) { out = append(out, Member{key, val}) })
	return out
}

// items returns the elements of an array.
func items(array []byte) (out [][]byte) {
	values(array, func(_ string, val []byte) { out = append(out, val) })
	return out
}

// values calls with each value of an array, or of an object with its name.
func values(of []byte, f func(key string, val []byte)) {
	i := skipSpace(of, 0)
	named := i < len(of) && of[i] == '{'
	for i = skipSpace(of, i+1); i < len(of) && of[i] != '}' && of[i] != ']'; {
		key := ""
		if named {
			end := valueEnd(of, i)
			key, i = Unquote(of[i:end]), skipSpace(of, skipSpace(of, end)+1) // after the colon
		}
		end := valueEnd(of, i)
		f(key, of[i:end])
		if i = skipSpace(of, end); i < len(of) && of[i] == ',' {
			i = skipSpace(of, i+1)
		}
	}
}

// lastOfEach leaves out members that a later one of the same name replaces, as every reader
// of JSON we know does.
func lastOfEach(ms []Member) []Member {
	if len(ms) <= 8 && !repeats(ms) { // the usual case, without a map
		return ms
	}
	last := make(map[string]int, len(ms))
	for i, m := range ms {
		last[m.Key] = i
	}
	if len(last) == len(ms) {
		return ms
	}
	out := make([]Member, 0, len(last))
	for i, m := range ms {
		if last[m.Key] == i {
			out = append(out, m)
		}
	}
	return out
}

func repeats(ms []Member) bool {
	for i := range ms {
		for j := range i {
			if ms[i].Key == ms[j].Key {
				return true
			}
		}
	}
	return false
}

// AppendMembers writes an object.
func AppendMembers(dst []byte, ms []Member) []byte {
	dst = append(dst, '{')
	for i, m := range ms {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendText(dst, m.Key), ':')
		dst = append(dst, m.Val...)
	}
	return append(dst, '}')
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd returns the index after the value that starts at i.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		default:
			if depth > 0 {
				i++
				continue
			}
			return literalEnd(b, i)
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

// stringEnd goes from quote to quote, which is many times faster than byte by byte.
func stringEnd(b []byte, i int) int {
	for start := i + 1; start < len(b); {
		n := bytes.IndexByte(b[start:], '"')
		if n < 0 {
			break
		}
		quote, slashes := start+n, 0
		for slashes < n && b[quote-1-slashes] == '\\' {
			slashes++
		}
		if start = quote + 1; slashes%2 == 0 {
			return start
		}
	}
	return len(b)
}

func literalEnd(b []byte, i int) int {
	for i < len(b) && bytes.IndexByte([]byte(",:]} \n\t\r"), b[i]) < 0 {
		i++
	}
	return i
}

func Unquote(quoted []byte) string {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(bytes.ToValidUTF8(inner, []byte("\ufffd")))
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is valid
	return s
}

// AppendText writes a JSON string. It leaves <, > and & as they are: a model reads them.
func AppendText(dst []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// KindOf names the type of a value as a schema does; a number without a fraction is an
// "integer", however it is written.
func KindOf(raw []byte) string {
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if !bytes.ContainsAny(raw, ".eE") {
		return "integer"
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f == math.Trunc(f) {
		return "integer"
	}
	return "number"
}
