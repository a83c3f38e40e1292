package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Budgets are how much of one thing a newcomer takes in at once.
type Budgets struct {
	Methods  int // of a type
	Fields   int // of a struct
	Lines    int // of a package
	Exported int // names of a package: types, functions, variables and constants
}

// Exception is an exception from a budget: how much there may be, and why.
type Exception struct {
	Max int
	Why string
}

// Budgets finds exceeded budgets. An exception is named by what is counted, as "methods
// engine.Engine" or "lines engine". The list may only shrink: an exception that is not needed
// is a problem, and so is one that exceeds the number by more than a tenth. Tests and suites
// have no budgets.
func (t *Tree) Budgets(limit Budgets, ceilings map[string]Exception) []Problem {
	counts := map[string]int{}
	for _, p := range t.Packages {
		if !p.isSuite() {
			p.count(counts)
		}
	}
	most := map[string]int{"methods": limit.Methods, "fields": limit.Fields, "lines": limit.Lines, "exported": limit.Exported}
	var out []Problem
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		what, where, _ := strings.Cut(key, " ")
		n, budget := counts[key], most[what]
		c, ok := ceilings[key]
		switch {
		case n > max(budget, c.Max):
			out = append(out, Problem{where, fmt.Sprintf("has %d %s, and may have %d: give a part of it to a type or package of its own", n, what, max(budget, c.Max))})
		case ok && n <= budget:
			out = append(out, Problem{where, fmt.Sprintf("has %d %s, which is within the budget: take it off the list of exceptions", n, what)})
		case ok && n < c.Max-max(1, c.Max/10):
			out = append(out, Problem{where, fmt.Sprintf("has %d %s: lower its exception from %d", n, what, c.Max)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(ceilings)) {
		if counts[key] == 0 || ceilings[key].Why == "" {
			out = append(out, Problem{key, "is an exception of something that is gone, or without a reason"})
		}
	}
	return out
}

// place is how a package is named in exceptions.
func (p *Package) place() string {
	if p.Dir == "." {
		return p.Name
	}
	return p.Dir
}

// count adds what a package has.
func (p *Package) count(to map[string]int) {
	for _, f := range p.Files {
		if f.Test || ast.IsGenerated(f.AST) {
			continue
		}
		to["lines "+p.place()] += f.Lines
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && len(d.Recv.List) > 0 {
					to["methods "+p.place()+"."+typeName(d.Recv.List[0].Type)]++
				} else if d.Name.IsExported() {
					to["exported "+p.place()]++
				}
			case *ast.GenDecl:
				p.countSpecs(d, to)
			}
		}
	}
}

func (p *Package) countSpecs(d *ast.GenDecl, to map[string]int) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				to["exported "+p.place()]++
			}
			if st, ok := s.Type.(*ast.StructType); ok {
				to["fields "+p.place()+"."+s.Name.Name] = max(st.Fields.NumFields(), 1)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() {
					to["exported "+p.place()]++
				}
			}
		}
	}
}

// Escapes finds terminal sequences in texts outside of the packages below some folders.
func (t *Tree) Escapes(except ...string) []Problem {
	var out []Problem
	t.eachCode(func(p *Package, f *File) {
		if p.isSuite() || slices.ContainsFunc(except, func(dir string) bool { return p.Dir == dir || strings.HasPrefix(p.Dir, dir+"/") }) {
			return
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(s, "\x1b[") {
					out = append(out, t.problem(lit.Pos(), "a terminal sequence: colors and cursors belong to tui"))
				}
			}
			return true
		})
	})
	return out
}

// Participles finds functions that act and are named by what will have happened: "closed" for
// what closes. A function may be named after its result.
func (t *Tree) Participles() []Problem {
	var out []Problem
	t.eachCode(func(p *Package, f *File) {
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && !p.isSuite() && isParticiple(fn.Name.Name) && fn.Type.Results.NumFields() == 0 {
				out = append(out, t.problem(fn.Pos(), "%s acts: name it by a verb that says what it does", funcName(fn)))
			}
		}
	})
	return out
}

// isParticiple reports whether the first word of a name is one, as far as its ending tells.
func isParticiple(name string) bool {
	rest := strings.TrimLeftFunc(name[1:], unicode.IsLower)
	word := strings.ToLower(name[:len(name)-len(rest)])
	switch word {
	case "feed", "seed", "need", "speed", "exceed", "succeed", "proceed", "embed", "shed", "shred":
		return false
	}
	return len(word) > 3 && strings.HasSuffix(word, "ed")
}
