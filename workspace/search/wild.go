package search

import "strings"

// What a step of a compiled ignore pattern takes from a path.
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

// compileStars reads the run of stars at i and returns where the pattern goes on.
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

// compileSet reads a bracket expression from behind its bracket.
func compileSet(p string, i int) (set *byteSet, next int, ok bool) {
	set = &byteSet{}
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	last, ranged := byte(0), false // what a range could begin with
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0, false
		}
		c := p[i]
		switch {
		case c == ']' && !first:
			if negated {
				for j := range set {
					set[j] = ^set[j]
				}
			}
			return set, i + 1, true
		case c == '-' && ranged && i+1 < len(p) && p[i+1] != ']':
			i++
			if p[i] == '\\' {
				if i++; i >= len(p) {
					return nil, 0, false
				}
			}
			set.addRange(last, p[i])
			ranged = false
		case c == '[' && i+1 < len(p) && p[i+1] == ':':
			end := strings.IndexByte(p[i+2:], ']')
			if end < 0 {
				return nil, 0, false
			}
			name, closed := strings.CutSuffix(p[i+2:i+2+end], ":")
			if !closed {
				set.add('[')
				last, ranged = '[', true
				break
			}
			if !set.addClass(name) {
				return nil, 0, false
			}
			i += 2 + end
			ranged = false
		default:
			if c == '\\' {
				if i++; i >= len(p) {
					return nil, 0, false
				}
			}
			set.add(p[i])
			last, ranged = p[i], true
		}
		i++
	}
}

// addClass adds a class by its name; the classes are those of ASCII, as git has them.
func (s *byteSet) addClass(name string) bool {
	const low, high = 'a' - 'A', 0x7f
	switch name {
	case "lower":
		s.addRange('a', 'z')
	case "upper":
		s.addRange('A', 'Z')
	case "digit":
		s.addRange('0', '9')
	case "alpha":
		s.addRange('a', 'z')
		s.addRange('A', 'Z')
	case "alnum":
		s.addRange('a', 'z')
		s.addRange('A', 'Z')
		s.addRange('0', '9')
	case "xdigit":
		s.addRange('0', '9')
		s.addRange('a', 'f')
		s.addRange('A', 'F')
	case "blank":
		s.add(' ')
		s.add('\t')
	case "space":
		for _, b := range []byte(" \t\n\r") {
			s.add(b)
		}
	case "cntrl":
		s.addRange(0, low-1)
		s.add(high)
	case "print":
		s.addRange(low, high-1)
	case "graph":
		s.addRange(low+1, high-1)
	case "punct":
		s.addRange('!', '/')
		s.addRange(':', '@')
		s.addRange('[', '`')
		s.addRange('{', '~')
	default:
		return false
	}
	return true
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
			case stepByte:
				ok = t < len(text) && text[t] == s.char
			case stepAny:
				ok = t < len(text) && text[t] != '/'
			case stepSet:
				ok = t < len(text) && text[t] != '/' && s.set.has(text[t])
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
		if dirs < 0 {
			return false
		}
		i := strings.IndexByte(text[dirsAt:], '/')
		if i < 0 {
			return false
		}
		dirsAt += i + 1
		p, t = dirs, dirsAt
	}
}
