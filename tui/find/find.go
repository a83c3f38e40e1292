// Package find searches texts for a pattern as typed by a person: plain text, any case unless the pattern has
// upper case, and a space that also matches a line break. It is fast enough for the text of a long session.
//
// Start with New.
package find

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern is what is searched for. The zero value matches nothing.
type Pattern struct {
	text  string
	fold  bool
	ascii bool
	rare  int // the byte of an ASCII pattern that is looked for first: the least common one
}

// New makes a pattern. It ignores case unless the text has an upper-case letter.
func New(text string) Pattern {
	text = strings.ToValidUTF8(text, "")
	p := Pattern{text: text, fold: strings.IndexFunc(text, unicode.IsUpper) < 0, ascii: true}
	best := -1
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			p.ascii = false
		}
		if r := rarity(text[i]); r > best {
			best, p.rare = r, i
		}
	}
	return p
}

// rarity ranks bytes by how seldom they occur in prose and code. A space ranks last: it may match a line break.
func rarity(b byte) int {
	const common = " etaoinsrlhdcump.,fgybwv_-()/0123456789kxjqz"
	if i := strings.IndexByte(common, lower(b)); i >= 0 {
		return i
	}
	return len(common)
}

// IsEmpty reports whether it matches nothing.
func (p Pattern) IsEmpty() bool { return strings.TrimSpace(p.text) == "" }

// Text is the pattern as it was typed.
func (p Pattern) Text() string { return p.text }

// Word returns a pattern of the longest word: a text that has no match of it has none of the whole.
func (p Pattern) Word() Pattern {
	longest := ""
	for _, w := range strings.Fields(p.text) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	w := New(longest)
	w.fold = p.fold
	return w
}

// IsPlain reports whether JSON writes the pattern as it is: it has no character that is escaped in a string.
func (p Pattern) IsPlain() bool { return p.ascii && !strings.ContainsAny(p.text, "\"\\<>&\x7f") }

// In reports whether a text has a match.
func (p Pattern) In(text string) bool {
	for range p.All(text) {
		return true
	}
	return false
}

// Count is how many matches a text has, which do not overlap.
func (p Pattern) Count(text string) (n int) {
	for range p.All(text) {
		n++
	}
	return n
}

// All yields the first byte of each match and the byte after it.
func (p Pattern) All(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		if p.IsEmpty() {
			return
		}
		c := p.candidates()
		for at := 0; at <= len(text); {
			from := c.next(text, at)
			if from < 0 {
				return
			}
			to := p.end(text, from)
			if to < 0 {
				_, n := utf8.DecodeRuneInString(text[from:])
				at = from + n
				continue
			}
			if !yield(from, to) {
				return
			}
			at = to
		}
	}
}

// end is the byte after a match that begins at a byte, -1 if there is none.
func (p Pattern) end(text string, from int) int {
	if p.ascii {
		if from+len(p.text) > len(text) {
			return -1
		}
		for i := range len(p.text) {
			if !p.same(rune(p.text[i]), rune(text[from+i])) {
				return -1
			}
		}
		return from + len(p.text)
	}
	for _, want := range p.text {
		r, n := utf8.DecodeRuneInString(text[from:])
		if n == 0 || !p.same(want, r) {
			return -1
		}
		from += n
	}
	return from
}

// same compares a character of the pattern with one of a text.
func (p Pattern) same(want, got rune) bool {
	switch {
	case want == got:
		return true
	case want == ' ':
		return got == '\n' || got == '\t'
	case !p.fold:
		return false
	case want < utf8.RuneSelf && got < utf8.RuneSelf:
		return want == rune(lower(byte(got)))
	}
	return unicode.ToLower(got) == want
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// candidates finds the places where a match may begin: the spellings of one character, and how far it is from
// the start of a match.
type candidates struct {
	spellings []string
	places    []int // the next of each; -1 for none, before the text's start when it is not known
	back      int
}

func (p Pattern) candidates() *candidates {
	c := &candidates{}
	first, _ := utf8.DecodeRuneInString(p.text)
	if p.ascii {
		first, c.back = rune(p.text[p.rare]), p.rare
	}
	c.spellings = []string{string(first)}
	switch {
	case first == ' ': // only a pattern of other scripts begins its search here
		c.spellings = append(c.spellings, "\n", "\t")
	case p.fold:
		for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
			if p.ascii && r >= utf8.RuneSelf {
				continue
			}
			c.spellings = append(c.spellings, string(r))
		}
	}
	c.places = make([]int, len(c.spellings))
	for i := range c.places {
		c.places[i] = -2
	}
	return c
}

// next is the first candidate from a byte on, -1 if there is none.
func (c *candidates) next(text string, at int) int {
	from := at + c.back
	if from > len(text) {
		return -1
	}
	first := -1
	for i, s := range c.spellings {
		if c.places[i] == -1 {
			continue
		}
		if c.places[i] < from {
			n := strings.Index(text[from:], s)
			if n < 0 {
				c.places[i] = -1
				continue
			}
			c.places[i] = from + n
		}
		if first < 0 || c.places[i] < first {
			first = c.places[i]
		}
	}
	if first < 0 {
		return -1
	}
	return first - c.back
}
