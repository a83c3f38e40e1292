package archtest

import (
	"path"
	"strings"
)

// Rule says what the packages that match From may import of their own module.
//
// A pattern is a folder ("store"), a folder and all below it ("store/..."), only what is below it
// ("store/*"), "." for the root, "..." for everything, or "^" for the parent of the importing package.
type Rule struct {
	From string
	May  []string
}

// Table is read from the top; the first rule that matches a package is the one that holds for it.
type Table []Rule

// Restriction says that a package from outside may be imported only in some places.
type Restriction struct {
	Import string // an import path; everything below it is meant too
	Only   []string
	Why    string
}

// Imports holds the import graph against the table.
func (t *Tree) Imports(table Table) []Problem {
	var out []Problem
	for _, p := range t.Packages {
		if len(p.code()) == 0 {
			continue
		}
		rule, ok := table.find(p.Dir)
		if !ok {
			out = append(out, Problem{p.Dir, "no row in the import table: add one here and in docs/architecture.md"})
			continue
		}
		for _, f := range p.code() {
			for imp, pos := range f.imports() {
				dir, ours := t.dir(imp)
				if !ours || matchAny(rule.May, dir, p.Dir) {
					continue
				}
				out = append(out, t.problem(pos, "%s may not import %s (row %q of the import table): move the type"+
					" to the root package, or declare a small interface where it is called", p.Dir, dir, rule.From))
			}
		}
	}
	return out
}

// Suites finds test suites that are imported outside tests. Each folder of allowed may import the suite
// it is mapped to.
func (t *Tree) Suites(allowed map[string]string) []Problem {
	var out []Problem
	for _, p := range t.Packages {
		if t.isSuite(p.Dir) { // suites may use each other
			continue
		}
		for _, f := range p.code() {
			for imp, pos := range f.imports() {
				dir, ours := t.dir(imp)
				if !ours || !t.isSuite(dir) || allowed[p.Dir] == dir {
					continue
				}
				out = append(out, t.problem(pos, "%s is a suite: only tests import it", dir))
			}
		}
	}
	return out
}

// StandardOnly finds imports of other modules in packages that must do with the standard library. One
// that may have something else is named in except with the module.
func (t *Tree) StandardOnly(except map[string]string, folders ...string) []Problem {
	var out []Problem
	for _, p := range t.Packages {
		if !matchAny(folders, p.Dir, p.Dir) {
			continue
		}
		for _, f := range p.code() {
			for imp, pos := range f.imports() {
				_, ours := t.dir(imp)
				if first, _, _ := strings.Cut(imp, "/"); !ours && strings.Contains(first, ".") && (except[p.Dir] == "" || !under(imp, except[p.Dir])) {
					out = append(out, t.problem(pos, "%s uses the standard library only, not %s", p.Dir, imp))
				}
			}
		}
	}
	return out
}

// Restrictions finds imports of fenced packages outside their places.
func (t *Tree) Restrictions(fences []Restriction) []Problem {
	var out []Problem
	for _, p := range t.Packages {
		for _, f := range p.code() {
			for imp, pos := range f.imports() {
				for _, fence := range fences {
					if under(imp, fence.Import) && !matchAny(fence.Only, p.Dir, p.Dir) {
						out = append(out, t.problem(pos, "%s belongs in %s: %s",
							imp, strings.Join(fence.Only, " or "), fence.Why))
					}
				}
			}
		}
	}
	return out
}

func (t Table) find(dir string) (Rule, bool) {
	for _, r := range t {
		if match(r.From, dir, dir) {
			return r, true
		}
	}
	return Rule{}, false
}

// dir maps an import path to a folder of the module.
func (t *Tree) dir(imp string) (dir string, ours bool) {
	if imp == t.Module {
		return ".", true
	}
	return strings.CutPrefix(imp, t.Module+"/")
}

func (t *Tree) isSuite(dir string) bool {
	p := t.byDir[dir]
	return p != nil && p.isSuite()
}

func matchAny(patterns []string, dir, from string) bool {
	for _, p := range patterns {
		if match(p, dir, from) {
			return true
		}
	}
	return false
}

func match(pattern, dir, from string) bool {
	if pattern == "..." {
		return true
	}
	if pattern == "^" {
		return dir == path.Dir(from)
	}
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return under(dir, base)
	}
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}
