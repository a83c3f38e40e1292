package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Phrase is wording that readers stumble over.
type Phrase struct {
	Pattern string // a regular expression, matched without regard to case at word boundaries
	Instead string // for the message
	In      Kind   // all kinds together; none means strings and pages
	Head    bool   // only where the text begins with it
	Fine    string // a regular expression for the text around it where the words are right
}

// Kind says where a text is.
type Kind int

const (
	InStrings Kind = 1 << iota
	InPages
	InComments
)

// Text is prose of the module that a person may read.
type Text struct {
	At    string // path:line
	Words string
}

// Texts lists the string literals of the code that hold prose, in the order of the files. Import paths, tags and patterns are not prose.
func (t *Tree) Texts() []Text {
	var out []Text
	t.eachCode(func(_ *Package, f *File) {
		tags := map[ast.Node]bool{}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				tags[n.Tag] = n.Tag != nil
			case *ast.CallExpr:
				if pkg, _, _ := f.foreign(n.Fun); pkg == "regexp" {
					return false
				}
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && !tags[n] && isProse(s) {
					out = append(out, Text{t.position(n.Pos()), s})
				}
			}
			return true
		})
	})
	return out
}

var (
	twoWords = regexp.MustCompile(`[A-Za-z]{2,},? [A-Za-z(]`)
	codeText = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|PRAGMA|WITH|package |func |#!/|<svg|@)`)
)

func isProse(s string) bool { return twoWords.MatchString(s) && !codeText.MatchString(s) }

// Language finds phrases in string literals, in Markdown outside code and in comments. allowed names
// places by file and words, each with the reason; an entry that allows nothing is a problem too.
func (t *Tree) Language(phrases []Phrase, allowed map[string]string) ([]Problem, error) {
	l := language{allowed: allowed, used: map[string]bool{}}
	for _, p := range phrases {
		l.rules = append(l.rules, compile(p))
	}
	for _, text := range t.Texts() {
		l.check(text, InStrings)
	}
	t.eachCode(func(_ *Package, f *File) {
		for _, group := range f.AST.Comments {
			l.check(Text{t.position(group.Pos()), group.Text()}, InComments)
		}
	})
	pages, err := t.pages()
	for _, p := range pages {
		for i, line := range p.prose {
			l.check(Text{fmt.Sprintf("%s:%d", p.name, i+1), mdSpan.ReplaceAllString(line, "``")}, InPages)
		}
	}
	for entry := range allowed {
		if !l.used[entry] {
			l.out = append(l.out, Problem{"allowed", fmt.Sprintf("%q allows nothing: delete the entry", entry)})
		}
	}
	return l.out, err
}

type rule struct {
	Phrase
	bad, fine *regexp.Regexp
}

func compile(p Phrase) rule {
	pattern := `(?i)\b(` + p.Pattern + `)\b`
	if p.Head {
		pattern = `(?i)^(` + p.Pattern + `)\b`
	}
	p.In = cmp.Or(p.In, InStrings|InPages)
	r := rule{Phrase: p, bad: regexp.MustCompile(pattern)}
	if p.Fine != "" {
		r.fine = regexp.MustCompile(`(?i)` + p.Fine)
	}
	return r
}

type language struct {
	rules   []rule
	allowed map[string]string
	used    map[string]bool
	out     []Problem
}

func (l *language) check(text Text, kind Kind) {
	for _, r := range l.rules {
		if kind&r.In == 0 {
			continue
		}
		for _, at := range r.bad.FindAllStringIndex(text.Words, -1) {
			around := text.Words[max(0, at[0]-30):min(len(text.Words), at[1]+30)]
			words := strings.ToLower(text.Words[at[0]:at[1]])
			if r.fine != nil && r.fine.MatchString(around) || l.isAllowed(text.At, words) {
				continue
			}
			l.out = append(l.out, Problem{text.At, fmt.Sprintf("%q in %q: write %s", words, strings.Join(strings.Fields(around), " "), r.Instead)})
		}
	}
}

// isAllowed looks for "file: words" and "folder/: words".
func (l *language) isAllowed(at, words string) bool {
	file, _, _ := strings.Cut(at, ":")
	for entry := range l.allowed {
		where, what, _ := strings.Cut(entry, ": ")
		if what == words && (where == file || strings.HasSuffix(where, "/") && strings.HasPrefix(file, where)) {
			l.used[entry] = true
			return true
		}
	}
	return false
}

// NamedComments finds doc comments of exported declarations that do not begin with the name.
func (t *Tree) NamedComments() []Problem {
	var out []Problem
	check := func(doc *ast.CommentGroup, id *ast.Ident) {
		if doc == nil || !id.IsExported() {
			return
		}
		words := strings.Fields(doc.Text())
		for len(words) > 0 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
			words = words[1:]
		}
		if len(words) > 0 && strings.TrimRight(words[0], ".,:;'s") != strings.TrimRight(id.Name, "s") && words[0] != "Deprecated:" {
			out = append(out, t.problem(doc.Pos(), "begin the comment with %s", id.Name))
		}
	}
	t.eachCode(func(_ *Package, f *File) {
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(d.Doc, d.Name)
			case *ast.GenDecl:
				if len(d.Specs) == 1 && !d.Lparen.IsValid() {
					check(d.Doc, specName(d.Specs[0]))
				}
			}
		}
	})
	return out
}

func specName(s ast.Spec) *ast.Ident {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Name
	case *ast.ValueSpec:
		return s.Names[0]
	}
	return ast.NewIdent("_")
}

func (t *Tree) position(at token.Pos) string {
	p := t.fset.Position(at)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// CommentShare is the part of a module's lines with code or comments that carry a comment, in percent. Suites, tests and the given folders do not count.
func (t *Tree) CommentShare(except ...string) float64 {
	var comments, lines int
	t.eachCode(func(p *Package, f *File) {
		if p.isSuite() || under(p.Dir, except...) {
			return
		}
		carry := map[int]bool{}
		for _, group := range f.AST.Comments {
			for _, c := range group.List {
				carry[t.fset.Position(c.Pos()).Line] = true
			}
		}
		comments += len(carry)
		lines += f.Lines - f.Blank
	})
	return 100 * float64(comments) / float64(lines)
}
