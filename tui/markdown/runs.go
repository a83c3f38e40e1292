package markdown

import (
	"unicode"
	"unicode/utf8"
)

// signRun is a row of equal signs that may open or close emphasis, or strike text out. The runs that are open
// are a list, each with its neighbors; number 0 stands before the first.
type signRun struct {
	sign       byte
	opens      bool // may open
	closes     bool // may close
	size, left int  // how many signs, and how many have no partner yet
	prev, next int
	opened     int32 // the last take that it opened: the outermost
	closed     int32 // the first that it closed: the innermost
	closedLast int32
}

// take is a number of signs that were taken off two runs to make them partners. Those of a run are a list;
// number 0 ends it.
type take struct {
	n    int32
	next int32
}

// sign reads a run.
func (w *reader) sign(c byte) {
	n := runOf(w.src[w.at:min(len(w.src), w.at+3)], c) // of many ~ each is looked at
	if c == '~' && (n > 2 || w.at > 0 && w.src[w.at-1] == '~') {
		w.at++ // three and more stand for themselves
		w.bareAt = w.at
		return
	}
	for n > 2 && w.at+n < len(w.src) && w.src[w.at+n] == c {
		n++
	}
	r := signRun{sign: c, size: n, left: n, prev: w.last}
	before, after := ' ', ' '
	if w.at > 0 {
		before, _ = utf8.DecodeLastRune(w.src[:w.at])
	}
	if w.at+n < len(w.src) {
		after, _ = utf8.DecodeRune(w.src[w.at+n:])
	}
	spaceL, spaceR, punctL, punctR := unicode.IsSpace(before), unicode.IsSpace(after), isSign(before), isSign(after)
	left := !spaceR && (!punctR || spaceL || punctL)
	right := !spaceL && (!punctL || spaceR || punctR)
	r.opens, r.closes = left, right
	if c == '_' { // not within words
		r.opens, r.closes = left && (!right || punctL), right && (!left || punctR)
	}
	k := len(w.runs)
	w.runs = append(w.runs, r)
	w.runs[w.last].next, w.last = k, k
	w.add(token{kind: tokenRun, run: int32(k), from: int32(w.at), to: int32(w.at + n)}, n)
}

func isSign(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// matches reports whether a run can be closed by another. Where one of them could do both, their sizes may not add
// up to a multiple of three, unless both are such themselves.
func (r *signRun) matches(by *signRun) bool {
	if r.sign != by.sign || !r.opens {
		return false
	}
	return !((r.closes || by.opens) && (r.size+by.size)%3 == 0 && by.size%3 != 0)
}

// kind numbers the runs for which the same others are partners.
func (r *signRun) kind() int {
	k := 0
	switch r.sign {
	case '_':
		k = 1
	case '~':
		k = 2
	}
	return (k*2+b2i(r.opens))*3 + r.size%3
}

// pair finds the partners of all open runs behind the given one, and takes them off the list.
func (w *reader) pair(bottom int) {
	var floor [18]int // for each kind: no run up to here is a partner
	for i := range floor {
		floor[i] = bottom
	}
	for c := w.runs[bottom].next; c != 0; {
		closer := &w.runs[c]
		if !closer.closes {
			c = closer.next
			continue
		}
		lowest := &floor[closer.kind()]
		o := closer.prev
		for o > *lowest && !w.runs[o].matches(closer) {
			o = w.runs[o].prev
		}
		if o <= *lowest {
			*lowest = closer.prev
			next := closer.next
			if !closer.opens {
				w.drop(c)
			}
			c = next
			continue
		}
		opener := &w.runs[o]
		n := 1 + b2i(opener.left >= 2 && closer.left >= 2)
		k := int32(len(w.takes))
		w.takes = append(w.takes, take{int32(n), opener.opened}, take{n: int32(n)})
		opener.opened = k
		if closer.closed == 0 {
			closer.closed = k + 1
		} else {
			w.takes[closer.closedLast].next = k + 1
		}
		closer.closedLast = k + 1
		opener.left, closer.left = opener.left-n, closer.left-n
		opener.next, closer.prev = c, o // those between have no partner
		if opener.left == 0 {
			w.drop(o)
		}
		if closer.left == 0 {
			next := closer.next
			w.drop(c)
			c = next
		}
	}
	w.runs[bottom].next, w.last = 0, bottom
}

// drop takes a run off the list.
func (w *reader) drop(k int) {
	r := w.runs[k]
	w.runs[r.prev].next = r.next
	if r.next != 0 {
		w.runs[r.next].prev = r.prev
	}
}
