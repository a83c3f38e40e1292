package archtest

import (
	"errors"
	"go/ast"
	"go/types"
)

// typed is the type information of a package. Only the module itself is checked: what comes
// from outside has no type, and whatever depends on it is unknown. That is enough to tell a
// package variable from a local one and to know our own interfaces, and it takes milliseconds
// and no build.
type typed struct {
	done bool
	pkg  *types.Package
	info types.Info
}

var errOutside = errors.New("outside the module")

// check type-checks the package, and before it what it imports.
func (p *Package) check() {
	if p.done {
		return
	}
	p.done = true
	p.info = types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	var files []*ast.File
	for _, f := range p.code() {
		files = append(files, f.AST)
	}
	config := types.Config{
		Importer:                 importerFunc(p.tree.importOurs),
		Error:                    func(error) {}, // expected: most imports are missing
		FakeImportC:              true,
		DisableUnusedImportCheck: true,
	}
	imp := p.tree.Module
	if p.Dir != "." {
		imp += "/" + p.Dir
	}
	p.pkg, _ = config.Check(imp, p.tree.fset, files, &p.info)
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(imp string) (*types.Package, error) { return f(imp) }

func (t *Tree) importOurs(imp string) (*types.Package, error) {
	dir, ours := t.dir(imp)
	p := t.byDir[dir]
	if !ours || p == nil {
		return nil, errOutside
	}
	p.check()
	if p.pkg == nil {
		return nil, errOutside // a cycle; the compiler says so better
	}
	return p.pkg, nil
}
