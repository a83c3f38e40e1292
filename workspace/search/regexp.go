package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Regexp is a compiled regular expression with all that makes it fast. It matches within lines,
// unless it spells a line break.
type Regexp struct {
	re     *regexp.Regexp
	prog   *syntax.Prog
	finder *finder // nil where no text is known that a match must have
	sure   bool    // a line with a needle of the finder matches
	spans  bool    // it spells a line break
	looks  bool    // it looks at what is around a match, as ^, $ and \b do
}

// PatternError says why a regular expression cannot be used.
type PatternError struct {
	Expr   string
	Offset int    // of the first byte that is wrong
	At     string // the text there
	Reason string
	// Literal matches the text of Expr as it is.
	Literal string
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("the regular expression %q is wrong at byte %d, %q: %s", e.Expr, e.Offset, e.At, e.Reason)
}

// maxExpr is how long an expression may be; compiling one takes many times that in time and memory.
const maxExpr = 64 << 10

// ParseRegexp compiles an expression in the syntax of RE2, which has no look-around and no
// back-references; code points may be written as ripgrep has them, \u00e4 and \u{e4}. FoldCase makes it ignore case. Its error is a [*PatternError].
func ParseRegexp(expr string, fold Fold) (*Regexp, error) {
	if len(expr) > maxExpr {
		return nil, &PatternError{Expr: expr[:80] + "...", Offset: maxExpr, Reason: "it is too long"}
	}
	ours := codePoints(expr)
	parsed, err := syntax.Parse(ours, syntax.Perl)
	if err != nil {
		return nil, explain(expr, err)
	}
	r := &Regexp{spans: spells(parsed)}
	if r.spans { // a line break is inside the text then, so ^ and $ must mean lines
		ours = "(?m)" + ours
	}
	if fold == FoldCase {
		ours = "(?i)" + ours
	}
	if r.re, err = regexp.Compile(ours); err != nil {
		return nil, explain(expr, err)
	}
	if parsed, err = syntax.Parse(ours, syntax.Perl); err != nil {
		return nil, explain(expr, err)
	}
	if r.prog, err = syntax.Compile(parsed.Simplify()); err != nil {
		return nil, explain(expr, err)
	}
	for _, in := range r.prog.Inst {
		r.looks = r.looks || in.Op == syntax.InstEmptyWidth
	}
	r.prefilter(required(parsed))
	return r, nil
}

// Spans returns where the expression matches within a line, at most n times: pairs of bytes.
func (r *Regexp) Spans(line string, n int) [][]int { return r.re.FindAllStringIndex(line, n) }

// codePoints writes \u00e4 and \u{e4} as \x{00e4}, the form the standard library knows.
func codePoints(expr string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(expr, '\\')
		if i < 0 || i+1 == len(expr) {
			return out.String() + expr
		}
		if digits, ok := strings.CutPrefix(expr[i:], `\u`); ok {
			switch {
			case strings.HasPrefix(digits, "{"):
				out.WriteString(expr[:i] + `\x`)
				expr = digits
				continue
			case len(digits) >= 4:
				out.WriteString(expr[:i] + `\x{` + digits[:4] + `}`)
				expr = digits[4:]
				continue
			}
		}
		out.WriteString(expr[:i+2])
		expr = expr[i+2:]
	}
}

// Fold says whether case counts.
type Fold bool

// FoldCase takes letters for the same in both cases.
const FoldCase Fold = true

// prefilter looks for needles only where they are rare enough to be worth it: one letter is in
// almost every line.
func (r *Regexp) prefilter(l literals) {
	best := l.best()
	if len(best) == 0 || len(best) > maxNeeded {
		return
	}
	for _, text := range best {
		if len(text) < 2 && strings.Contains(common[:64], text) {
			return
		}
		if strings.ContainsAny(text, "\r\n") && !r.spans {
			l.sure = false // it may be the end of the line, which does not belong to it
		}
	}
	r.finder = newFinder(l)
	r.sure = l.sure && l.exact != nil
}

// spells reports whether an expression asks for a line break: by itself, or in a class that has
// nothing else but white space.
func spells(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			return true
		}
	case syntax.OpCharClass:
		return onlyBreaks(re.Rune)
	}
	return slices.ContainsFunc(re.Sub, spells)
}

func onlyBreaks(class []rune) bool {
	has := false
	for i := 0; i < len(class); i += 2 {
		low, high := class[i], class[i+1]
		has = has || low <= '\n' && '\n' <= high
		if low < '\n' || high > '\r' {
			return false
		}
	}
	return has && len(class) > 0
}

func explain(expr string, err error) error {
	out := &PatternError{Expr: expr, Reason: err.Error(), Literal: regexp.QuoteMeta(expr)}
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return out
	}
	out.Reason, out.At = wrong.Code.String(), wrong.Expr
	if i := strings.Index(expr, wrong.Expr); i >= 0 {
		out.Offset = i
	} else { // it was written in another way
		out.At = expr
	}
	switch wrong.Code {
	case syntax.ErrMissingParen, syntax.ErrInternalError:
		if wrong.Expr == expr { // the whole is named where a bracket is left open
			out.Offset, _ = parens(expr)
			out.At = expr[out.Offset:]
		}
		out.Reason = `"(" is not closed`
	case syntax.ErrUnexpectedParen:
		_, out.Offset = parens(expr)
		out.At = expr[out.Offset:]
		out.Reason = `")" closes nothing`
	case syntax.ErrMissingBracket:
		out.Reason = `"[" is not closed`
	case syntax.ErrMissingRepeatArgument:
		out.Reason = "nothing stands before it that could be repeated"
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		for _, look := range [...]string{"(?=", "(?!", "(?<=", "(?<!"} {
			if strings.HasPrefix(expr[out.Offset:], look) {
				out.At, out.Reason = look, "look-around is not supported"
			}
		}
	case syntax.ErrInvalidEscape:
		out.Reason = "unknown escape"
		if n := len(wrong.Expr); n > 1 && wrong.Expr[1] >= '1' && wrong.Expr[1] <= '9' {
			out.Reason = "back-references are not supported"
		}
	}
	if len(out.At) > 40 {
		out.At = strings.ToValidUTF8(out.At[:40], "") + "..."
	}
	return out
}

// parens returns where the last parenthesis stands that is never closed, and where the first is
// that closes none.
func parens(expr string) (open, closing int) {
	var stack []int
	class := false
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']' || expr[i-1] == '[' // a bracket that comes first is one of the class
		case c == '[':
			class = true
		case c == '(':
			stack = append(stack, i)
		case c == ')' && len(stack) == 0:
			return 0, i
		case c == ')':
			stack = stack[:len(stack)-1]
		}
	}
	if len(stack) > 0 {
		open = stack[len(stack)-1]
	}
	return open, 0
}
