package fulltext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a query. A term fits into the bits of a word, for the search in a text.
const (
	maxQuery     = 1000 // bytes
	maxTerms     = 32
	maxTermWords = 64
	minPrefix    = 2 // characters; a shorter beginning fits too many words
)

// Query is what a text must contain: every term.
type Query struct{ Terms []Term }

// Term is a word, or several words in a row.
type Term struct {
	Words  []string
	Prefix bool // the last word is the beginning of one
}

// Parse reads a query as a user types it: words, "several words in a row", and beginnings of words
// (pars*). Words joined by other characters, as in store/commit.go, are in a row too. A quote without a
// second one is a space. With typing, the last word may still be incomplete.
func Parse(text string, typing bool) (Query, error) {
	var q Query
	if len(text) > maxQuery {
		return q, fmt.Errorf("the search text has %d bytes; the limit is %d", len(text), maxQuery)
	}
	for text = trimLeft(text); text != ""; text = trimLeft(text) {
		var chunk string
		quoted := text[0] == '"' && strings.Contains(text[1:], `"`)
		if quoted {
			chunk, text, _ = strings.Cut(text[1:], `"`)
		} else if text[0] == '"' {
			text = text[1:]
		} else if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' }); i >= 0 {
			chunk, text = text[:i], text[i:]
		} else {
			chunk, text = text, ""
		}
		t, ok := parseTerm(chunk, !quoted && strings.HasSuffix(chunk, "*"), typing && !quoted && text == "")
		if !ok {
			continue // it has no word
		}
		if q.Terms = append(q.Terms, t); len(q.Terms) > maxTerms {
			return Query{}, fmt.Errorf("the search text has more than %d words", maxTerms)
		}
	}
	if len(q.Terms) == 0 {
		return q, fmt.Errorf("the search text has no word; type at least one letter or digit")
	}
	return q, nil
}

func trimLeft(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }

// parseTerm reads the words of a chunk. The last one is a beginning if the user said so, or if it
// is being typed and long enough.
func parseTerm(chunk string, star, typing bool) (t Term, ok bool) {
	scan(chunk, func(word []byte, _, end int) bool {
		t.Words = append(t.Words, string(word))
		typing = typing && end == len(chunk)
		return len(t.Words) < maxTermWords
	})
	if len(t.Words) == 0 {
		return t, false
	}
	n := utf8.RuneCountInString(t.Words[len(t.Words)-1])
	t.Prefix = (star || typing) && n >= minPrefix
	return t, true
}

// Entry is an entry of an index that a text with a term has.
type Entry struct {
	Text   string
	Prefix bool // it is the beginning of one
}

// Entries returns what the index must have for a text with every term.
func (q Query) Entries() (out []Entry) {
	for _, t := range q.Terms {
		last := len(t.Words) - 1
		covered := false // by the pair before
		for i, w := range t.Words {
			if i < last && isCommon([]byte(w)) && isCommon([]byte(t.Words[i+1])) && !(t.Prefix && i+1 == last) {
				out = append(out, Entry{Text: w + joint + t.Words[i+1]})
				covered = true
				continue
			}
			if !covered {
				out = append(out, Entry{Text: w, Prefix: t.Prefix && i == last})
			}
			covered = false
		}
	}
	return out
}

// Match is where a term is in a text, in bytes.
type Match struct{ Term, Start, End int }

// Matches reports whether the texts together contain every term. A term lies within one text.
func (q Query) Matches(texts ...string) bool { return q.Count(texts...) == len(q.Terms) }

// Count returns how many of the terms the texts contain.
func (q Query) Count(texts ...string) (n int) {
	found := make([]bool, len(q.Terms))
	for _, text := range texts {
		q.find(text, func(m Match) bool {
			if !found[m.Term] {
				found[m.Term] = true
				n++
			}
			return n < len(q.Terms)
		})
	}
	return n
}

// Find returns the places of all terms in a text, in its order, at most limit of them.
func (q Query) Find(text string, limit int) (out []Match) {
	q.find(text, func(m Match) bool {
		out = append(out, m)
		return len(out) < limit
	})
	return out
}

// find calls f with the end of each occurrence, until f returns false. For each term, bit i of its
// state says that the last i+1 words of the text were the first i+1 of the term.
func (q Query) find(text string, f func(Match) bool) {
	state := make([]uint64, len(q.Terms))
	starts := make([]int, 0, maxTermWords) // of the last words, a ring
	at := 0
	scan(text, func(word []byte, start, end int) bool {
		if len(starts) < maxTermWords {
			starts = append(starts, start)
		} else {
			starts[at%maxTermWords] = start
		}
		at++
		for i, t := range q.Terms {
			fits := uint64(0)
			for k, w := range t.Words {
				last := k == len(t.Words)-1
				if string(word) == w || last && t.Prefix && strings.HasPrefix(string(word), w) {
					fits |= 1 << k
				}
			}
			state[i] = (state[i]<<1 | 1) & fits
			if n := len(t.Words); state[i]&(1<<(n-1)) != 0 && !f(Match{i, starts[(at-n)%maxTermWords], end}) {
				return false
			}
		}
		return true
	})
}
