package archtest

import (
	"go/ast"
	"maps"
	"slices"
)

// Limits are the sizes at which a reader asks why.
type Limits struct {
	FunctionLines, FileLines int
}

// Sizes finds functions and files over the limits. Each exception maps the path of a file, or path,
// # and Type.method, to the reason it may be long; one that is not needed is a problem too.
// Tests, suites and generated files have no limits.
func (t *Tree) Sizes(limit Limits, exceptions map[string]string) []Problem {
	var out []Problem
	used := map[string]bool{}
	over := func(key string, lines, max int, p Problem) {
		if lines <= max {
			return
		}
		if exceptions[key] != "" {
			used[key] = true
			return
		}
		out = append(out, p)
	}
	t.eachCode(func(p *Package, f *File) {
		if p.isSuite() || ast.IsGenerated(f.AST) {
			return
		}
		over(f.Path, f.Lines, limit.FileLines, Problem{f.Path, "too long: a file of more than a few hundred lines hides" +
			" a second thought; split it by concept, or add it to the exceptions with the reason"})
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := t.fset.Position(fn.End()).Line - t.fset.Position(fn.Pos()).Line + 1
			key := f.Path + "#" + funcName(fn)
			over(key, lines, limit.FunctionLines, t.problem(fn.Pos(), "%s has %d lines (ask why at %d): name a piece of it,"+
				" or add %q to the exceptions with the reason", funcName(fn), lines, limit.FunctionLines, key))
		}
	})
	for _, key := range slices.Sorted(maps.Keys(exceptions)) {
		if !used[key] {
			out = append(out, Problem{key, "is within its limit or gone: take it off the list of exceptions"})
		}
	}
	return out
}

// funcName is Name, or Type.Name for a method.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	if name := typeName(fn.Recv.List[0].Type); name != "" {
		return name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// typeName is the name of a type as it is declared, without pointer, package and type arguments.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	default:
		return ""
	}
}
