package config

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// comments are those in white space, without it.
func comments(x hujson.Extra) (out []string) {
	text := string(x)
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		end := len(text)
		switch {
		case strings.HasPrefix(text, "//"):
			if i := strings.IndexByte(text, '\n'); i >= 0 {
				end = i
			}
		case strings.HasPrefix(text, "/*"):
			if i := strings.Index(text, "*/"); i >= 0 {
				end = i + 2
			}
		default:
			return out
		}
		out = append(out, strings.TrimRight(text[:end], "\r"))
		text = text[end:]
	}
}

// commentsOf are the comments of a member but those before its name.
func commentsOf(m hujson.ObjectMember) []string {
	out := append(comments(m.Name.AfterExtra), comments(m.Value.BeforeExtra)...)
	out = append(out, commentsIn(m.Value.Value)...)
	return append(out, comments(m.Value.AfterExtra)...)
}

// commentsIn are the comments inside a value.
func commentsIn(v hujson.ValueTrimmed) (out []string) {
	switch v := v.(type) {
	case *hujson.Object:
		for _, m := range v.Members {
			out = append(out, comments(m.Name.BeforeExtra)...)
			out = append(out, commentsOf(m)...)
		}
		return append(out, comments(v.AfterExtra)...)
	case *hujson.Array:
		for _, el := range v.Elements {
			out = append(out, comments(el.BeforeExtra)...)
			out = append(out, commentsIn(el.Value)...)
			out = append(out, comments(el.AfterExtra)...)
		}
		return append(out, comments(v.AfterExtra)...)
	default:
		return nil
	}
}

// line writes comments after white space, each where a member would stand.
func (e editor) line(x hujson.Extra, more []string, lay layout) hujson.Extra {
	for _, c := range more {
		x = append(e.join(x, e.before(lay), lay), c...)
	}
	return x
}

// join puts two pieces of white space together. What ends the first goes, but a comment
// that runs to the end of its line still does.
func (e editor) join(a, b hujson.Extra, lay layout) hujson.Extra {
	out := hujson.Extra(bytes.Clone(bytes.TrimRight(a, " \t\r\n")))
	if all := comments(out); len(all) > 0 && strings.HasPrefix(all[len(all)-1], "//") {
		b = bytes.TrimLeft(b, " \t")
		if !bytes.HasPrefix(b, []byte("\n")) && !bytes.HasPrefix(b, []byte("\r\n")) {
			out = append(append(out, e.eol...), lay.indent...)
		}
	}
	return append(out, b...)
}

// value writes a new value in the style of its neighbors.
func (e editor) value(n *node, lay layout) hujson.ValueTrimmed {
	v, err := hujson.Parse(e.print(nil, n, lay))
	if err != nil { // it was just written
		panic(err)
	}
	return v.Value
}

// print writes objects with a line for each member, and lists on one line where they fit.
func (e editor) print(dst []byte, n *node, lay layout) []byte {
	const fits = 80
	if plain := spaced(nil, n); lay.inline || len(n.members)+len(n.items) == 0 || n.kind == isArray && isFlat(n) && len(plain) <= fits {
		return append(dst, plain...)
	}
	inner := layout{indent: lay.indent + e.unit}
	start, end := byte('{'), byte('}')
	if n.kind == isArray {
		start, end = '[', ']'
	}
	dst = append(dst, start)
	comma := ""
	for _, m := range n.members {
		dst = append(append(append(dst, comma...), e.eol...), inner.indent...)
		dst = append(append(dst, hujson.String(m.key)...), ": "...)
		dst, comma = e.print(dst, m.val, inner), ","
	}
	for _, it := range n.items {
		dst = append(append(append(dst, comma...), e.eol...), inner.indent...)
		dst, comma = e.print(dst, it, inner), ","
	}
	return append(append(append(dst, e.eol...), lay.indent...), end)
}

func isFlat(n *node) bool {
	return !slices.ContainsFunc(n.items, func(it *node) bool { return it.kind == isObject || it.kind == isArray })
}

// spaced writes a value on one line.
func spaced(dst []byte, n *node) []byte {
	comma := ""
	switch n.kind {
	case isObject:
		dst = append(dst, '{')
		for _, m := range n.members {
			dst = append(append(dst, comma...), hujson.String(m.key)...)
			dst, comma = spaced(append(dst, ": "...), m.val), ", "
		}
		return append(dst, '}')
	case isArray:
		dst = append(dst, '[')
		for _, it := range n.items {
			dst, comma = spaced(append(dst, comma...), it), ", "
		}
		return append(dst, ']')
	default:
		return n.appendJSON(dst)
	}
}
