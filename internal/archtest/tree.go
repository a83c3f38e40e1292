// Package archtest checks the source tree of a module against the rules of the project:
// imports, forbidden code, sizes, language, and the truth of documents.
//
// It owns the checkers, not the rules: tables, limits and exceptions are in arch_test.go at the
// root of the module, where readers expect them. Only tests import it. It writes, runs and
// downloads nothing. No checker changes a tree, but a tree type-checks itself on first use and
// is therefore for one goroutine. Start with Load, then Imports.
package archtest

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Tree is a module as it lies on disk, parsed.
type Tree struct {
	Module   string // import path of the root
	Packages []*Package

	fsys  fs.FS
	fset  *token.FileSet
	byDir map[string]*Package
}

// Package is one directory with Go files.
type Package struct {
	Dir   string // "." for the root, else slash-separated
	Name  string
	Files []*File

	tree *Tree
	typed
}

// File is one Go file.
type File struct {
	Path  string
	AST   *ast.File
	Lines int
	Blank int  // of the lines
	Test  bool // its name ends in _test.go
}

// Problem is one broken rule: where, and what to do about it.
type Problem struct {
	At   string // path or path:line
	Text string
}

func (p Problem) String() string { return p.At + ": " + p.Text }

// Load reads the module whose go.mod lies at the top of fsys. Hidden folders, testdata, vendor, nested
// modules and files that are built only with the tag "ignore" are not part of it.
func Load(fsys fs.FS) (*Tree, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	t := &Tree{Module: modulePath(mod), fsys: fsys, fset: token.NewFileSet(), byDir: map[string]*Package{}}
	if t.Module == "" {
		return nil, errors.New("load module: go.mod has no module line")
	}
	err = walk(fsys, func(name string) error {
		if strings.HasSuffix(name, ".go") {
			return t.parse(name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	slices.SortFunc(t.Packages, func(a, b *Package) int { return cmp.Compare(a.Dir, b.Dir) })
	return t, nil
}

// walk calls f for every file that belongs to the module.
func walk(fsys fs.FS, f func(name string) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file
		}
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return f(name)
		}
		if name == "." {
			return nil
		}
		base := path.Base(name)
		if base == "testdata" || base == "vendor" || base == "node_modules" || base == "bin" || base[0] == '.' || base[0] == '_' {
			return fs.SkipDir
		}
		if _, err := fs.Stat(fsys, path.Join(name, "go.mod")); err == nil {
			return fs.SkipDir
		}
		return nil
	})
}

func modulePath(mod []byte) string {
	for line := range strings.Lines(string(mod)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return ""
}

func (t *Tree) parse(name string) error {
	src, err := fs.ReadFile(t.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(string(src), "//go:build ignore\n") {
		return nil
	}
	file, err := parser.ParseFile(t.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	p := t.byDir[dir]
	if p == nil {
		p = &Package{Dir: dir, tree: t}
		t.byDir[dir] = p
		t.Packages = append(t.Packages, p)
	}
	f := &File{
		Path:  name,
		AST:   file,
		Lines: strings.Count(string(src), "\n"),
		Blank: strings.Count(string(src), "\n\n"),
		Test:  strings.HasSuffix(name, "_test.go"),
	}
	if !f.Test {
		p.Name = file.Name.Name
	}
	p.Files = append(p.Files, f)
	return nil
}

// code yields the files that end up in a program or a library.
func (p *Package) code() []*File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f *File) bool { return f.Test })
}

// isSuite reports whether the package is test code for others to import: storetest, bustest.
func (p *Package) isSuite() bool {
	return strings.HasSuffix(p.Dir, "test") && p.Name != "main"
}

func (t *Tree) problem(at token.Pos, format string, args ...any) Problem {
	pos := t.fset.Position(at)
	return Problem{At: fmt.Sprintf("%s:%d", pos.Filename, pos.Line), Text: fmt.Sprintf(format, args...)}
}

// imports maps each import of the file to its position.
func (f *File) imports() map[string]token.Pos {
	out := map[string]token.Pos{}
	for _, spec := range f.AST.Imports {
		out[importPath(spec)] = spec.Pos()
	}
	return out
}

func importPath(spec *ast.ImportSpec) string {
	s, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return s
}

// foreign resolves pkg.Name to the import path of pkg and Name; ok is false for any other expression.
func (f *File) foreign(e ast.Expr) (pkg, name string, ok bool) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", "", false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", "", false
	}
	for _, spec := range f.AST.Imports {
		p := importPath(spec)
		local := path.Base(p)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == id.Name {
			return p, sel.Sel.Name, true
		}
	}
	return "", "", false
}

// under reports whether dir is one of the given folders or lies below one.
func under(dir string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return dir == f || strings.HasPrefix(dir, f+"/")
	})
}
