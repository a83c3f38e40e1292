package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// ChangedGlobals finds package variables that change: assigned, counted, stored into, deleted
// from, handed out by address, or made of something that exists only to change (a mutex, an
// atomic, a channel). Sentinel errors, embeds, compiled patterns and tables without writes are
// fine, and so are sync.OnceValue and sync.Pool, which no reader can see change.
func (t *Tree) ChangedGlobals() []Problem {
	var out []Problem
	t.eachCode(func(p *Package, f *File) {
		p.check()
		report := func(e ast.Expr, what string) {
			if v := p.global(e); v != nil {
				out = append(out, t.problem(e.Pos(), "package variable %s is %s: make it a field of what owns it,"+
					" or an argument", v.Name(), what))
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			p.changes(n, report)
			return true
		})
		out = append(out, t.changingKinds(f)...)
	})
	return out
}

// changes reports each expression that the node changes or lets others change.
func (p *Package) changes(n ast.Node, report func(e ast.Expr, what string)) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, e := range n.Lhs {
				report(e, "assigned")
			}
		}
	case *ast.IncDecStmt:
		report(n.X, "counted")
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			report(n.Key, "assigned")
			if n.Value != nil {
				report(n.Value, "assigned")
			}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			report(n.X, "handed out by address")
		}
	case *ast.CallExpr:
		p.callChanges(n, report)
	}
}

// callChanges knows the builtins that change their argument, and methods that take a variable's address.
func (p *Package) callChanges(call *ast.CallExpr, report func(e ast.Expr, what string)) {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		if _, builtin := p.info.Uses[fn].(*types.Builtin); builtin && len(call.Args) > 0 &&
			slices.Contains([]string{"delete", "clear", "copy", "close"}, fn.Name) {
			report(call.Args[0], "changed by "+fn.Name)
		}
	case *ast.SelectorExpr:
		s := p.info.Selections[fn]
		if s == nil || s.Kind() != types.MethodVal || isPointer(s.Recv()) {
			return
		}
		if sig, ok := s.Obj().Type().(*types.Signature); ok && sig.Recv() != nil && isPointer(sig.Recv().Type()) {
			report(fn.X, "changed by its method "+fn.Sel.Name)
		}
	}
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// global is the package variable at the root of an expression such as v, v.f, v[i] or *v; else nil.
func (p *Package) global(e ast.Expr) *types.Var {
	switch e := e.(type) {
	case *ast.Ident:
		v, ok := p.info.Uses[e].(*types.Var)
		if ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			return v
		}
	case *ast.SelectorExpr:
		if v := p.global(e.Sel); v != nil { // pkg.V
			return v
		}
		return p.global(e.X)
	case *ast.IndexExpr:
		return p.global(e.X)
	case *ast.SliceExpr:
		return p.global(e.X)
	case *ast.StarExpr:
		return p.global(e.X)
	case *ast.ParenExpr:
		return p.global(e.X)
	}
	return nil
}

// changingKinds finds package variables whose type has no use but to change.
func (t *Tree) changingKinds(f *File) []Problem {
	var out []Problem
	for _, d := range f.AST.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			if kind := changingKind(f, spec); kind != "" && spec.Names[0].Name != "_" {
				out = append(out, t.problem(spec.Pos(), "package variable %s is a %s: make it a field of what owns it",
					spec.Names[0].Name, kind))
			}
		}
	}
	return out
}

func changingKind(f *File, spec *ast.ValueSpec) string {
	kind := ""
	find := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncType:
			return false
		case *ast.ChanType:
			kind = "channel"
		case *ast.SelectorExpr:
			pkg, name, _ := f.foreign(n)
			switch {
			case pkg == "sync/atomic":
				kind = "atomic." + name
			case pkg == "sync" && slices.Contains([]string{"Mutex", "RWMutex", "Once", "WaitGroup", "Cond", "Map"}, name):
				kind = "sync." + name
			}
		}
		return true
	}
	if spec.Type != nil {
		ast.Inspect(spec.Type, find)
	}
	for _, v := range spec.Values {
		ast.Inspect(v, find)
	}
	return kind
}
