package patch

import (
	"slices"
	"strings"
)

// Matcher names a way in which a passage was found.
type Matcher string

// The matchers, in the order they are tried. [Exact] also is the last of OpenCode's list, the
// one that yields every occurrence: here it replaces them all at once.
const (
	Exact       Matcher = "exact"
	Trimmed     Matcher = "trimmed lines"       // white space at the ends of lines ignored
	Anchors     Matcher = "block anchors"       // first and last line, and a similar middle
	Spaces      Matcher = "white space"         // runs of white space are one space, within a line
	SpacedLines Matcher = "white space, lines"  // the same over several lines
	Indentation Matcher = "indentation"         // all lines moved by the same amount
	Unescaped   Matcher = "escapes"             // \n and the like written for what they mean
	EscapedFile Matcher = "escapes in the file" // the file has them, the quoted text does not
	Boundary    Matcher = "outer white space"   // white space before and after ignored
	Alone       Matcher = "outer white space, whole lines"
	Context     Matcher = "context" // first and last line, and half of the middle
)

// Replacement is a text with a passage replaced.
type Replacement struct {
	Content  string
	Matcher  Matcher
	Count    int       // how many passages were replaced
	Passages []Passage // the first of them, sorted
	// First and Last are the lines of Content, counted from 1, from the first thing put in to
	// the last.
	First, Last int
	// Shift is set where the lines put in stand at another indentation than those that were
	// there, because the quoted text did: what was put in is never changed.
	Shift *Shift
}

// Passage is a passage that was replaced.
type Passage struct {
	Line int    // its first line in the old content, counted from 1
	Old  string // with plain line endings
}

// maxWork bounds what the search for an inexact match may cost: below a second.
const maxWork = 200_000_000

// Replace puts new in place of old, once, or everywhere if all. Where old does not occur to the
// letter it is looked for in the ways of [Matcher], one after the other. Line endings of old and
// new do not matter: they become those of the lines they replace.
//
// It refuses, with a [*Refusal], what it cannot do for certain: a passage that does not exist,
// that is there more than once, or that is only similar where new would then undo something old
// does not show.
func Replace(content, old, new string, all bool) (Replacement, error) {
	src := newSource(content)
	s := &search{src: src, old: plain(old), new: plain(new), all: all, work: &budget{left: maxWork}}
	if src.bom {
		s.old, s.new = strings.TrimPrefix(s.old, bom), strings.TrimPrefix(s.new, bom)
	}
	switch {
	case old == new:
		return Replacement{}, s.nothingToDo()
	case s.old == s.new:
		return Replacement{}, refuse(Same, "oldString and newString differ only in line endings or a byte order mark, "+
			"and the file's own stay. To change them use a shell command.")
	case s.old == "":
		return Replacement{}, refuse(Empty, "oldString is empty. Give the text to replace.")
	}
	at := strings.Index(src.text, s.old)
	switch {
	case at < 0:
		return s.inexact()
	case all:
		return s.finish(Exact, s.apart(s.old), s.new), nil
	case s.twice(s.old):
		return Replacement{}, s.severalExact()
	}
	return s.finish(Exact, []span{{at, at + len(s.old)}}, s.new), nil
}

// search is one call of Replace.
type search struct {
	src      *source
	old, new string // with plain endings
	all      bool
	work     *budget

	want    []string // the lines of old, without the empty one after a last \n
	newline bool     // there was one
	trimmed []string // the lines of src, trimmed; see prepare
}

// hit is a passage that a matcher proposes.
type hit struct {
	span
	whole    span // with all of its first and last line, where it is made of lines
	first, n int  // its lines
	inline   bool // it begins after the indentation of its first line
	put      string
}

// maxHits is how many places are looked at one by one. A text that is there more often than this
// is refused or replaced to the letter, and neither needs a closer look.
const maxHits = 10_000

// occurrences returns the first places where text is, also where they overlap.
func (s *search) occurrences(text string) []span {
	var out []span
	for at := 0; len(out) < maxHits; {
		i := strings.Index(s.src.text[at:], text)
		if i < 0 {
			break
		}
		out = append(out, span{at + i, at + i + len(text)})
		at += i + 1
	}
	return out
}

// apart returns every place where text is, without those that overlap an earlier one.
func (s *search) apart(text string) []span {
	var out []span
	for at := 0; ; {
		i := strings.Index(s.src.text[at:], text)
		if i < 0 {
			return out
		}
		out = append(out, span{at + i, at + i + len(text)})
		at += i + len(text)
	}
}

// twice reports whether text occurs more than once.
func (s *search) twice(text string) bool {
	return strings.Index(s.src.text, text) != strings.LastIndex(s.src.text, text)
}

func (s *search) prepare() bool {
	s.src.split()
	s.want = strings.Split(s.old, "\n")
	if n := len(s.want); n > 1 && s.want[n-1] == "" {
		s.want, s.newline = s.want[:n-1], true
	}
	if !s.work.spend(2*len(s.src.text) + 30*len(s.src.lines)) {
		return false
	}
	s.trimmed = trimAll(s.src.lines)
	return true
}

// step is one way to find a passage.
type step struct {
	name  Matcher
	find  func(*search) []hit
	doubt func(*search, hit) *Refusal // nil: what it finds is certain
}

func steps() []step {
	return []step{
		{Trimmed, (*search).trimmedLines, nil},
		{Anchors, (*search).blockAnchors, (*search).carries},
		{Spaces, (*search).spaces, (*search).quotedSpaces},
		{SpacedLines, (*search).spacedLines, (*search).quotedSpaces},
		{Indentation, (*search).indentation, nil},
		{Unescaped, (*search).unescaped, (*search).escapesToo},
		{EscapedFile, (*search).escapedFile, (*search).escapesDiffer},
		{Boundary, (*search).boundary, nil},
		{Alone, (*search).alone, nil},
		{Context, (*search).context, (*search).carries},
	}
}

// inexact runs the fallbacks. The first that finds one passage decides. After one that found
// several only a stricter one may: its single find must be among them.
func (s *search) inexact() (Replacement, error) {
	if blank(s.old) {
		return Replacement{}, s.missing()
	}
	if !s.prepare() {
		return Replacement{}, s.tooMuch()
	}
	var unclear []hit
	var how Matcher
	for _, st := range steps() {
		hits := st.find(s)
		if s.work.spent() {
			return Replacement{}, s.tooMuch()
		}
		if unclear != nil && (len(hits) != 1 || !slices.ContainsFunc(unclear, func(o hit) bool { return o.span == hits[0].span })) {
			continue
		}
		switch {
		case len(hits) == 0:
		case s.decided(hits):
			return s.take(st, hits)
		default:
			unclear, how = hits, st.name
		}
	}
	if unclear != nil {
		return Replacement{}, s.severalInexact(how, unclear)
	}
	return Replacement{}, s.missing()
}

// decided reports whether hits leave no choice: there is one, or all are wanted and are alike.
// What a hit covers must not occur elsewhere too, as a part of something longer.
func (s *search) decided(hits []hit) bool {
	first := s.src.slice(hits[0].whole)
	if len(hits) == 1 {
		return !s.twice(first)
	}
	if !s.all || len(s.apart(first)) != len(hits) {
		return false
	}
	return !slices.ContainsFunc(hits, func(h hit) bool {
		return s.src.slice(h.whole) != first || s.src.slice(h.span) != s.src.slice(hits[0].span)
	})
}

func (s *search) take(st step, hits []hit) (Replacement, error) {
	doubts := []func(*search, hit) *Refusal{(*search).alien, st.doubt}
	if st.name != Trimmed { // whose lines are all there, wherever they stand
		doubts = append(doubts, (*search).misshapen)
	}
	for _, h := range hits {
		if s.disproportionate(s.src.slice(h.whole)) {
			return Replacement{}, s.tooLarge(h)
		}
		for _, doubt := range doubts {
			if doubt == nil {
				continue
			}
			if r := doubt(s, h); r != nil {
				return Replacement{}, r
			}
		}
		if s.work.spent() {
			return Replacement{}, s.tooMuch()
		}
	}
	spans := make([]span, len(hits))
	for i, h := range hits {
		spans[i] = h.span
	}
	put, shift := s.reindented(hits[0])
	out := s.finish(st.name, spans, put)
	out.Shift = shift
	return out, nil
}

// disproportionate reports whether a passage is so much longer than what was quoted that it
// cannot be meant.
func (s *search) disproportionate(found string) bool {
	wanted, got := strings.Count(s.old, "\n")+1, strings.Count(found, "\n")+1
	if got >= max(wanted+3, 2*wanted) {
		return true
	}
	size := len(strings.TrimSpace(s.old))
	return wanted > 1 && len(strings.TrimSpace(found)) > max(size+500, 4*size)
}

func (s *search) finish(how Matcher, spans []span, put string) Replacement {
	const shown = 20
	out := Replacement{Matcher: how, Count: len(spans), Content: s.src.put(spans, put)}
	line, at, grown := 1, 0, 0
	added := strings.Count(put, "\n")
	for i, sp := range spans {
		line += strings.Count(s.src.text[at:sp.start], "\n")
		at = sp.start
		was := s.src.slice(sp)
		if i == 0 {
			out.First = line
		}
		if i < shown {
			out.Passages = append(out.Passages, Passage{Line: line, Old: was})
		}
		out.Last = line + grown + added
		if strings.HasSuffix(put, "\n") {
			out.Last--
		}
		grown += added - strings.Count(was, "\n")
	}
	out.Last = max(out.Last, out.First)
	return out
}
