package format_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace/format"
)

// fixture is a project in a temporary folder, with programs in its bin folder.
type fixture struct {
	t       *testing.T
	dir     string
	project format.Project
	all     *format.Formatters
}

func newFixture(t *testing.T, limit time.Duration) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &fixture{t: t, dir: dir, project: format.Project{Directory: dir, Worktree: dir, Trusted: true}}
	f.all = format.Open(format.Options{
		Runner: runner, Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + bin}, Limit: limit,
		Confine: func(format.Project, []string) (sandbox.Profile, error) {
			return sandbox.Profile{Mode: sandbox.Off}, nil
		},
	})
	f.dir = bin
	for name, script := range map[string]string{
		"upper":    `tr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1"`,
		"prettier": `sed -i "s/'/\"/g" "$2"`,
		"breaks":   `sed -i '1s/^/(/; $s/$/)/' "$1"`,
		"empties":  `: > "$1"`, "fails": `echo "bad syntax" >&2; echo junk > "$1"; exit 1`, "hangs": `echo junk > "$1"; sleep 100`,
	} {
		f.put(name, "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.dir = dir
	return f
}

func (f *fixture) put(name, text string) string {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// run formats a file after an edit and returns what is in it.
func (f *fixture) run(name, before, edited string) (string, format.Result) {
	f.t.Helper()
	path := f.put(name, edited)
	res, err := f.all.Run(f.t.Context(), f.project, path, before)
	if err != nil {
		f.t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != res.After {
		f.t.Errorf("the file has %q, the result %q, %v", data, res.After, err)
	}
	return string(data), res
}

// A one-line change in an unformatted file stays a one-line change.
func TestRun_Scope(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gofmt"); err != nil {
		t.Skip("gofmt is not installed")
	}
	f := newFixture(t, time.Minute)
	before := "package a\n\nfunc  a( ) {\n    x:=1\n    y:=2\n    _ ,_= x,y\n}\n"
	edited := strings.Replace(before, "y:=2", "y:=3", 1)
	want := strings.Replace(before, "    y:=2", "\ty := 3", 1)
	got, res := f.run("a.go", before, edited)
	if got != want || res.Formatter != "gofmt" || len(res.Changed) != 1 || res.Changed[0] != (format.Span{First: 5, Last: 5}) {
		t.Errorf("%q %+v, want %q", got, res, want)
	}
	if got, _ := f.run("new.go", "", edited); got != "package a\n\nfunc a() {\n\tx := 1\n\ty := 3\n\t_, _ = x, y\n}\n" {
		t.Errorf("a new file: %q", got)
	}
	f.project.Config.WholeFile = true
	if got, _ := f.run("a.go", before, edited); strings.Contains(got, "    x") {
		t.Errorf("the whole file: %q", got)
	}
	f.project.Config.WholeFile = false
	if got, res := f.run("a.go", "package a\n", "package a\nfunc {\n"); got != "package a\nfunc {\n" || res.Failed == nil {
		t.Errorf("code that does not parse: %q %v", got, res.Failed)
	}
}

// A formatter runs only where the project has a config for it, and one whose config is code only in a trusted project.
func TestRun_Config(t *testing.T) {
	t.Parallel()
	f := newFixture(t, time.Minute)
	const text = "a = 'x'\nb = 'y'\n"
	if got, _ := f.run("a.js", text, text+"c = 'z'\n"); got != text+"c = 'z'\n" {
		t.Errorf("without config: %q", got)
	}
	f.put("package.json", `{"devDependencies": {"prettier": "3"}}`)
	if got, _ := f.run("sub/a.js", text, text+"c = 'z'\n"); got != text+"c = \"z\"\n" {
		t.Errorf("with config: %q", got)
	}
	f.project.Trusted = false
	if got, _ := f.run("a.js", text, text+"c = 'z'\n"); got != text+"c = 'z'\n" {
		t.Errorf("untrusted: %q", got)
	}
	for _, s := range f.all.Status(f.project) {
		if s.Name == "prettier" && s.Enabled {
			t.Error("prettier is enabled in an untrusted project")
		}
	}
}

// Formatters that fail, hang, empty a file or change its meaning leave the edit as it was.
func TestRun_Hostile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"empties", "fails", "hangs", "breaks"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if name == "hangs" {
				limit = 300 * time.Millisecond
			}
			f := newFixture(t, limit)
			f.project.Config.Settings = map[string]format.Setting{"mine": {Command: []string{name}, Extensions: []string{".q"}}}
			const text = "one\ntwo\nthree\n"
			if got, res := f.run("a.q", "one\n2\nthree\n", text); got != text || name != "breaks" && res.Failed == nil {
				t.Errorf("%q %+v", got, res)
			}
		})
	}
	f := newFixture(t, time.Minute) // the control
	f.project.Config.Settings = map[string]format.Setting{"mine": {Command: []string{"upper"}, Extensions: []string{".q"}}}
	if got, _ := f.run("a.q", "one\n2\nthree\n", "one\ntwo\nthree\n"); got != "one\nTWO\nthree\n" {
		t.Errorf("%q", got)
	}
	f.project.Config.Off = true
	if got, _ := f.run("a.q", "", "one\n"); got != "one\n" {
		t.Errorf("off: %q", got)
	}
}
