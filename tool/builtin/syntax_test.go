package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// patient gives programs time, since a machine under test is slow.
func patient() *builtin.SyntaxChecker {
	return &builtin.SyntaxChecker{Env: os.Environ(), Limit: time.Minute}
}

func TestSyntax(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, needs, file, text, want string }{
		{"go", "", "a.go", "package a\n\nfunc f() {\n", "a.go: line 3: expected '}', found 'EOF'"},
		{"go, several", "", "a.go", "package a\n\nfunc ( {\n}\nvar = 1\n", "more)"},
		{"go, fine", "", "a.go", "package a\n\nfunc f() {}\n", ""},
		{"go, unused and undefined", "", "a.go", "package a\n\nimport \"os\"\n\nfunc f() { g() }\n", ""},
		{"json", "", "a.json", "{\n\"a\": 1,\n}\n", "a.json: line 3: invalid character '}'"},
		{"json, fine", "", "a.json", "\ufeff{\"a\": [1]}\n", ""},
		{"json with comments", "", "tsconfig.base.json", "{\n// a\n\"a\": 1,\n}\n", ""},
		{"json with comments, broken", "", "tsconfig.json", "{\n// a\n\"a\": \n}\n", "tsconfig.json: line 2:"},
		{"yaml", "", "a.yaml", "a:\n  - b\n c: [1\n", "a.yaml: line "},
		{"toml", "", "a.toml", "a = 1\nb = [1,\nc = 2\n", "a.toml: line "},
		{"toml, sound", "", "a.toml", "[package]\nname = \"x\"\n", ""},
		{"yaml, fine", "", "a.yml", "a: &x\n  - b\n---\nc: *x\n", ""},
		{"yaml, a template", "", "a.yaml", "a: {{ .Values.b }}\n  {{- if }}\n", ""},
		{"shell", "bash", "a.sh", "#!/bin/sh\nif true; then\necho a\n", "a.sh: line "},
		{"shell, fine", "bash", "a.sh", "#!/usr/bin/env bash\na=(1 2)\necho ${a[0]}\n", ""},
		{"shell, another", "bash", "a.sh", "#!/usr/bin/fish\nif true\nend\n", ""},
		{"script", "node", "a.js", "const a = 1\nconst b = ;\n", "a.js: line 2: Unexpected token ';'"},
		{"script, fine", "node", "a.js", "const a = require('b')\nreturn\n", ""},
		{"module, fine", "node", "a.js", "import a from 'b'\nawait a()\n", ""},
		{"module", "node", "a.mjs", "import a from 'b'\nconst = 1\n", "a.mjs: line 2: "},
		{"no module", "node", "a.cjs", "import a from 'b'\n", "a.cjs: line 1: "},
		{"python", "python3", "a.py", "def f(:\n  pass\n", "a.py: line 1: "},
		{"python, fine", "python3", "a.py", "def f() -> int:\n    return 1\n", ""},
		{"of tests", "", "testdata/a.go", "package", ""},
		{"empty", "", "a.json", "\n", ""},
		{"another kind", "", "a.txt", "{", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(tt.needs); tt.needs != "" && err != nil {
				t.Skip(tt.needs + " is not installed")
			}
			d := tooltest.NewHost(t)
			r := d.Must(builtin.Write(builtin.WriteConfig{AllowStale: true, Syntax: patient()}), tooltest.Input{"filePath": tt.file, "content": tt.text})
			_, line, found := strings.Cut(r.Output, "\n")
			if found != (tt.want != "") || !strings.Contains(line, tt.want) || strings.Contains(line, "\n") {
				t.Errorf("%q, want %q", r.Output, tt.want)
			}
			if counted := strings.Contains(string(r.Metadata), `"checks":["syntax"]`); counted != found {
				t.Errorf("%s", r.Metadata)
			}
			if !strings.Contains(string(r.Metadata), `"seen":{`) {
				t.Errorf("what was seen is lost: %s", r.Metadata)
			}
		})
	}
}

func TestSyntax_SaysWhetherItWasBroken(t *testing.T) {
	t.Parallel()
	d := tooltest.NewHost(t)
	d.Put("a.go", "package a\n\nfunc f() {\n")
	d.Put("b.go", "package a\n\nfunc g() {}\n")
	cfg := builtin.EditConfig{Syntax: patient()}
	r := d.Must(builtin.Edit(cfg), tooltest.Input{"filePath": "a.go", "oldString": "f()", "newString": "g()"})
	if !strings.HasSuffix(r.Output, "It could not be parsed before this change either.") {
		t.Errorf("%q", r.Output)
	}
	r = d.Must(builtin.Edit(cfg), tooltest.Input{"filePath": "b.go", "oldString": "{}", "newString": "{"})
	if !strings.HasSuffix(r.Output, "It could be parsed before this change: repair it now.") {
		t.Errorf("%q", r.Output)
	}
	r = d.Must(builtin.ApplyPatch(cfg), tooltest.Input{"patchText": "*** Begin Patch\n*** Update File: b.go\n@@\n-func g() {\n+func g() {}\n*** Add File: c.json\n+{\n*** Delete File: a.go\n*** End Patch"})
	if lines := strings.Split(r.Output, "\n"); len(lines) != 5 || !strings.HasPrefix(lines[4], "Syntax error in c.json: line 2:") {
		t.Errorf("%q", r.Output)
	}
}

// A program that the project brings along is not started, nor one that takes too long waited for.
func TestSyntax_Programs(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	fake := func(dir, body string) []string {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "bash"), []byte("#!"+sh+"\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
		return []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}
	}
	d := tooltest.NewHost(t)
	write := func(s *builtin.SyntaxChecker) string {
		return d.Must(builtin.Write(builtin.WriteConfig{AllowStale: true, Syntax: s}), tooltest.Input{"filePath": "a.sh", "content": "echo a\n"}).Output
	}
	broken := "echo 'f: line 7: it is broken'; exit 2\n"
	if out := write(&builtin.SyntaxChecker{Env: fake(filepath.Join(d.Out, "bin"), broken), Limit: time.Minute}); !strings.Contains(out, "line 7: it is broken") {
		t.Errorf("the program was not asked: %q", out)
	}
	if out := write(&builtin.SyntaxChecker{Env: fake(filepath.Join(d.Dir, "bin"), broken), Limit: time.Minute}); strings.Contains(out, "line 7") {
		t.Errorf("a program of the project was asked: %q", out)
	}
	began := time.Now()
	if out := write(&builtin.SyntaxChecker{Env: fake(filepath.Join(d.Out, "slow"), "sleep 60\n"+broken)}); strings.Contains(out, "line 7") {
		t.Errorf("%q", out)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it was waited for %s", took)
	}
}
