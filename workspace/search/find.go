package search

import (
	"bytes"
	"strings"
)

// common are the bytes of source code and prose, the most frequent first. What is not among them is
// rarer still.
const common = " etaoinrsl\tcdumpfhgb_.()=;,\"yvw/*kx:-{}0'1<>ETSACRINOLD2[]PMFUBHjq3456789zGVWKYXJQZ#&!|+$\\@%?`~^"

// needle is a text to be found in blocks.
type needle struct {
	text string // in small letters where case does not count
	// rare is where in the text its rarest byte is, low and high the two cases of that byte.
	rare      int
	low, high byte
}

func newNeedle(text string) needle {
	n := needle{text: text}
	best := -1
	for i := range len(text) {
		rank := strings.IndexByte(common, text[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > best {
			best, n.rare = rank, i
		}
	}
	n.low = text[n.rare]
	n.high = upper(n.low)
	return n
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

// finder looks for lines that may match, by needles of which a line that matches has one.
type finder struct {
	needles []needle
	fold    bool
	// odd says that some letter of a needle is the small form of a letter outside of ASCII, too: the
	// sign for Kelvin and the long s.
	odd bool
}

func newFinder(l literals) *finder {
	f := &finder{fold: l.fold}
	for _, text := range l.best() {
		f.needles = append(f.needles, newNeedle(text))
		f.odd = f.odd || l.fold && strings.ContainsAny(text, "ks")
	}
	return f
}

// blind reports whether the finder could miss something in a block.
func (f *finder) blind(block []byte) bool {
	return f.odd && (bytes.Contains(block, []byte("\u017f")) || bytes.Contains(block, []byte("\u212a")))
}

// cursor goes through one block.
type cursor struct {
	finder *finder
	block  []byte
	at     [maxNeeded]spot
}

// spot is where a needle was last seen, and its rarest byte in small and in capital form. They are
// kept so that no stretch of a block is searched twice.
type spot struct{ next, low, high int }

func (c *cursor) reset(f *finder, block []byte) {
	c.finder, c.block = f, block
	for i := range f.needles {
		c.at[i] = spot{-1, -1, -1}
	}
}

// find returns the first place of a needle from a place on, or -1.
func (c *cursor) find(from int) int {
	best := len(c.block)
	for i := range c.finder.needles {
		s := &c.at[i]
		if s.next < from {
			if c.finder.fold {
				s.next = c.folded(&c.finder.needles[i], s, from)
			} else if s.next = len(c.block); from < len(c.block) {
				if j := bytes.Index(c.block[from:], []byte(c.finder.needles[i].text)); j >= 0 {
					s.next = from + j
				}
			}
		}
		best = min(best, s.next)
	}
	if best == len(c.block) {
		return -1
	}
	return best
}

// folded finds a needle in any case: it looks for its rarest byte, and compares there.
func (c *cursor) folded(n *needle, s *spot, from int) int {
	none := len(c.block)
	last := none - len(n.text) + n.rare // the last place its rarest byte can be at
	for at := from + n.rare; at <= last; at++ {
		if s.low < at {
			s.low = c.index(at, last, n.low)
		}
		if s.high < at {
			if s.high = s.low; n.high != n.low {
				s.high = c.index(at, last, n.high)
			}
		}
		at = min(s.low, s.high)
		if at > last {
			return none
		}
		if start := at - n.rare; equalFold(c.block[start:start+len(n.text)], n.text) {
			return start
		}
	}
	return none
}

func (c *cursor) index(from, last int, b byte) int {
	if i := bytes.IndexByte(c.block[from:last+1], b); i >= 0 {
		return from + i
	}
	return len(c.block)
}

// equalFold compares with a text in small letters; only those of ASCII have two cases.
func equalFold(b []byte, text string) bool {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != text[i] {
			return false
		}
	}
	return true
}
