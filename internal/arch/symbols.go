package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// Symbol says whether a name such as lathe.Session.Parent or store/sqlite.Open is declared in the module,
// exported or not; the error says which piece of it is missing. The root package goes by its name.
func (t *Tree) Symbol(name string) error {
	dir, base := path.Split(name)
	pkg, rest, ok := strings.Cut(base, ".")
	if !ok {
		return fmt.Errorf("%s is not package.Name", name)
	}
	p := t.byDir[path.Join(dir, pkg)]
	if root := t.byDir["."]; p == nil && dir == "" && root != nil && root.Name == pkg {
		p = root
	}
	if p == nil || len(p.code()) == 0 {
		return fmt.Errorf("there is no package %s", path.Join(dir, pkg))
	}
	owner, member, nested := strings.Cut(rest, ".")
	s := p.symbols()
	if !s.top[owner] {
		return fmt.Errorf("package %s declares no %s", p.Name, owner)
	}
	if nested && !s.has(owner, member) {
		return fmt.Errorf("%s.%s has no field or method %s", p.Name, owner, member)
	}
	return nil
}

// symbols are the declarations of one package: its names, and the fields and methods of its types.
type symbols struct {
	top     map[string]bool
	members map[string]map[string]bool
	embeds  map[string][]string
}

func (p *Package) symbols() symbols {
	s := symbols{top: map[string]bool{}, members: map[string]map[string]bool{}, embeds: map[string][]string{}}
	for _, f := range p.code() {
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					s.top[d.Name.Name] = true
				} else if len(d.Recv.List) > 0 {
					s.add(typeName(d.Recv.List[0].Type), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					s.spec(spec)
				}
			}
		}
	}
	return s
}

func (s symbols) spec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			s.top[n.Name] = true
		}
	case *ast.TypeSpec:
		s.top[spec.Name.Name] = true
		var fields *ast.FieldList
		switch t := spec.Type.(type) {
		case *ast.StructType:
			fields = t.Fields
		case *ast.InterfaceType:
			fields = t.Methods
		case *ast.Ident: // type T U has the fields of U
			s.embeds[spec.Name.Name] = append(s.embeds[spec.Name.Name], t.Name)
		}
		if fields == nil {
			return
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				s.add(spec.Name.Name, n.Name)
			}
			if embedded := typeName(f.Type); len(f.Names) == 0 && embedded != "" {
				s.add(spec.Name.Name, embedded)
				s.embeds[spec.Name.Name] = append(s.embeds[spec.Name.Name], embedded)
			}
		}
	}
}

func (s symbols) add(owner, member string) {
	if s.members[owner] == nil {
		s.members[owner] = map[string]bool{}
	}
	s.members[owner][member] = true
}

// has looks for a member in a type and in what it embeds from the same package.
func (s symbols) has(owner, member string) bool {
	queue := []string{owner}
	for i := 0; i < len(queue); i++ {
		if s.members[queue[i]][member] {
			return true
		}
		for _, e := range s.embeds[queue[i]] {
			if !slices.Contains(queue, e) {
				queue = append(queue, e)
			}
		}
	}
	return false
}
