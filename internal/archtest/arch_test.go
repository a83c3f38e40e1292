package archtest

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Each checker is shown one small tree that breaks its rule and keeps it at the same time; want lists
// what it must find, by place and by a word of its message.

// load makes a module of the given files; a file without a package clause gets one.
func load(t *testing.T, files map[string]string) *Tree {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module example.com/m\n\ngo 1.26\n")}}
	for name, src := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(src)}
	}
	tree, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// expect compares problems with lines of the form "place: words".
func expect(t *testing.T, got []Problem, want ...string) {
	t.Helper()
	slices.SortFunc(got, func(a, b Problem) int { return strings.Compare(a.String(), b.String()) })
	for i, p := range got {
		if i >= len(want) {
			t.Errorf("not expected: %s", p)
			continue
		}
		at, words, _ := strings.Cut(want[i], ": ")
		if p.At != at || !strings.Contains(p.Text, words) {
			t.Errorf("problem %d:\n got %s\nwant %s", i, p, want[i])
		}
	}
	if len(got) < len(want) {
		t.Errorf("not found: %q", want[len(got):])
	}
}

func TestLoad_LeavesOutWhatIsNotTheModule(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go":                "package m",
		"b/b.go":              "package b",
		"b/b_test.go":         "package b",
		"b/testdata/x.go":     "package broken !",
		".hidden/x.go":        "package broken !",
		"_off/x.go":           "package broken !",
		"vendor/v/x.go":       "package broken !",
		"nested/go.mod":       "module nested",
		"nested/x.go":         "package broken !",
		"gen.go":              "//go:build ignore\n\npackage main",
		"onlytests/x_test.go": "package onlytests_test",
	})
	var dirs []string
	for _, p := range tree.Packages {
		dirs = append(dirs, p.Dir+" "+p.Name)
	}
	if want := []string{". m", "b b", "onlytests "}; !slices.Equal(dirs, want) {
		t.Errorf("packages %q, want %q", dirs, want)
	}
}

func TestImports(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go":                 "package m",
		"engine/e.go":          "package engine\n\nimport (\n\t_ \"example.com/m\"\n\t_ \"example.com/m/store\"\n)",
		"engine/e_test.go":     "package engine\n\nimport _ \"example.com/m/store/sqlite\"",
		"store/s.go":           "package store\n\nimport _ \"example.com/m\"",
		"store/sqlite/s.go":    "package sqlite\n\nimport (\n\t_ \"database/sql\"\n\t_ \"example.com/m/store\"\n)",
		"store/storetest/s.go": "package storetest",
		"cmd/x/main.go":        "package main\n\nimport (\n\t_ \"example.com/m/engine\"\n\t_ \"example.com/m/store/storetest\"\n)",
		"stray/x.go":           "package stray",
		"internal/in/x.go":     "package in\n\nimport (\n\t_ \"database/sql\"\n\t_ \"github.com/other/thing\"\n)",
	})
	table := Table{
		{".", nil},
		{"engine", []string{"."}},
		{"store", []string{"."}},
		{"store/*", []string{"^", "."}},
		{"cmd/...", []string{"..."}},
		{"internal/*", []string{"internal/*"}},
	}
	expect(t, tree.Imports(table),
		"engine/e.go:5: engine may not import store",
		"stray: no row in the import table")
	expect(t, tree.Suites(nil), "cmd/x/main.go:5: only tests")
	expect(t, tree.Suites(map[string]string{"cmd/x": "store/storetest"}))
	expect(t, tree.StandardOnly(nil, ".", "internal/*"), "internal/in/x.go:5: not github.com/other/thing")
	expect(t, tree.StandardOnly(map[string]string{"internal/in": "github.com/other"}, ".", "internal/*"))
	expect(t, tree.StandardOnly(map[string]string{"internal/in": "github.com/oth"}, ".", "internal/*"), "internal/in/x.go:5: not github.com/other/thing")
	expect(t, tree.Restrictions([]Restriction{{"database/sql", []string{"store/..."}, "SQL"}}),
		"internal/in/x.go:4: database/sql belongs in store/...")
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, dir, from string
		want               bool
	}{
		{"store", "store", "", true},
		{"store", "store/sqlite", "", false},
		{"store/...", "store", "", true},
		{"store/...", "store/sqlite", "", true},
		{"store/...", "storehouse", "", false},
		{"store/*", "store", "", false},
		{"store/*", "store/a/b", "", true},
		{"^", "store", "store/sqlite", true},
		{"^", "store", "bus/nats", false},
		{"...", "anything/at/all", "", true},
		{".", ".", "", true},
	} {
		if got := match(c.pattern, c.dir, c.from); got != c.want {
			t.Errorf("match(%q, %q, %q) = %v", c.pattern, c.dir, c.from, got)
		}
	}
}

func TestCode(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go": `// Package m has a comment.
package m

import (
	"fmt"
	sys "os"
)

func init() {}

type t struct{}

func (t) init() {}

func f() string {
	fmt.Println("no")
	println("no")
	_ = sys.Getenv("HOME")
	_ = "\n\tSELECT id FROM session"
	new(sys.File).SetUsageTemplate("no")
	return fmt.Sprint("Select a model", "UPDATED", "update")
}
`,
		"a_test.go":     "package m\n\nimport \"os\"\n\nfunc init() { println(os.Getenv(\"X\"), \"SELECT 1\") }",
		"store/s.go":    "package store\n\nconst q = \"SELECT 1\"",
		"cmd/x/main.go": "// Command x.\npackage main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(os.Environ()) }",
	})
	expect(t, tree.Inits(), "a.go:9: no init")
	expect(t, tree.Prints("cmd"), "a.go:16: fmt.Println", "a.go:17: println")
	expect(t, tree.Environment("config", "cmd"), "a.go:18: only config and cmd")
	expect(t, tree.CallsByName("scripts"), "a.go:20: SetUsageTemplate calls methods by name")
	expect(t, tree.SQL("store"), "a.go:19: SQL belongs in store")
	expect(t, tree.PackageComments(), "store: no package comment")
}

func TestSleeps(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go": "package m\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }",
		"a_test.go": `package m

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestA(t *testing.T) {
	time.Sleep(time.Second)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
	})
}
`,
		"bus/bustest/b.go": "package bustest\n\nimport \"time\"\n\nfunc Run() { time.Sleep(1) }",
	})
	expect(t, tree.Sleeps(), "a_test.go:10: no time.Sleep", "bus/bustest/b.go:5: no time.Sleep")
}

func TestSizes(t *testing.T) {
	long := "package m\n\nfunc (r *T[K]) long() {" + strings.Repeat("\n", 10) + "}\n\nfunc short() {\n}\n"
	tree := load(t, map[string]string{
		"a.go":                 long,
		"b.go":                 "// Code generated by hand. DO NOT EDIT.\n\n" + long,
		"a_test.go":            long,
		"store/storetest/s.go": long,
	})
	expect(t, tree.Sizes(Limits{5, 10}, nil),
		"a.go: too long", `a.go:3: T.long has 11 lines (ask why at 5): name a piece of it, or add "a.go#T.long"`)
	expect(t, tree.Sizes(Limits{5, 10}, map[string]string{"a.go": "table", "a.go#T.long": "a flat switch"}))
	expect(t, tree.Sizes(Limits{50, 100}, map[string]string{"a.go": "table", "gone.go#f": "was long"}),
		"a.go: take it off", "gone.go#f: take it off")
}

func TestBudgets(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go":               "package m\n\ntype T struct{ a, b, c int }\n\nfunc (*T) one() {}\n\nfunc (T) two() {}\n\nfunc New() {}\n\nvar A, B = 1, 2\n",
		"a_test.go":          "package m\n\nfunc (*T) three() {}\n",
		"mtest/s.go":         "package mtest\n\ntype S struct{ a, b, c int }\n",
		"small/s.go":         "package small\n",
		"store/store_gen.go": "// Code generated by hand. DO NOT EDIT.\n\npackage store\n\nvar A, B, C, D = 1, 2, 3, 4\n",
	})
	limit := Budgets{Methods: 1, Fields: 2, Lines: 10, Exported: 3}
	expect(t, tree.Budgets(limit, nil), "m.T: has 2 methods", "m.T: has 3 fields", "m: has 11 lines", "m: has 4 exported")
	expect(t, tree.Budgets(limit, map[string]Exception{
		"exported m": {4, "it is small"}, "lines m": {40, "it is long"}, "methods m.T": {1, "it is one idea"}, "fields m.T": {3, ""},
		"lines small": {6, "it is a table"}, "lines gone": {90, "it was"},
	}), "fields m.T: without a reason", "lines gone: gone", "m.T: has 2 methods, and may have 1", "m: has 11 lines: lower its exception from 40", "small: has 1 lines, which is within the budget: take it off")
}

func TestEscapesAndParticiples(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go":     "package m\n\nconst red = \"\\x1b[31m\"\n\nfunc closed() {}\n\nfunc opened() bool { return true }\n\nfunc feed() {}\n\nfunc (t T) endedNow() {}\n\ntype T int\n",
		"tui/b.go": "package tui\n\nconst red = \"\\x1b[31m\"\n",
	})
	expect(t, tree.Escapes("tui"), "a.go:3: a terminal sequence")
	expect(t, tree.Participles(), "a.go:11: T.endedNow acts", "a.go:5: closed acts")
}

func TestChangedGlobals(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go": `package m

import (
	"embed"
	"errors"
	"regexp"
	"sync"
	"sync/atomic"
)

//go:embed a.go
var files embed.FS

var (
	ErrGone = errors.New("gone")
	ErrBusy = &Error{Code: "busy"}
	pattern = regexp.MustCompile("x")
	names   = map[string]int{"a": 1}
	table   = [...]int{1, 2, 3}
	lazy    = sync.OnceValue(func() int { var mu sync.Mutex; mu.Lock(); return 1 })
	buffers = sync.Pool{New: func() any { return new(int) }}
	version = "dev"
	_       error = (*Error)(nil)
)

type Error struct{ Code string }

func (e *Error) Error() string { return e.Code }
func (e Error) Is(error) bool  { return false }
func (e *Error) set()          { e.Code = "x" }

func fine(names map[string]int) (table []int) {
	names["local"] = 1
	table = append(table, names["a"], len(files.Name()))
	version := "local"
	version += "!"
	_ = pattern.MatchString(version) && ErrBusy.Is(ErrGone) && ErrBusy.Error() == ""
	_, _ = lazy(), buffers.Get()
	return table
}
`,
		"bad.go": `package m

import (
	"sync"
	"sync/atomic"
)

var (
	count   int
	cache   = map[string]int{}
	list    []int
	current Error
	mu      sync.Mutex
	hits    atomic.Int64
	wake    = make(chan struct{})
	ptr     *int
)

func bad() {
	count++
	count += 2
	cache["a"] = 1
	delete(cache, "a")
	list = append(list, 1)
	list[0] = 2
	current.Code = "x"
	current.set()
	*ptr = 1
	for count = range list {
	}
	clear((cache))
	take(&current)
}

func take(*Error) {}
`,
		"other/o.go": "package other\n\nimport \"example.com/m\"\n\nfunc f() { m.ErrBusy.Code = \"x\" }",
	})
	expect(t, tree.ChangedGlobals(),
		"bad.go:13: mu is a sync.Mutex",
		"bad.go:14: hits is a atomic.Int64",
		"bad.go:15: wake is a channel",
		"bad.go:20: count is counted",
		"bad.go:21: count is assigned",
		"bad.go:22: cache is assigned",
		"bad.go:23: cache is changed by delete",
		"bad.go:24: list is assigned",
		"bad.go:25: list is assigned",
		"bad.go:26: current is assigned",
		"bad.go:27: current is changed by its method set",
		"bad.go:28: ptr is assigned",
		"bad.go:29: count is assigned",
		"bad.go:31: cache is changed by clear",
		"bad.go:32: current is handed out by address",
		"other/o.go:5: ErrBusy is assigned",
	)
}

func TestIncompleteSwitches(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go": `package m

type Body interface{ body() }

type Rich interface {
	Body
	Title() string
}

type (
	Text struct{}
	File struct{ path string }
	Call struct{}
)

func (Text) body()          {}
func (*File) body()         {}
func (Call) body()          {}
func (Call) Title() string  { return "" }
func (*File) Title() string { return "" }

func f(b Body, r Rich, v any) {
	switch b.(type) {
	case Text, *File, Call:
	}
	switch b.(type) {
	case nil:
	case Text:
	case Rich:
	}
	switch b := b.(type) {
	case Text:
		_ = b
	default:
	}
	switch v.(type) {
	case Text:
	}
	switch r.(type) {
	case *File, Call:
	}
	switch b.(type) {
	case Text, Call:
	}
	switch r.(type) {
	case Call:
	}
}
`,
		"other/o.go": `package other

import (
	"iter"

	"example.com/m"
)

func f(seq iter.Seq[m.Body]) {
	for b := range seq {
		switch b.(type) {
		case m.Text:
		}
		switch b.(type) {
		case m.Text, *m.File, m.Call:
		}
	}
}
`,
	})
	expect(t, tree.IncompleteSwitches(),
		"a.go:42: switch over m.Body forgets *m.File",
		"a.go:45: switch over m.Rich forgets *m.File",
		"other/o.go:11: switch over m.Body forgets m.Call, *m.File",
	)
}
