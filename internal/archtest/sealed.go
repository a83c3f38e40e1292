package archtest

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// sealed is an interface with an unexported method, and every type that carries it.
type sealed struct {
	name     string
	named    *types.Named
	iface    *types.Interface
	variants []types.Type
}

// IncompleteSwitches finds type switches over sealed interfaces that have no default and forget a
// variant. Where the type of the switched value is unknown (it came through a package from outside) the
// cases tell which interface is meant.
func (t *Tree) IncompleteSwitches() []Problem {
	var all []sealed
	for _, p := range t.Packages {
		p.check()
		all = append(all, p.sealed()...)
	}
	var out []Problem
	t.eachCode(func(p *Package, f *File) {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSwitchStmt); ok {
				if name, missing := p.missing(s, all); len(missing) > 0 {
					out = append(out, t.problem(s.Pos(), "switch over %s forgets %s: add the case, or a default that says why not",
						name, some(missing)))
				}
			}
			return true
		})
	})
	return out
}

// some joins the first few names and counts the rest.
func some(names []string) string {
	const few = 6
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// sealed lists the sealed interfaces of a package.
func (p *Package) sealed() []sealed {
	if p.pkg == nil {
		return nil
	}
	var ifaces []sealed
	var concrete []types.Type
	scope := p.pkg.Scope()
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		named, ok := obj.Type().(*types.Named)
		if !ok || named.TypeParams().Len() > 0 {
			continue
		}
		iface, ok := named.Underlying().(*types.Interface)
		switch {
		case !ok:
			concrete = append(concrete, named)
		case isSealed(iface):
			ifaces = append(ifaces, sealed{name: p.Name + "." + name, named: named, iface: iface})
		}
	}
	for i := range ifaces {
		for _, c := range concrete {
			if types.Implements(c, ifaces[i].iface) {
				ifaces[i].variants = append(ifaces[i].variants, c)
			} else if ptr := types.NewPointer(c); types.Implements(ptr, ifaces[i].iface) {
				ifaces[i].variants = append(ifaces[i].variants, ptr)
			}
		}
	}
	return slices.DeleteFunc(ifaces, func(s sealed) bool { return len(s.variants) == 0 })
}

// isSealed reports whether only the package that declares the interface can satisfy it.
func isSealed(iface *types.Interface) bool {
	for m := range iface.Methods() {
		if !m.Exported() {
			return true
		}
	}
	return false
}

// missing names the variants a switch forgets, and the interface they belong to.
func (p *Package) missing(s *ast.TypeSwitchStmt, all []sealed) (iface string, forgotten []string) {
	cases, ok := p.cases(s)
	if !ok || len(cases) == 0 {
		return "", nil
	}
	if over := p.info.TypeOf(switched(s)); over != nil && over != types.Typ[types.Invalid] {
		for _, sl := range all {
			if types.Identical(over, sl.named) {
				return sl.name, sl.missing(cases)
			}
		}
		return "", nil
	}
	for _, sl := range all {
		if !sl.holds(cases) {
			continue
		}
		m := sl.missing(cases)
		if len(m) == 0 {
			return "", nil
		}
		if iface == "" || len(m) < len(forgotten) {
			iface, forgotten = sl.name, m
		}
	}
	return iface, forgotten
}

// cases lists the types of a switch; ok is false when it has a default.
func (p *Package) cases(s *ast.TypeSwitchStmt) (out []types.Type, ok bool) {
	for _, stmt := range s.Body.List {
		clause := stmt.(*ast.CaseClause)
		if clause.List == nil {
			return nil, false
		}
		for _, e := range clause.List {
			if typ := p.info.TypeOf(e); typ != nil && typ != types.Typ[types.UntypedNil] {
				out = append(out, typ)
			}
		}
	}
	return out, true
}

// switched is x in switch v := x.(type).
func switched(s *ast.TypeSwitchStmt) ast.Expr {
	var e ast.Expr
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		e = a.X
	case *ast.AssignStmt:
		e = a.Rhs[0]
	}
	if assert, ok := e.(*ast.TypeAssertExpr); ok {
		return assert.X
	}
	return e
}

// holds reports whether every case is a variant.
func (s sealed) holds(cases []types.Type) bool {
	return !slices.ContainsFunc(cases, func(c types.Type) bool {
		return !slices.ContainsFunc(s.variants, func(v types.Type) bool { return types.Identical(v, c) })
	})
}

// missing names the variants that no case takes.
func (s sealed) missing(cases []types.Type) []string {
	var out []string
	for _, v := range s.variants {
		taken := slices.ContainsFunc(cases, func(c types.Type) bool {
			if iface, ok := c.Underlying().(*types.Interface); ok {
				return types.Implements(v, iface)
			}
			return types.Identical(v, c)
		})
		if !taken {
			out = append(out, types.TypeString(v, func(p *types.Package) string { return p.Name() }))
		}
	}
	return out
}
