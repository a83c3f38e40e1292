package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// braces expands {a,b} and {1..3} in a word.
func (a *reader) braces(w *syntax.Word) []*syntax.Word {
	if !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	}) {
		return []*syntax.Word{w}
	}
	cp := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(cp)
	out, ok := expandBraces(cp)
	if !ok || !a.spend(len(out)) {
		a.unknown(UnknownCommand, a.text(w), "its braces stand for too many words")
		return nil
	}
	return out
}

// expandBraces is false where there is too much of it.
func expandBraces(w *syntax.Word) ([]*syntax.Word, bool) {
	list := [][]syntax.WordPart{nil}
	for _, p := range w.Parts {
		choices, ok := [][]syntax.WordPart{{p}}, true
		if b, isBrace := p.(*syntax.BraceExp); isBrace {
			choices, ok = choicesOf(b)
		}
		if !ok || len(list)*len(choices) > maxWords {
			return nil, false
		}
		var next [][]syntax.WordPart
		for _, head := range list {
			for _, c := range choices {
				next = append(next, append(append([]syntax.WordPart(nil), head...), c...))
			}
		}
		list = next
	}
	var out []*syntax.Word
	for _, parts := range list {
		if len(parts) > 0 {
			out = append(out, &syntax.Word{Parts: parts})
		}
	}
	return out, true
}

func choicesOf(b *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	var out [][]syntax.WordPart
	if b.Sequence {
		texts, ok := sequence(b)
		for _, t := range texts {
			out = append(out, []syntax.WordPart{&syntax.Lit{Value: t}})
		}
		return out, ok
	}
	for _, elem := range b.Elems {
		inner, ok := expandBraces(elem)
		if !ok || len(out)+len(inner) > maxWords {
			return nil, false
		}
		for _, w := range inner {
			out = append(out, w.Parts)
		}
		if len(inner) == 0 {
			out = append(out, nil)
		}
	}
	return out, true
}

// sequence is {1..9} or {a..e}, with a step or without.
func sequence(b *syntax.BraceExp) ([]string, bool) {
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	step := 1
	if len(b.Elems) > 2 {
		n, err := strconv.Atoi(b.Elems[2].Lit())
		if err != nil {
			return nil, false
		}
		step = max(n, -n, 1)
	}
	x, errX := strconv.Atoi(from)
	y, errY := strconv.Atoi(to)
	letters := errX != nil || errY != nil
	if letters {
		if len(from) != 1 || len(to) != 1 {
			return nil, false
		}
		x, y = int(from[0]), int(to[0])
	} else if padded(from) || padded(to) {
		return nil, false
	}
	if x > 1<<30 || y > 1<<30 || x < -1<<30 || y < -1<<30 || max(x-y, y-x)/step > maxWords {
		return nil, false
	}
	if x > y {
		step = -step
	}
	var out []string
	for n := x; step > 0 && n <= y || step < 0 && n >= y; n += step {
		if letters {
			out = append(out, string(rune(n)))
		} else {
			out = append(out, strconv.Itoa(n))
		}
	}
	return out, true
}

func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}

// ansi decodes the text of $'…'.
func ansi(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abeEfnrtv\'"?`, s[i]); at >= 0 {
			out.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[at])
			continue
		}
		base, digits, most := 16, "0123456789abcdefABCDEF", 0
		switch c := s[i]; {
		case c == 'x':
			most = 2
		case c == 'u':
			most = 4
		case c == 'U':
			most = 8
		case c >= '0' && c <= '7':
			base, digits, most = 8, "01234567", 3
			i--
		default:
			return "", false
		}
		end := i + 1
		for end < len(s) && end-i <= most && strings.IndexByte(digits, s[end]) >= 0 {
			end++
		}
		n, err := strconv.ParseUint(s[i+1:end], base, 32)
		if err != nil || n == 0 { // a NUL ends the text
			return "", false
		}
		if s[i] == 'u' || s[i] == 'U' {
			out.WriteString(string(utf8.AppendRune(nil, rune(n))))
		} else {
			out.WriteByte(byte(n))
		}
		i = end - 1
	}
	return out.String(), true
}
