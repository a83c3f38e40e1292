package fulltext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fragment is a piece of a snippet.
type Fragment struct {
	Text  string
	Match bool // it is what was searched for
}

// maxMatches is how many places of a text a snippet is chosen from.
const maxMatches = 200

// Snippet returns the piece of a text, of about width bytes, that has the most different terms; of
// several the first. White space is one space, and an ellipsis stands for the omitted text. It
// is nil if the text has no term.
func (q Query) Snippet(text string, width int) []Fragment {
	matches := q.Find(text, maxMatches)
	if len(matches) == 0 {
		return nil
	}
	first, last := q.densest(matches, width)
	from, to := matches[first].Start, matches[first].Start
	for _, m := range matches[first:last] {
		from, to = min(from, m.Start), max(to, m.End)
	}
	from, to = widen(text, from, to, width)
	var b snippetBuilder
	if from > 0 {
		b.add("… ", false)
	}
	at := from
	for _, m := range matches[first:last] {
		if m.Start >= at && m.End <= to {
			b.add(text[at:m.Start], false)
			b.add(text[m.Start:m.End], true)
			at = m.End
		}
	}
	b.add(text[at:to], false)
	if to < len(text) {
		b.add(" …", false)
	}
	return b.out
}

// densest returns the range of matches within width that has the most different terms.
func (q Query) densest(matches []Match, width int) (first, last int) {
	best := 0
	for i, m := range matches {
		seen, n, j := uint64(0), 0, i
		for ; j < len(matches) && matches[j].End <= max(m.Start+width, m.End); j++ {
			if bit := uint64(1) << matches[j].Term; seen&bit == 0 {
				seen |= bit
				n++
			}
		}
		if n > best {
			best, first, last = n, i, j
		}
		if best == len(q.Terms) {
			break
		}
	}
	return first, max(last, first+1)
}

// widen adds text on both sides up to width, from the beginning of a word to the end of one where there is one near.
func widen(text string, from, to, width int) (int, int) {
	to = min(to, from+4*width) // a term over much white space
	spare := max(width-(to-from), 0)
	left := max(from-spare/3, 0)
	right := min(to+spare-(from-left), len(text))
	if left > 0 {
		if i := strings.IndexFunc(text[left:from], unicode.IsSpace); i >= 0 {
			left += i + 1
		}
	}
	if right < len(text) {
		if i := strings.LastIndexFunc(text[to:right], unicode.IsSpace); i >= 0 {
			right = to + i
		}
	}
	for left < from && !utf8.RuneStart(text[left]) {
		left++
	}
	for right > to && right < len(text) && !utf8.RuneStart(text[right]) {
		right--
	}
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return left, max(right, to)
}

// snippetBuilder joins pieces and their white space.
type snippetBuilder struct {
	out   []Fragment
	space bool // the last character is a space
}

func (b *snippetBuilder) add(text string, match bool) {
	var s strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			if !b.space && (len(b.out) > 0 || s.Len() > 0) {
				s.WriteByte(' ')
			}
			b.space = true
		default:
			s.WriteRune(r) // an invalid byte becomes U+FFFD
			b.space = false
		}
	}
	switch n := len(b.out); {
	case s.Len() == 0:
	case n > 0 && b.out[n-1].Match == match:
		b.out[n-1].Text += s.String()
	default:
		b.out = append(b.out, Fragment{s.String(), match})
	}
}
