package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

func TestGlob_Found(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put(".git/HEAD", "")
	d.Put(".gitignore", "*.log\n")
	b, a := d.Put("src/b.go", ""), d.Put("a.go", "")
	d.Put("x.log", "")
	d.Put(".hidden.go", "")
	r := d.Must(builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "**/*.go"})
	want := tool.Result{Output: a + "\n" + b, Metadata: []byte(`{"count":2,"truncated":false}`)}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatal(diff)
	}
	wantAsked := []tool.Permission{{
		Name: "glob", Patterns: []string{"**/*.go"}, Always: []string{"*"}, Metadata: []byte(`{"pattern":"**/*.go"}`),
	}}
	if diff := cmp.Diff(wantAsked, d.Asked); diff != "" {
		t.Fatal(diff)
	}
}

func TestGlob_Directory(t *testing.T) {
	d := tooltest.NewHost(t)
	b := d.Put("src/b.go", "")
	d.Put("a.go", "")
	for _, input := range []tooltest.Input{
		{"pattern": "*.go", "path": "src"},
		{"pattern": "*.go", "path": filepath.Join(d.Dir, "src")},
		{"pattern": filepath.Join(d.Dir, "src", "*.go")}, // the pattern names the directory
		{"pattern": "../src/*.go", "path": "src"},
	} {
		r := d.Must(builtin.Glob(builtin.FilesConfig{}), input)
		title := "src"
		if input["pattern"] == "../src/*.go" {
			title = ""
		}
		if r.Output != b || r.Title != title {
			t.Errorf("%v: title %q, %q", input, r.Title, r.Output)
		}
	}
}

func TestGlob_Outside(t *testing.T) {
	d := tooltest.NewHost(t)
	f := d.Put(filepath.Join(d.Out, "f.go"), "")
	d.Link(d.Out, "link")
	for _, input := range []tooltest.Input{
		{"pattern": "*.go", "path": d.Out}, {"pattern": d.Out + "/*.go"}, {"pattern": "*.go", "path": "link"},
	} {
		d.Asked = nil
		r := d.Must(builtin.Glob(builtin.FilesConfig{}), input)
		if r.Output != f {
			t.Errorf("%v: %q", input, r.Output)
		}
		if len(d.Asked) != 2 || d.Asked[0].Name != "external_directory" || d.Asked[0].Patterns[0] != d.Out+"/*" || d.Asked[1].Name != "glob" {
			t.Errorf("%v asked %+v", input, d.Asked)
		}
	}
	d.Refuse = "external_directory"
	if _, err := d.Run(builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "*.go", "path": d.Out}); lathe.CodeOf(err) != lathe.Rejected {
		t.Fatal(err)
	}
	// A symlink in the tree is not a way out.
	if r := d.Must(builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "**/*.go"}); !strings.HasPrefix(r.Output, "No files found") {
		t.Fatal(r.Output)
	}
}

func TestGlob_Many(t *testing.T) {
	d := tooltest.NewHost(t)
	for i := range 150 {
		d.Put(fmt.Sprintf("%s/f%03d.go", []string{"a", "b", "b", "c", "d"}[i%5], i), "")
	}
	r := d.Must(builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": "*.go"})
	lines := strings.Split(r.Output, "\n")
	want := fmt.Sprintf("(150 files match, the first 100 by name are shown. Most are in: %s (60), %s (30), %s (30). Narrow the pattern, or give path.)",
		filepath.Join(d.Dir, "b"), filepath.Join(d.Dir, "a"), filepath.Join(d.Dir, "c"))
	if len(lines) != 102 || lines[0] != filepath.Join(d.Dir, "a/f000.go") || lines[100] != "" || lines[101] != want {
		t.Fatal(len(lines), lines[0], lines[len(lines)-1])
	}
	if string(r.Metadata) != `{"count":100,"truncated":true}` {
		t.Fatal(string(r.Metadata))
	}
}

func TestGlob_None(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put(".git/HEAD", "")
	d.Put(".gitignore", "gen/\n")
	d.Put("src/server/a.go", "")
	hidden, gen := d.Put(".cfg/a.yml", ""), d.Put("gen/x.yml", "")
	path := func(name string) string { return filepath.Join(d.Dir, name) }
	for pattern, want := range map[string]string{
		"*.rs":           "",
		"*.yml":          fmt.Sprintf("Among what is ignored or hidden, the pattern fits 2 files: %s, %s.", hidden, gen),
		"src/sever/*.go": fmt.Sprintf("%s does not exist; the deepest existing directory is %s. It has: server.", path("src/sever"), path("src")),
		"src/server":     fmt.Sprintf(`%s is a directory. Call glob with pattern "src/server/**" for what is in it.`, path("src/server")),
	} {
		r := d.Must(builtin.Glob(builtin.FilesConfig{}), tooltest.Input{"pattern": pattern})
		all := "No files found"
		if want != "" {
			all += "\n\n" + want
		}
		if r.Output != all || string(r.Metadata) != `{"count":0,"truncated":false}` {
			t.Errorf("%s: %s %s", pattern, r.Output, r.Metadata)
		}
	}
}

func TestGlob_Errors(t *testing.T) {
	d := tooltest.NewHost(t)
	f := d.Put("src/a.go", "")
	for _, tt := range []struct {
		input tooltest.Input
		want  string
	}{
		{tooltest.Input{"pattern": "a["}, `pattern cannot be used: the glob "a[" is malformed: "[" is not closed; write "\[" for the character itself. Globs look like this: "src/**/*.go", "*.{ts,tsx}".`},
		{tooltest.Input{"pattern": "*", "path": "src/a.go"}, fmt.Sprintf("path must be a directory, and %s is a file. Call glob with path %q, or read the file.", f, filepath.Dir(f))},
		{tooltest.Input{"pattern": "*", "path": "scr"}, fmt.Sprintf("File not found: %s. Did you mean one of these? Call glob with it:\n%s", filepath.Join(d.Dir, "scr"), filepath.Dir(f))},
	} {
		_, err := d.Run(builtin.Glob(builtin.FilesConfig{}), tt.input)
		var failure *tool.Failure
		if !errors.As(err, &failure) || failure.Text != tt.want {
			t.Errorf("%v: %v", tt.input, err)
		}
	}
}

func TestSearchTools_Canceled(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("a", "text")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range []tool.Tool{builtin.Glob(builtin.FilesConfig{}), builtin.Grep(builtin.FilesConfig{})} {
		c := d.Call
		c.Input = []byte(`{"pattern":"a"}`)
		_, err := x.Run(ctx, &c)
		var failure *tool.Failure
		if !errors.Is(err, context.Canceled) || errors.As(err, &failure) {
			t.Errorf("%s: %v", x.Spec().Name, err)
		}
	}
}

// What a model is notified about each must stay within the budget of a tool: a token is about
// four characters.
func TestSearchTools_Texts(t *testing.T) {
	for _, x := range []tool.Tool{builtin.Glob(builtin.FilesConfig{}), builtin.Grep(builtin.FilesConfig{})} {
		s := x.Spec()
		if n := len(s.Description) + len(s.Schema); n > 4*250 || strings.TrimSpace(s.Description) == "" {
			t.Errorf("%s: %d characters", s.Name, n)
		}
		t.Logf("%s: %d characters", s.Name, len(s.Description)+len(s.Schema))
	}
}
