package search

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// dfa finds the lines that a program matches, reading each byte once. It makes the states of a
// deterministic automaton when it first needs them, and forgets all of them when they become
// too many. It answers what [regexp.Regexp.Match] would for each line. It belongs to one
// goroutine.
type dfa struct {
	prog *syntax.Prog
	// next has the state after each byte of ASCII, 128 for a state; 0 is not known yet.
	next   []int32
	sets   [][]uint32 // the instructions of a state
	before []prior    // the last character before a state
	index  map[string]int32
	wide   map[uint64]int32 // the same as next for all other characters
	start  int32
	size   int // of all sets
	resets int
	looks  bool // the program looks at the character before

	// Buffers of one step.
	stack, leaves, out []uint32
	seen               []uint32 // the round an instruction was last met in
	round              uint32
	key                []byte
}

// prior is the character before a place, as far as it matters.
type prior uint8

const (
	priorNone prior = iota // the line begins
	priorWord
	priorOther
)

func (p prior) character() rune {
	switch p {
	case priorNone:
		return -1
	case priorWord:
		return 'a'
	}
	return '-'
}

const (
	unknown  int32 = iota
	accepted       // the line matches, whatever follows
	firstState
	maxStates = 4096
	maxSize   = 1 << 19
	maxWide   = 1 << 16
	// maxResets is when an expression has shown to be no matter for an automaton.
	maxResets = 8
)

func newDFA(prog *syntax.Prog) *dfa {
	d := &dfa{prog: prog, seen: make([]uint32, len(prog.Inst))}
	for _, in := range prog.Inst {
		d.looks = d.looks || in.Op == syntax.InstEmptyWidth
	}
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.next = make([]int32, firstState<<7, 64<<7)
	d.sets = make([][]uint32, firstState)
	d.before = make([]prior, firstState)
	d.index = map[string]int32{}
	d.wide = map[uint64]int32{}
	d.size = 0
	d.start = d.state(nil, priorNone)
}

// state finds or makes the state for a sorted set of instructions.
func (d *dfa) state(set []uint32, before prior) int32 {
	if !d.looks {
		before = priorOther
	}
	d.key = append(d.key[:0], byte(before))
	for _, pc := range set {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if s, ok := d.index[string(d.key)]; ok {
		return s
	}
	s := int32(len(d.sets))
	d.index[string(d.key)] = s
	d.sets = append(d.sets, slices.Clone(set))
	d.before = append(d.before, before)
	d.size += len(set)
	d.next = append(d.next, make([]int32, 128)...)
	return s
}

// after computes the state after a character, -1 being the end of the line. After an end that does
// not match comes the start of the next line.
func (d *dfa) after(s int32, r rune) int32 {
	flags := syntax.EmptyOpContext(d.before[s].character(), r)
	if d.close(d.sets[s], flags) {
		return accepted
	}
	if r < 0 {
		return d.start
	}
	d.out = d.out[:0]
	for _, pc := range d.leaves {
		if in := &d.prog.Inst[pc]; in.MatchRune(r) {
			d.out = append(d.out, in.Out)
		}
	}
	slices.Sort(d.out)
	before := priorOther
	if syntax.IsWordChar(r) {
		before = priorWord
	}
	return d.state(slices.Compact(d.out), before)
}

// close follows all instructions that need no character, from a set and from the beginning, since
// a match can begin anywhere. It leaves those that need one in leaves, and reports whether the
// program has matched.
func (d *dfa) close(set []uint32, flags syntax.EmptyOp) bool {
	if d.round++; d.round == 0 { // the counter went round
		clear(d.seen)
		d.round = 1
	}
	d.leaves = d.leaves[:0]
	d.stack = append(append(d.stack[:0], set...), uint32(d.prog.Start))
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.seen[pc] == d.round {
			continue
		}
		d.seen[pc] = d.round
		switch in := &d.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			d.stack = append(d.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			d.stack = append(d.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				d.stack = append(d.stack, in.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			d.leaves = append(d.leaves, pc)
		case syntax.InstFail:
		}
	}
	return false
}

// find returns a place in the first line of block that matches, or -1. The block begins where a
// line does, and ends where one does, with or without its line break. The place may be that of the
// line break.
func (d *dfa) find(block []byte) int {
	s := d.start
	next := d.next
	for i := 0; i < len(block); {
		if b := block[i]; b < utf8.RuneSelf {
			if to := next[int(s)<<7|int(b)]; to > accepted {
				s = to
				i++
				continue
			}
		}
		var width int
		if s, width = d.step(s, block[i:]); s == accepted {
			return i
		}
		i += width
		next = d.next
	}
	if n := len(block); n > 0 && block[n-1] != '\n' && d.end(s) == accepted {
		return len(block)
	}
	return -1
}

// matches reports whether one line matches, given without its last byte, the line break.
func (d *dfa) matches(line []byte) bool {
	if len(line) == 0 {
		return d.end(d.start) == accepted
	}
	return d.find(line) >= 0
}

func (d *dfa) end(s int32) int32 {
	at := int(s)<<7 | '\n'
	if d.next[at] == unknown {
		d.next[at] = d.after(s, -1)
	}
	return d.next[at]
}

// step is the slow half of find: it goes over one character and remembers where that leads.
func (d *dfa) step(s int32, rest []byte) (to int32, width int) {
	b := rest[0]
	switch {
	case b == '\n':
		return d.end(s), 1
	case b == '\r':
		if len(rest) == 1 || rest[1] == '\n' {
			return s, 1 // part of the line break
		}
	case b < utf8.RuneSelf:
		at := int(s)<<7 | int(b)
		if to = d.next[at]; to == unknown {
			s = d.makeSpace(s)
			to = d.after(s, rune(b))
			d.next[int(s)<<7|int(b)] = to
		}
		return to, 1
	}
	r, width := utf8.DecodeRune(rest)
	key := uint64(s)<<32 | uint64(r)
	to, ok := d.wide[key]
	if !ok {
		s = d.makeSpace(s)
		to = d.after(s, r)
		if len(d.wide) >= maxWide {
			clear(d.wide)
		}
		d.wide[uint64(s)<<32|uint64(r)] = to
	}
	return to, width
}

// makeSpace makes space for one more state. It returns the state that is meant by s
// afterwards.
func (d *dfa) makeSpace(s int32) int32 {
	if len(d.sets) < maxStates && d.size < maxSize {
		return s
	}
	set, before := d.sets[s], d.before[s]
	d.resets++
	d.reset()
	return d.state(set, before)
}
