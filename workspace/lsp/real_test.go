package lsp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/lsptest"
	"github.com/lathe-agent/lathe/workspace/lsp"
)

// realFixture is a project with real servers.
func realFixture(t testing.TB, files map[string]string, programs ...string) *fixture {
	t.Helper()
	env := lsptest.Env(t, programs...)
	f := newFixture(t, func(o *lsp.Options, _ *lsp.Project) { o.Env = env })
	for name, text := range files {
		f.put(name, text)
	}
	return f
}

// realStep is an edit and a part of the report that follows; "" is an empty report.
type realStep struct{ file, text, want string }

// Each server goes through the life of an error: an edit without one, one that brings it, one that repairs it, and one
// that brings it back. The files had an error before, which no report has.
func TestReal_Cycle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		program string
		files   map[string]string
		steps   []realStep
	}{
		"gopls": {
			program: "gopls",
			files: map[string]string{
				"go.mod": "module example.org/x\n\ngo 1.24\n", "b.go": "package x\n\nvar B = Add(1, 2)\n\nvar old int = \"\"\n",
				"a.go": "package x\n\nfunc Add(a, b int) int { return a + b }\n",
			},
			steps: []realStep{
				{"a.go", "package x\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n", ""},
				{"a.go", "package x\n\nfunc Add(a, b int) int { return a + c }\n", "a.go:3: undefined: c"},
				{"a.go", "package x\n\nfunc Add(a, b int) int { return b + a }\n", ""},
				{"a.go", "package x\n\nfunc Add(a, b, c int) int { return a + b + c }\n", "b.go:3: not enough arguments"},
				{"a.go", "package x\n\nfunc Add(a, b int) int { return b + a }\n", ""},
			},
		},
		"pyright": {
			program: "pyright-langserver",
			files:   map[string]string{"pyproject.toml": "[project]\nname = \"x\"\n", "a.py": "def f(x: int) -> int:\n    return x\n\n\nold: int = \"\"\n"},
			steps: []realStep{
				{"a.py", "def f(x: int) -> int:\n    return x + 1\n\n\nold: int = \"\"\n", ""},
				{"a.py", "def f(x: int) -> int:\n    return x + 1\n\n\nold: int = \"\"\nf(\"ä🙂\"); f(\"s\")\n", "a.py:6: Argument of type"},
				{"a.py", "def f(x: int) -> int:\n    return x + 1\n\n\nold: int = \"\"\nf(2)\n", ""},
				{"a.py", "def f(x: int) -> int:\n    return y\n\n\nold: int = \"\"\nf(2)\n", "a.py:2: \"y\" is not defined"},
			},
		},
		"typescript": {
			program: "tsc",
			files: map[string]string{
				"package.json": "{}", "tsconfig.json": `{"compilerOptions": {"strict": true, "module": "esnext"}}`,
				"a.ts": "export const add = (a: number, b: number) => a + b\n", "b.ts": "import {add} from './a'\nexport const b = add(1, 2)\n",
			},
			steps: []realStep{
				{"b.ts", "import {add} from './a'\nexport const b = add(1, 3)\n", ""},
				{"a.ts", "export const add = (a: number, b: number) => a + c\n", "a.ts:1: Cannot find name 'c'"},
				{"a.ts", "export const add = (a: number, b: number) => a + b\n", ""},
				{"a.ts", "export const add = (a: number, b: number, c: number) => a + b + c\n", "b.ts:2: Expected 3 arguments"},
				{"a.ts", "export const add = (a: number, b: number) => a + b\n", ""},
			},
		},
		"clangd": {
			program: "clangd",
			files:   map[string]string{"compile_flags.txt": "-Wall\n", "a.c": "int f(int x) { return x; }\nint old = \"\" + ;\n"},
			steps: []realStep{
				{"a.c", "int f(int x) { return x + 1; }\nint old = \"\" + ;\n", ""},
				{"a.c", "int f(int x) { return y; }\nint old = \"\" + ;\n", "a.c:1: Use of undeclared identifier 'y'"},
				{"a.c", "int f(int x) { return x; }\nint old = \"\" + ;\n", ""},
			},
		},
		"bash": {
			program: "bash-language-server",
			files:   map[string]string{"a.sh": "#!/bin/bash\necho one\n"},
			steps: []realStep{
				{"a.sh", "#!/bin/bash\necho two\n", ""},
				{"a.sh", "#!/bin/bash\nif true; then\necho two\n", "a.sh:"},
				{"a.sh", "#!/bin/bash\nif true; then\necho two\nfi\n", ""},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "bash" {
				_ = lsptest.Env(t, "shellcheck") // which finds its errors
			}
			f := realFixture(t, tt.files, tt.program)
			for i, step := range tt.steps {
				started := time.Now()
				got := f.edit(step.file, step.text)
				t.Logf("edit %d took %s", i, time.Since(started).Round(time.Millisecond))
				if step.want == "" && got != "" || !strings.Contains(got, step.want) || strings.Contains(got, "old") {
					t.Fatalf("edit %d of %s: %q, want %q", i, step.file, got, step.want)
				}
			}
			if list := f.servers.Status(f.project); len(list) != 1 || list[0].State != lsp.Running || list[0].Memory == 0 && os.Getenv("OS") == "" {
				t.Errorf("%+v", list)
			}
		})
	}
}

// goProject is a module of n files that use a symbol, whose lines have characters of every width.
func goProject(n int) map[string]string {
	files := map[string]string{
		"go.mod":  "module example.org/x\n\ngo 1.24\n",
		"core.go": "package x\n\n// Kern runs.\nfunc Kern(s string) int { return helper(s) }\n\nfunc helper(s string) int { return len(s) }\n\ntype Box struct{}\n\nfunc (b *Box) Open() int { return Kern(\"b\") }\n",
	}
	for i := range n {
		files[fmt.Sprintf("f%02d.go", i)] = fmt.Sprintf("package x\n\nvar V%02d = len(\"ä🙂\") + Kern(\"é\") // Kern stays in texts: \"Kern\"\n", i)
	}
	return files
}

// Symbols are found by name, and a rename covers every file: the positions of a server count in units of its own.
func TestReal_Queries(t *testing.T) {
	t.Parallel()
	f := realFixture(t, goProject(30), "gopls")
	ctx, core := t.Context(), filepath.Join(f.dir, "core.go")
	at := func(q lsp.Query, err error, places []lsp.Place) string {
		t.Helper()
		if err != nil {
			t.Errorf("%+v: %v", q, err)
			return ""
		}
		out := make([]string, len(places))
		for i, p := range places {
			out[i] = fmt.Sprintf("%s:%d: %s", filepath.Base(p.Path), p.Line, p.Text)
		}
		return strings.Join(out, "\n")
	}
	q := lsp.Query{Path: core, Symbol: "Kern"}
	definition, err := f.servers.Definition(ctx, f.project, lsp.Query{Path: filepath.Join(f.dir, "f07.go"), Symbol: "Kern"})
	if got := at(q, err, definition); got != "core.go:4: func Kern(s string) int { return helper(s) }" {
		t.Errorf("definition: %q", got)
	}
	references, err := f.servers.References(ctx, f.project, q)
	if got := at(q, err, references); len(references) != 32 || !strings.Contains(got, "f29.go:3: var V29") {
		t.Errorf("%d references: %q", len(references), got)
	}
	if text, err := f.servers.Hover(ctx, f.project, q); err != nil || !strings.Contains(text, "func Kern(s string) int") || !strings.Contains(text, "Kern runs.") {
		t.Errorf("hover: %q, %v", text, err)
	}
	callers, err := f.servers.Calls(ctx, f.project, lsp.Query{Path: core, Symbol: "helper"}, true)
	if err != nil || len(callers) != 1 || callers[0].Name != "Kern" {
		t.Errorf("callers: %+v, %v", callers, err)
	}
	callees, err := f.servers.Calls(ctx, f.project, lsp.Query{Path: core, Symbol: "Box.Open"}, false)
	if err != nil || len(callees) != 1 || callees[0].Name != "Kern" {
		t.Errorf("callees: %+v, %v", callees, err)
	}
	symbols, err := f.servers.FileSymbols(ctx, f.project, core)
	if names := symbolNames(symbols); err != nil || !slices.Equal(names, []string{"Kern", "helper", "Box", "(*Box).Open"}) {
		t.Errorf("symbols of a file: %q, %v", names, err)
	}
	symbols, err = f.servers.Symbols(ctx, f.project, "Kern")
	if err != nil || len(symbols) == 0 || symbols[0].Path != core {
		t.Errorf("symbols: %+v, %v", symbols, err)
	}
	checkRename(t, f)
}

func symbolNames(list []lsp.Symbol) (out []string) {
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}

// checkRename renames over all files, and back.
func checkRename(t *testing.T, f *fixture) {
	t.Helper()
	before := goProject(30)
	edits, err := f.servers.Rename(t.Context(), f.project, lsp.Query{Symbol: "Kern"}, "Core")
	if err != nil || len(edits) != 31 {
		t.Fatalf("%d files, %v", len(edits), err)
	}
	var changes []lsp.Change
	for _, e := range edits {
		name := filepath.Base(e.Path)
		if want := strings.ReplaceAll(strings.ReplaceAll(before[name], "Kern(", "Core("), "// Kern runs", "// Core runs"); e.Before != before[name] || e.After != want {
			t.Fatalf("%s: %q, want %q", name, e.After, want)
		}
		f.put(name, e.After)
		changes = append(changes, lsp.Change{Path: e.Path, Before: e.Before, Known: true, Existed: true})
	}
	f.servers.Change(f.project, "ses", changes)
	if got := f.results(time.Minute).Text(f.dir); got != "" {
		t.Errorf("after the rename: %q", got)
	}
	for _, e := range edits { // an undo tells nobody: the server must find out before it answers
		f.put(filepath.Base(e.Path), e.Before)
	}
	again, err := f.servers.Rename(t.Context(), f.project, lsp.Query{Path: edits[0].Path, Symbol: "Kern"}, "Other")
	if err != nil || len(again) != 31 || again[0].Before != edits[0].Before {
		t.Errorf("after the undo: %d files, %v", len(again), err)
	}
}
