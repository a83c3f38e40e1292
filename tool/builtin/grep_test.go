package builtin_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

func TestGrep_Found(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put(".git/HEAD", "")
	d.Put(".gitignore", "*.log\n")
	a := d.Put("a.go", "package a\n\nfunc main() {}\r\n\tmain()\n")
	env := d.Put(".env", "main=1")
	d.Put("x.log", "main")
	d.Put("bin", "\x00main")
	r := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": `\bmain\b`})
	want := tool.Result{
		Title:    `\bmain\b`,
		Output:   fmt.Sprintf("3 matches in 2 files\n%s:\n  Line 1: main=1\n\n%s:\n  Line 3: func main() {}\n  Line 4: \tmain()", env, a),
		Metadata: []byte(`{"matches":3,"truncated":false}`),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatal(diff)
	}
	wantAsked := []tool.Permission{{
		Name: "grep", Patterns: []string{`\bmain\b`}, Always: []string{"*"}, Metadata: []byte(`{"pattern":"\\bmain\\b"}`),
	}}
	if diff := cmp.Diff(wantAsked, d.Asked); diff != "" {
		t.Fatal(diff)
	}
}

func TestGrep_Where(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("a.go", "needle")
	b := d.Put("src/b.go", "needle")
	c := d.Put("src/c.md", "needle")
	for _, tt := range []struct {
		input tooltest.Input
		want  []string
	}{
		{tooltest.Input{"path": "src"}, []string{b, c}},
		{tooltest.Input{"path": "src", "include": "*.go"}, []string{b}},
		{tooltest.Input{"include": "src/**"}, []string{b, c}},
		{tooltest.Input{"include": "*.md, *.rs"}, []string{c}},
		{tooltest.Input{"path": "src/c.md"}, []string{c}},
		{tooltest.Input{"path": b, "include": "*.md"}, []string{b}},
	} {
		tt.input["pattern"] = "needle"
		r := d.Must(builtin.Grep(builtin.FilesConfig{}), tt.input)
		var groups []string
		for _, path := range tt.want {
			groups = append(groups, path+":\n  Line 1: needle")
		}
		_, got, _ := strings.Cut(r.Output, "\n")
		if diff := cmp.Diff(strings.Join(groups, "\n\n"), got); diff != "" {
			t.Errorf("%v: %s", tt.input, diff)
		}
	}
}

func TestGrep_Outside(t *testing.T) {
	d := tooltest.NewHost(t)
	f := d.Put(filepath.Join(d.Out, "f.go"), "needle")
	d.Link(f, "link.go")
	d.Link(d.Out, "dir")
	for _, path := range []string{d.Out, f, "link.go", "dir"} {
		d.Asked = nil
		r := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "needle", "path": path})
		if want := "1 match in 1 file\n" + f + ":\n  Line 1: needle"; r.Output != want {
			t.Errorf("%s: %q", path, r.Output)
		}
		if len(d.Asked) < 2 || d.Asked[0].Name != "external_directory" || d.Asked[0].Patterns[0] != d.Out+"/*" {
			t.Errorf("%s asked %+v", path, d.Asked)
		}
	}
	if r := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "needle"}); !strings.HasPrefix(r.Output, "No files found") {
		t.Fatal("a symlink was followed:", r.Output)
	}
}

func TestGrep_Many(t *testing.T) {
	d := tooltest.NewHost(t)
	for i := range 60 {
		d.Put(fmt.Sprintf("f%02d", i), strings.Repeat("needle\n", 7))
	}
	r := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": "needle"})
	path := func(i int) string { return filepath.Join(d.Dir, fmt.Sprintf("f%02d", i)) }
	var want strings.Builder
	want.WriteString("420 matches in 60 files, the first 100 are shown\n")
	for i := range 15 {
		if i > 0 {
			want.WriteString("\n")
		}
		want.WriteString(path(i) + ":\n")
		for n := range min(7, 100-7*i) {
			fmt.Fprintf(&want, "  Line %d: needle\n", n+1)
		}
	}
	want.WriteString("  (5 more in this file)\n\nMore matches are in:\n")
	for i := range 20 {
		fmt.Fprintf(&want, "  %s: 7\n", path(15+i))
	}
	want.WriteString("  and in 25 files more\n\n(To see the rest, make the pattern narrower, or give path or include.)")
	if diff := cmp.Diff(want.String(), r.Output); diff != "" {
		t.Fatal(diff)
	}
	if string(r.Metadata) != `{"matches":420,"truncated":true}` {
		t.Fatal(string(r.Metadata))
	}
}

func TestGrep_Lines(t *testing.T) {
	x, y := strings.Repeat("x", 1000), strings.Repeat("ä", 1000)
	for _, tt := range []struct{ name, pattern, text, want string }{
		{"long", "needle", x + "needle" + x, "  Line 1: ..." + x[:122] + "needle" + x[:122] + "..."},
		{"long, at the start", "needle", "needle" + x, "  Line 1: needle" + x[:244] + "..."},
		{"long, at the end", "needle", x + "needle", "  Line 1: ..." + x[:244] + "needle"},
		{"long, more than ASCII", "needle", y + "needle" + y, "  Line 1: ..." + y[:122] + "needle" + y[:122] + "..."},
		{"very long", "needle", strings.Repeat(x, 50) + "needle" + x, "  Line 1: ..." + x[:122] + "needle" + x[:122] + "..."},
		{"not long", "needle", x[:490] + "needle", "  Line 1: " + x[:490] + "needle"},
		{"several lines", `a\nb`, "x\na\nb\n", "  Line 2: a\n  Line 3: b"},
		{"broken UTF-8", "a.b", "a\xffb", "  Line 1: a\uFFFDb"},
		{"mark of UTF-8", "^a", "\xef\xbb\xbfa", "  Line 1: a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			f := d.Put("f", tt.text)
			r := d.Must(builtin.Grep(builtin.FilesConfig{}), tooltest.Input{"pattern": tt.pattern})
			if diff := cmp.Diff("1 match in 1 file\n"+f+":\n"+tt.want, r.Output); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestGrep_None(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put(".git/HEAD", "")
	d.Put(".gitignore", "gen/\n")
	code := d.Put("a.go", "func Server() {}\nfoo(1)\nbar\n")
	d.Put("gen/x.go", "generated\n")
	bin := d.Put("bin", "\x00server")
	for _, tt := range []struct {
		input tooltest.Input
		want  string
	}{
		{tooltest.Input{"pattern": "nowhere"}, "No match in 2 files."},
		{tooltest.Input{"pattern": "nowhere", "include": "*.go"}, `No match in 1 file (include "*.go").`},
		{tooltest.Input{"pattern": "nowhere", "path": "a.go"}, "No match in " + code + "."},
		{tooltest.Input{"pattern": "server"}, "No match in 2 files.\n\n" + `Without regard to case: 1 match in 1 file. Call grep with "pattern": "(?i)server".`},
		{tooltest.Input{"pattern": "generated"}, "No match in 2 files.\n\nFiles that are ignored have 1 match in 1 file. To search them, give the ignored directory or file as path."},
		{tooltest.Input{"pattern": `bar\|baz`}, "No match in 2 files.\n\n" + `\| is the character | itself. For alternatives call grep with "pattern": "bar|baz".`},
		{tooltest.Input{"pattern": "Server", "include": "*.rs"}, "No files found\n\n" + fmt.Sprintf(`No file below %s fits include "*.rs".`, d.Dir)},
		{tooltest.Input{"pattern": "server", "path": "bin"}, "No files found\n\n" + bin + " is a binary file and was not searched. Use bash for it: strings, or grep -a."},
	} {
		r := d.Must(builtin.Grep(builtin.FilesConfig{}), tt.input)
		if r.Output != tt.want || string(r.Metadata) != `{"matches":0,"truncated":false}` {
			t.Errorf("%v: %s %s", tt.input, r.Output, r.Metadata)
		}
	}
}

func TestGrep_Errors(t *testing.T) {
	d := tooltest.NewHost(t)
	src := filepath.Dir(d.Put("src/a.go", ""))
	for _, tt := range []struct {
		input tooltest.Input
		want  string
	}{
		{tooltest.Input{"pattern": ""}, "pattern is empty and would match every line. Give what to look for, or use glob to list files."},
		{tooltest.Input{"pattern": "ä foo("}, `pattern is not a regular expression: at character 6, "(": "(" is not closed. To find that text as it stands, call grep with "pattern": "ä foo\\(".`},
		{tooltest.Input{"pattern": "foo(?!bar)baz"}, `pattern is not a regular expression: at character 4, "(?!": look-around is not supported. Call grep with "pattern": "foobaz" and choose among the lines it finds.`},
		{tooltest.Input{"pattern": "a", "include": "{b"}, `include cannot be used: the glob "{b" is malformed: "{" is not closed; write "\{" for the character itself. Globs look like this: "src/**/*.go", "*.{ts,tsx}".`},
		{tooltest.Input{"pattern": "a", "path": "scr"}, fmt.Sprintf("File not found: %s. Did you mean one of these? Call grep with it:\n%s", filepath.Join(d.Dir, "scr"), src)},
	} {
		_, err := d.Run(builtin.Grep(builtin.FilesConfig{}), tt.input)
		var failure *tool.Failure
		if !errors.As(err, &failure) || failure.Text != tt.want {
			t.Errorf("%v: %v", tt.input, err)
		}
	}
}

// What models send instead of the members we name.
func TestGrep_RepairedInput(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("a.go", "needle")
	set := tool.NewSet(builtin.Grep(builtin.FilesConfig{}))
	x, input := set.Resolve("Grep", `{"query":"needle","glob":"*.go","path":null}`)
	c := d.Call
	c.Input = input
	r, err := x.Run(t.Context(), &c)
	if err != nil || !strings.HasPrefix(r.Output, "1 match in 1 file\n") {
		t.Fatal(err, r.Output, string(input))
	}
}
