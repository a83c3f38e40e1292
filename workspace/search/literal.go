package search

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLiterals = 16  // of which one must be there, while they are put together
	maxNeeded   = 4   // that are looked for: beyond that reading every byte once is faster
	maxLiteral  = 100 // bytes of one
)

// literals are the literal texts in the matches of a regular expression.
type literals struct {
	// exact are all texts it can match; nil where they are too many to list.
	exact []string
	// need has a text that every match contains, or several of which it contains one; nil if there
	// is none that is known.
	need []string
	// fold says that the texts are in lower case and case does not count.
	fold bool
	// sure says that exact is the whole truth: whatever contains one of the texts matches.
	sure bool
}

// required finds the literals of a parsed expression. It leaves out what cannot be looked for as
// bytes: text that is not ASCII where case does not count.
func required(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return literals{exact: []string{""}, sure: true}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return literals{exact: []string{""}}
	case syntax.OpLiteral:
		return literalOf(re)
	case syntax.OpCharClass:
		return classOf(re)
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpConcat:
		return concatOf(re.Sub)
	case syntax.OpAlternate:
		return alternateOf(re.Sub)
	case syntax.OpQuest:
		sub := required(re.Sub[0])
		if sub.exact == nil || len(sub.exact) >= maxLiterals {
			return literals{}
		}
		sub.exact = append(sub.exact[:len(sub.exact):len(sub.exact)], "")
		return sub
	case syntax.OpPlus:
		return atLeastOnce(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return atLeastOnce(re.Sub[0])
		}
	}
	return literals{}
}

func atLeastOnce(re *syntax.Regexp) literals {
	sub := required(re)
	return literals{need: sub.best(), fold: sub.fold}
}

func literalOf(re *syntax.Regexp) literals {
	text := string(re.Rune)
	if strings.ContainsRune(text, utf8.RuneError) { // it also stands for any broken byte
		return literals{}
	}
	if re.Flags&syntax.FoldCase == 0 {
		return literals{exact: []string{text}, sure: true}
	}
	if !isASCII(text) {
		longest := longestASCII(text)
		if longest == "" {
			return literals{fold: true}
		}
		return literals{need: []string{longest}, fold: true}
	}
	return literals{exact: []string{strings.ToLower(text)}, fold: hasLetter(text), sure: true}
}

func longestASCII(text string) string {
	best := ""
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return strings.ToLower(best)
}

func classOf(re *syntax.Regexp) literals {
	n := 0
	for i := 0; i < len(re.Rune); i += 2 {
		if n += int(re.Rune[i+1]-re.Rune[i]) + 1; n > maxNeeded || re.Rune[i+1] == unicode.MaxRune {
			return literals{}
		}
	}
	var all []string
	for i := 0; i < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if r == utf8.RuneError {
				return literals{}
			}
			all = append(all, string(r))
		}
	}
	return literals{exact: all, sure: true} // a class has its letters in both cases where case does not count
}

// concatOf puts the texts of neighbors together as long as they can be listed, and keeps the best
// of what it met.
func concatOf(subs []*syntax.Regexp) literals {
	run := literals{exact: []string{""}, sure: true}
	var best literals
	whole := true
	for _, sub := range subs {
		next := required(sub)
		if joined, ok := join(run, next); ok {
			run = joined
			continue
		}
		whole = false
		best = better(best, literals{need: run.best(), fold: run.fold})
		best = better(best, literals{need: next.best(), fold: next.fold})
		run = literals{exact: []string{""}, sure: true}
		if next.exact != nil {
			run = next
		}
	}
	if whole {
		return run
	}
	return better(best, literals{need: run.best(), fold: run.fold})
}

func join(a, b literals) (literals, bool) {
	if a.exact == nil || b.exact == nil || len(a.exact)*len(b.exact) > maxLiterals {
		return literals{}, false
	}
	out := literals{fold: a.fold || b.fold, sure: a.sure && b.sure}
	for _, x := range a.exact {
		for _, y := range b.exact {
			if len(x)+len(y) > maxLiteral {
				return literals{}, false
			}
			if out.fold && (!a.fold && !small(x) || !b.fold && !small(y)) {
				return literals{}, false // one half counts case and has capitals, or more than ASCII
			}
			// Where one half counts case and the other does not, looking for both without is only
			// a first look.
			halves := a.fold != b.fold && (!a.fold && hasLetter(x) || !b.fold && hasLetter(y))
			out.sure = out.sure && !halves
			out.exact = append(out.exact, x+y)
		}
	}
	return out, true
}

func alternateOf(subs []*syntax.Regexp) literals {
	out := literals{exact: []string{}, sure: true}
	var needs []literals
	fold := false
	for _, sub := range subs {
		l := required(sub)
		needs = append(needs, l)
		fold = fold || l.fold
	}
	for _, l := range needs {
		if fold && !l.fold { // cannot be looked for together unless nothing is lost by it
			if slices.ContainsFunc(slices.Concat(l.exact, l.need), func(text string) bool { return !small(text) }) {
				return literals{}
			}
			l.sure = false
		}
		best := l.best()
		if best == nil || len(out.need)+len(best) > maxLiterals {
			return literals{}
		}
		out.need = append(out.need, best...)
		out.sure = out.sure && l.sure && l.exact != nil
		if l.exact == nil || out.exact == nil {
			out.exact = nil
		} else {
			out.exact = append(out.exact, l.exact...)
		}
	}
	out.fold = fold
	if out.exact != nil && len(out.exact) <= maxLiterals {
		out.need = nil
		return out
	}
	return literals{need: out.need, fold: fold}
}

// best returns the texts of which one must be there, nil if that can be the empty one.
func (l literals) best() []string {
	texts := l.need
	if l.exact != nil {
		texts = l.exact
	}
	for _, t := range texts {
		if t == "" {
			return nil
		}
	}
	return texts
}

// better chooses the rarer texts: long ones, few of them.
func better(a, b literals) literals {
	if score(b) > score(a) {
		return b
	}
	return a
}

func score(l literals) int {
	if len(l.need) == 0 {
		return -1
	}
	shortest := len(l.need[0])
	for _, t := range l.need {
		shortest = min(shortest, len(t))
	}
	s := 8*min(shortest, 12) - 3*(len(l.need)-1)
	if l.fold {
		s -= 4
	}
	if len(l.need) > maxNeeded {
		s -= 80
	}
	return max(s, 0)
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

func hasLetter(text string) bool { return strings.ToLower(text) != strings.ToUpper(text) }

// small reports whether a text can be looked for without counting case.
func small(text string) bool { return isASCII(text) && strings.ToLower(text) == text }
