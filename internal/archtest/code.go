package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Inits finds init functions.
func (t *Tree) Inits() []Problem {
	var out []Problem
	t.eachCode(func(_ *Package, f *File) {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, t.problem(fn.Pos(), "no init: let main call what it needs, in plain Go"))
			}
		}
	})
	return out
}

// PackageComments finds packages that do not say what they own.
func (t *Tree) PackageComments() []Problem {
	var out []Problem
	for _, p := range t.Packages {
		files := p.code()
		if len(files) == 0 {
			continue
		}
		if !slices.ContainsFunc(files, func(f *File) bool { return f.AST.Doc.Text() != "" }) {
			out = append(out, Problem{p.Dir, "no package comment: say what the package owns, what it does not," +
				" its rules of concurrency and where to start reading"})
		}
	}
	return out
}

// Prints finds fmt.Print, Printf, Println and the builtin print outside the given folders.
func (t *Tree) Prints(folders ...string) []Problem {
	return t.calls(folders, func(f *File, call *ast.CallExpr) string {
		pkg, name, ok := f.foreign(call.Fun)
		if ok && pkg == "fmt" && strings.HasPrefix(name, "Print") {
			return "fmt." + name + " writes to the user's screen: return the text, or write to an io.Writer you were given"
		}
		if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
			return id.Name + " is for debugging: take it out"
		}
		return ""
	})
}

// Environment finds code that reads or changes the environment outside the given folders.
func (t *Tree) Environment(folders ...string) []Problem {
	names := []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv"}
	return t.calls(folders, func(f *File, call *ast.CallExpr) string {
		pkg, name, ok := f.foreign(call.Fun)
		if ok && (pkg == "os" || pkg == "syscall") && slices.Contains(names, name) {
			return pkg + "." + name + ": only " + strings.Join(folders, " and ") +
				" read the environment; take the value as an argument"
		}
		return ""
	})
}

// CallsByName finds what makes the linker keep every exported method of the program: methods that are called by their name, which
// the templates of the standard library and of cobra do.
func (t *Tree) CallsByName(folders ...string) []Problem {
	names := []string{"MethodByName", "SetUsageTemplate", "SetHelpTemplate", "SetVersionTemplate"}
	return t.calls(folders, func(_ *File, call *ast.CallExpr) string {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(names, sel.Sel.Name) {
			return sel.Sel.Name + " calls methods by name, so the linker keeps all of them (3 MB): write it in Go"
		}
		return ""
	})
}

// calls asks about each call in code outside the given folders; a reason makes it a problem.
func (t *Tree) calls(except []string, reason func(*File, *ast.CallExpr) string) []Problem {
	var out []Problem
	t.eachCode(func(p *Package, f *File) {
		if under(p.Dir, except...) {
			return
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if why := reason(f, call); why != "" {
					out = append(out, t.problem(call.Pos(), "%s", why))
				}
			}
			return true
		})
	})
	return out
}

// sqlText recognizes the beginning of a statement. It is a guess, and a good one: prose does not shout.
var sqlText = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE FROM|CREATE (TABLE|INDEX)|ALTER TABLE|PRAGMA)\s`)

// SQL finds statements outside the given folders.
func (t *Tree) SQL(folders ...string) []Problem {
	var out []Problem
	t.eachCode(func(p *Package, f *File) {
		if under(p.Dir, folders...) {
			return
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(lit.Value); err == nil && sqlText.MatchString(s) {
				out = append(out, t.problem(lit.Pos(), "SQL belongs in %s: give the store a method that says what you want",
					strings.Join(folders, " or ")))
			}
			return true
		})
	})
	return out
}

// Sleeps finds time.Sleep in tests and suites. In a synctest bubble sleeping moves a virtual
// clock, so what is inside the call of synctest.Test is left alone.
func (t *Tree) Sleeps() []Problem {
	var out []Problem
	for _, p := range t.Packages {
		for _, f := range p.Files {
			if !f.Test && !p.isSuite() {
				continue
			}
			ast.Inspect(f.AST, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				pkg, name, _ := f.foreign(call.Fun)
				if pkg == "time" && name == "Sleep" {
					out = append(out, t.problem(call.Pos(), "no time.Sleep in tests: wait for what you expect,"+
						" or test in virtual time inside synctest.Test"))
				}
				return pkg != "testing/synctest"
			})
		}
	}
	return out
}

func (t *Tree) eachCode(f func(*Package, *File)) {
	for _, p := range t.Packages {
		for _, file := range p.code() {
			f(p, file)
		}
	}
}
