// Package fuzzy finds texts by a few of their letters: what is typed must stand in a text in order, with holes, and
// the better it fits the more it is worth. It is pure, and quick enough for ten thousand texts at each key. Start
// with Matcher.Score.
package fuzzy

import (
	"slices"
	"strings"
	"unicode"
)

// The scores of a match. A character that follows the one before it or begins a word counts most, so "gs" finds
// "git status" before "bugs"; a hole costs little, so that long names are not lost.
const (
	scoreHit   = 16
	scoreNext  = 16
	scoreFirst = 14
	scoreStart = 10
	scoreDigit = 4 // a number begins or ends inside of a word
	scoreHole  = 1
	scoreOther = 6 // for each letter of a word found beside the title
	scoreWhole = 4 // nothing is left over
	noMatch    = -1 << 30

	maxLetters = 400 // of a title that are searched
	maxScored  = 64  // letters of a word that are scored; all must match
	maxWords   = 8
)

// Text is ready to be searched: its letters folded, and how well a match begins at each.
type Text struct {
	letters []rune
	starts  []uint8
	mask    uint64
	other   string // folded, searched only for whole pieces
}

// NewText folds a title and what else is said of it, which is searched for whole pieces only. Of very long texts
// only the beginning is searched.
func NewText(title string, others ...string) Text {
	var h Text
	h.letters, h.starts, _ = foldTitle(title)
	for _, r := range h.letters {
		h.mask |= bit(r)
	}
	var other strings.Builder
	for _, o := range others {
		other.WriteString(o[:min(len(o), 4*maxLetters)])
		other.WriteByte('\n')
	}
	h.other = strings.ToLower(other.String())
	return h
}

// foldTitle returns small letters without marks, what a match at each is worth, and their byte offsets.
func foldTitle(title string) (letters []rune, starts []uint8, offsets []int) {
	n := min(len(title), maxLetters)
	letters, starts, offsets = make([]rune, 0, n), make([]uint8, 0, n), make([]int, 0, n)
	var last rune
	for at, r := range title {
		if len(letters) == maxLetters {
			break
		}
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		letters, starts, offsets = append(letters, fold(r)), append(starts, startScore(last, r)), append(offsets, at)
		last = r
	}
	return letters, starts, offsets
}

// startScore is the bonus of a match at the start of a word, by the character before it.
func startScore(last, r rune) uint8 {
	switch {
	case last == 0:
		return scoreFirst
	case !isAlnum(r):
		return 0
	case !isAlnum(last), unicode.IsUpper(r) && !unicode.IsUpper(last):
		return scoreStart
	case unicode.IsDigit(r) != unicode.IsDigit(last):
		return scoreDigit
	default:
		return 0
	}
}

func isAlnum(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func fold(r rune) rune {
	if r < 0x80 {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(r)
}

// bit is a letter's place in a mask; many share one.
func bit(r rune) uint64 { return 1 << (uint32(r) % 64) }

// Query is a list of words that must all match. The empty one matches everything.
type Query []word

type word struct {
	letters []rune
	text    string
	mask    uint64
}

// NewQuery splits a query into words.
func NewQuery(query string) Query {
	var out Query
	for _, f := range strings.Fields(query) {
		if len(out) == maxWords {
			break
		}
		w := word{text: strings.ToLower(f)}
		w.letters, _, _ = foldTitle(f)
		for _, r := range w.letters {
			w.mask |= bit(r)
		}
		if len(w.letters) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// Matcher keeps the table of a search between its texts. The zero one is ready.
type Matcher struct{ hit []int32 }

// Score tells how well all words are found, or false.
func (m *Matcher) Score(q Query, h *Text) (int, bool) {
	sum := 0
	for i := range q {
		w := &q[i]
		s := int32(noMatch)
		if w.mask&^h.mask == 0 && len(w.letters) <= len(h.letters) {
			s = m.word(w.letters, h)
		}
		if strings.Contains(h.other, w.text) {
			s = max(s, int32(scoreOther*len(w.letters)))
		}
		if s < 0 {
			return 0, false
		}
		sum += int(s)
	}
	return sum, true
}

// word finds the best way to read the letters, in their order, out of a text: for each letter in turn, what the
// best match that ends at a place is worth, from what the matches of the letter before were worth.
func (m *Matcher) word(letters []rune, h *Text) int32 {
	if !isSubsequence(letters, h.letters) {
		return noMatch
	}
	whole := int32(0)
	if len(letters) == len(h.letters) {
		whole = scoreWhole
	}
	letters = letters[:min(len(letters), maxScored)]
	from, to := slices.Index(h.letters, letters[0]), len(h.letters)
	for h.letters[to-1] != letters[len(letters)-1] {
		to--
	}
	m.hit = slices.Grow(m.hit[:0], to)[:to]
	top := int32(noMatch)
	for j := from; j < to; j++ {
		m.hit[j] = noMatch
		if h.letters[j] == letters[0] {
			m.hit[j] = scoreHit + int32(h.starts[j]) - int32(min(j/2, 5))
			top = max(top, m.hit[j])
		}
	}
	for _, r := range letters[1:] {
		top = m.next(r, h, from, to)
		from++
	}
	return max(top+whole-int32(min(len(h.letters)/4, 10)), 1) // of two that fit alike, the shorter
}

// next adds one letter, and returns the best score.
func (m *Matcher) next(r rune, h *Text, from, to int) int32 {
	top, run, before := int32(noMatch), int32(noMatch), int32(noMatch) // run ends further left, before just left
	for j := from; j < to; j++ {
		old := m.hit[j]
		m.hit[j] = noMatch
		if h.letters[j] == r {
			if best := max(run, before+scoreNext); best > noMatch/2 {
				m.hit[j] = scoreHit + int32(h.starts[j]) + best
				top = max(top, m.hit[j])
			}
		}
		run, before = max(run-scoreHole, before), old
	}
	return top
}

func isSubsequence(letters, text []rune) bool {
	i := 0
	for _, r := range text {
		if r == letters[i] {
			if i++; i == len(letters) {
				return true
			}
		}
	}
	return false
}

// Positions returns the byte offsets of the characters of a title that words were found at, for showing them. It
// takes a whole piece where there is one and the first letters otherwise, which is near enough.
func Positions(q Query, title string) []int {
	letters, starts, offsets := foldTitle(title)
	var out []int
	for _, w := range q {
		if at := piece(w.letters, letters, starts); at >= 0 {
			out = append(out, offsets[at:at+len(w.letters)]...)
			continue
		}
		if !isSubsequence(w.letters, letters) {
			continue
		}
		i := 0
		for j, r := range letters {
			if i < len(w.letters) && r == w.letters[i] {
				out = append(out, offsets[j])
				i++
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// piece finds letters in one piece, best where a word begins; -1 is nowhere.
func piece(letters, text []rune, starts []uint8) int {
	at := -1
	for j := 0; j+len(letters) <= len(text); j++ {
		if text[j] == letters[0] && slices.Equal(text[j:j+len(letters)], letters) {
			if starts[j] > 0 {
				return j
			}
			if at < 0 {
				at = j
			}
		}
	}
	return at
}
