package lathe_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// Every variant that the source declares has a sample, so that no test that walks the
// samples forgets one.
func TestVariants_AllHaveSamples(t *testing.T) {
	declared := declaredMethods(t)
	families := map[string]struct {
		methods []string // a type that has them all belongs to the family
		samples []string
	}{
		"Body":      {[]string{"Kind", "fields"}, names(lathetest.Bodies())},
		"Fact":      {[]string{"Type", "fields"}, names(append(lathetest.Facts(), lathetest.Unpublished()...))},
		"ToolState": {[]string{"Status", "fields"}, names(lathetest.ToolStates())},
		"Said":      {[]string{"Role", "fields"}, names(lathetest.RoleData())},
		"Fault":     {[]string{"Name", "fields"}, names(lathetest.Faults())},
		"Input":     {[]string{"input"}, names(lathetest.Inputs())},
	}
	for family, f := range families {
		var want []string
		for typ, methods := range declared {
			if !slices.ContainsFunc(f.methods, func(m string) bool { return !slices.Contains(methods, m) }) {
				want = append(want, typ)
			}
		}
		slices.Sort(want)
		if got := slices.Compact(slices.Sorted(slices.Values(f.samples))); !slices.Equal(got, want) {
			t.Errorf("%s: samples of %v, declared are %v", family, got, want)
		}
	}
}

// Every fact that has a name on the wire is read back as itself and not as one that is
// unknown; no two share a name.
func TestVariants_NamesOnTheWire(t *testing.T) {
	byName := map[string]string{}
	for _, f := range lathetest.Facts() {
		typ := fmt.Sprintf("%T", f)
		if other := byName[f.Type()]; other != "" && other != typ {
			t.Errorf("%s and %s are both called %s", typ, other, f.Type())
		}
		byName[f.Type()] = typ
		var e lathe.Event
		if err := e.UnmarshalJSON(sampleEvent(f).AppendJSON(nil)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%T", e.Fact); got != typ {
			t.Errorf("%s is read as %s", typ, got)
		}
	}
	for _, f := range lathetest.Unpublished() {
		if f.Type() != "" {
			t.Errorf("%T has the name %q: it belongs to Facts", f, f.Type())
		}
	}
}

// The families are closed: what belongs to one does not pass for a member of another.
func TestVariants_FamiliesAreApart(t *testing.T) {
	for _, b := range lathetest.Bodies() {
		if _, ok := b.(lathe.Fact); ok {
			t.Errorf("%T is a body and passes for a fact", b)
		}
	}
	for _, f := range lathetest.Facts() {
		if _, ok := f.(lathe.Body); ok {
			t.Errorf("%T is a fact and passes for a body", f)
		}
	}
}

// declaredMethods lists the methods of each exported type of this package.
func declaredMethods(t *testing.T) map[string][]string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			typ := fn.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if id, ok := typ.(*ast.Ident); ok && id.IsExported() {
				out[id.Name] = append(out[id.Name], fn.Name.Name)
			}
		}
	}
	return out
}

// names are the names of the samples' types.
func names[T any](samples []T) []string {
	var out []string
	for _, s := range samples {
		name := fmt.Sprintf("%T", s)
		out = append(out, name[strings.LastIndex(name, ".")+1:])
	}
	return out
}
