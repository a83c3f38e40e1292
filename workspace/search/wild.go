package search

import "strings"

// The kinds of steps in a compiled ignore pattern.
type stepKind uint8

const (
	stepByte  stepKind = iota // that byte
	stepAny                   // any byte but a slash
	stepSet                   // one of a set, never a slash
	stepStar                  // any bytes without a slash
	stepDirs                  // nothing, or anything up to and with a slash: **/
	stepBelow                 // anything up to and with a slash: **\/
	stepRest                  // all that is left: ** at the end
)

type step struct {
	kind stepKind
	char byte
	set  *byteSet
}

// byteSet is a set of bytes. Git matches bytes, not characters.
type byteSet [4]uint64

func (s *byteSet) add(b byte) { s[b>>6] |= 1 << (b & 63) }

func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *byteSet) addRange(low, high byte) {
	for b := int(low); b <= int(high); b++ {
		s.add(byte(b))
	}
}

// compileWild makes steps of a pattern. Slashes says that it is matched against a path, where two
// stars between slashes cross them; without, it is matched against one name. It reports false for
// a pattern that can match nothing, as one with an open bracket.
func compileWild(pattern string, slashes bool) ([]step, bool) {
	var steps []step
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; c {
		case '\\':
			if i+1 == len(pattern) {
				return nil, false
			}
			steps = append(steps, step{kind: stepByte, char: pattern[i+1]})
			i += 2
		case '?':
			steps = append(steps, step{kind: stepAny})
			i++
		case '[':
			set, next, ok := compileSet(pattern, i+1)
			if !ok {
				return nil, false
			}
			steps = append(steps, step{kind: stepSet, set: set})
			i = next
		case '*':
			var s step
			s, i = compileStars(pattern, i, slashes)
			steps = append(steps, s)
		default:
			steps = append(steps, step{kind: stepByte, char: c})
			i++
		}
	}
	return steps, true
}

// compileStars reads the run of stars at i and returns where the pattern continues.
func compileStars(pattern string, i int, slashes bool) (step, int) {
	end := i
	for end < len(pattern) && pattern[end] == '*' {
		end++
	}
	rest := pattern[end:]
	if !slashes || end-i < 2 || i > 0 && pattern[i-1] != '/' {
		return step{kind: stepStar}, end
	}
	switch {
	case rest == "":
		return step{kind: stepRest}, end
	case rest[0] == '/':
		return step{kind: stepDirs}, end + 1
	case strings.HasPrefix(rest, `\/`):
		return step{kind: stepBelow}, end + 2
	}
	return step{kind: stepStar}, end
}

// compileSet reads a bracket expression from after its bracket.
func compileSet(p string, i int) (set *byteSet, next int, ok bool) {
	r := setReader{p: p, i: i, set: &byteSet{}}
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		r.i++
	}
	for first := true; r.i < len(p); first = false {
		if p[r.i] == ']' && !first {
			if negated {
				r.set.negate()
			}
			return r.set, r.i + 1, true
		}
		if !r.member() {
			break
		}
	}
	return nil, 0, false
}

func (s *byteSet) negate() {
	for j := range s {
		s[j] = ^s[j]
	}
}

// setReader reads the members of a bracket expression.
type setReader struct {
	p      string
	i      int
	set    *byteSet
	last   byte // possible start of a range
	ranged bool // it could
}

// member reads a range, a class or a byte; false says that the expression is none.
func (r *setReader) member() bool {
	switch {
	case r.p[r.i] == '-' && r.ranged && r.i+1 < len(r.p) && r.p[r.i+1] != ']':
		r.i++
		to, ok := r.byte()
		if ok {
			r.set.addRange(r.last, to)
			r.ranged = false
		}
		return ok
	case strings.HasPrefix(r.p[r.i:], "[:"):
		return r.class()
	default:
		c, ok := r.byte()
		if ok {
			r.set.add(c)
			r.last, r.ranged = c, true
		}
		return ok
	}
}

// byte reads one, which may be escaped.
func (r *setReader) byte() (c byte, ok bool) {
	if r.p[r.i] == '\\' {
		r.i++
	}
	if r.i >= len(r.p) {
		return 0, false
	}
	r.i++
	return r.p[r.i-1], true
}

// class reads [:name:]. Without its second colon the bracket is a byte like any other.
func (r *setReader) class() bool {
	end := strings.IndexByte(r.p[r.i+2:], ']')
	if end < 0 {
		return false
	}
	name, closed := strings.CutSuffix(r.p[r.i+2:r.i+2+end], ":")
	if !closed {
		r.set.add('[')
		r.last, r.ranged = '[', true
		r.i++
		return true
	}
	r.i += 3 + end
	r.ranged = false
	ranges := classes(name)
	for i := 0; i < len(ranges); i += 2 {
		r.set.addRange(ranges[i], ranges[i+1])
	}
	return ranges != ""
}

// classes are those of ASCII, as git has them: the first and the last byte of each range.
func classes(name string) string {
	return map[string]string{
		"lower": "az", "upper": "AZ", "digit": "09", "alpha": "azAZ", "alnum": "azAZ09", "xdigit": "09afAF", "blank": "  \t\t",
		"space": "  \t\n\r\r", "cntrl": "\x00\x1f\x7f\x7f", "print": " ~", "graph": "!~", "punct": "!/:@[`{~",
	}[name]
}

// takes reports whether a step for one byte takes it.
func (s *step) takes(c byte) bool {
	switch s.kind {
	case stepByte:
		return c == s.char
	case stepAny:
		return c != '/'
	default:
		return c != '/' && s.set.has(c)
	}
}

// matchWild reports whether the steps take exactly all of text. It remembers one star and one run
// of directories to go back to, which is enough: a star cannot cross the slash behind it, and a
// later run of directories can take whatever an earlier one could. So the time is bounded by the
// product of the lengths, whatever the pattern.
func matchWild(steps []step, text string) bool {
	star, dirs := -1, -1 // the step after the one to go back to
	starAt, dirsAt := 0, 0
	for p, t := 0, 0; ; {
		if p == len(steps) && t == len(text) {
			return true
		}
		ok := false
		if p < len(steps) {
			switch s := &steps[p]; s.kind {
			case stepByte, stepAny, stepSet:
				ok = t < len(text) && s.takes(text[t])
			case stepStar:
				p++
				star, starAt = p, t
				continue
			case stepDirs:
				p++
				dirs, dirsAt, star = p, t, -1
				continue
			case stepBelow:
				if i := strings.IndexByte(text[t:], '/'); i >= 0 {
					p, t = p+1, t+i+1
					dirs, dirsAt, star = p, t, -1
					continue
				}
			case stepRest:
				return true
			}
		}
		if ok {
			p, t = p+1, t+1
			continue
		}
		if star >= 0 && starAt < len(text) && text[starAt] != '/' {
			starAt++
			p, t = star, starAt
			continue
		}
		star = -1
		i := strings.IndexByte(text[dirsAt:], '/')
		if dirs < 0 || i < 0 {
			return false
		}
		dirsAt += i + 1
		p, t = dirs, dirsAt
	}
}
