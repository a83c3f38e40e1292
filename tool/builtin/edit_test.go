package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/workspace/patch"
)

func TestEdit_Result(t *testing.T) {
	d := tooltest.NewHost(t)
	path := d.Put("src/f.go", "package f\n\nvar a = 1\n")
	r := d.Must(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "src/f.go", "oldString": "a = 1", "newString": "b = 2"})
	diff := fmt.Sprintf("Index: %s\n%s\n--- %[1]s\n+++ %[1]s\n@@ -1,3 +1,3 @@\n package f\n \n-var a = 1\n+var b = 2\n", path, strings.Repeat("=", 67))
	type fileDiff struct {
		File      string `json:"file"`
		Patch     string `json:"patch"`
		Additions int    `json:"additions"`
		Deletions int    `json:"deletions"`
	}
	type lathes struct {
		Seen map[string]string `json:"seen"`
	}
	meta, err := json.Marshal(struct {
		Diff        string   `json:"diff"`
		FileDiff    fileDiff `json:"filediff"`
		Diagnostics struct{} `json:"diagnostics"`
		Lathe       lathes   `json:"lathe"`
	}{diff, fileDiff{path, diff, 1, 1}, struct{}{}, lathes{map[string]string{path: "40e0f4d2be013e27"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := tool.Result{Title: "src/f.go", Output: "Edited " + path + ": +1 −1, line 3.", Metadata: meta}
	if diff := cmp.Diff(want, r, cmp.Transformer("json", func(m json.RawMessage) string { return string(m) })); diff != "" {
		t.Error(diff)
	}
	if got := d.Content("src/f.go"); got != "package f\n\nvar b = 2\n" {
		t.Errorf("%q", got)
	}
	asked, err := json.Marshal(struct {
		Path string `json:"filepath"`
		Diff string `json:"diff"`
	}{path, diff})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tool.Permission{{Name: "edit", Patterns: []string{"src/f.go"}, Always: []string{"*"}, Metadata: asked}}, d.Asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]lathe.Fact{&lathe.FileEdited{File: path}, &lathe.FileWatched{File: path, Event: "change"}}, d.Published); diff != "" {
		t.Error(diff)
	}
}

func TestEdit_Output(t *testing.T) {
	const text = "one\n\ttwo\nthree\n\ttwo\nfive\n"
	tests := []struct {
		name, file, old, new string
		all                  bool
		want, says           string
	}{
		{"several", "f", "two", "2", true, "one\n\t2\nthree\n\t2\nfive\n", ": 2 places, +2 −2, lines 2–4."},
		{"longer", "f", "three", "3\n3\n3", false, "one\n\ttwo\n3\n3\n3\n\ttwo\nfive\n", ": +3 −1, lines 3–5."},
		{"gone", "f", "three\n", "", false, "one\n\ttwo\n\ttwo\nfive\n", ": +0 −1, line 3."},
		{"inexact", "f", "three \n\ttwo", "3", false, "one\n\ttwo\n3\nfive\n", ": +1 −2, line 3. oldString was not in the file to the letter, but one passage was found by another way (trimmed lines). What was replaced:\n3: three\n4: \ttwo"},
		{"shifted", "f", "    two\n    three", "    2\n    three", false, "one\n\t2\nthree\n\ttwo\nfive\n", ": +1 −1, lines 2–3. oldString was not in the file to the letter, but one passage was found by another way (trimmed lines). " +
			"What was replaced:\n2: \ttwo\n3: three\nAdjusted: the file has 1 tab where oldString has 4 spaces, so newString was moved to the indentation of the file."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			path := d.Put(tt.file, text)
			r, err := d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": path, "oldString": tt.old, "newString": tt.new, "replaceAll": tt.all})
			if tt.want == "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) || d.Content(tt.file) != text {
					t.Errorf("%v, %q", err, d.Content(tt.file))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Content(tt.file); got != tt.want || r.Output != "Edited "+path+tt.says {
				t.Errorf("%q\n%s", got, r.Output)
			}
		})
	}
}

// TestEdit_Indentation moves what was given at another indentation, and refuses it where it has meaning
// and nothing tells how far.
func TestEdit_Indentation(t *testing.T) {
	const text = "class A:\n        def f(self):\n            return 1\n"
	const moved = "class A:\n        def f(self):\n            return 2\n"
	for _, tt := range []struct{ file, old, new, want, says string }{
		{"f.py", "    def f(self):\n        return 1", "    def f(self):\n        return 2", moved, "Adjusted: the file has 8 spaces where oldString has 4 spaces"},
		{"f.js", "    def f(self):\n        return 1", "    def f(self):\n        return 2", moved, "Adjusted"},
		{"f.py", "def f(self):\nreturn 1", "def f(self):\nreturn 2", text, "not all of its lines by the same amount"},
		{"f.js", "def f(self):\nreturn 1", "def f(self):\nreturn 2", moved, "Adjusted"},
	} {
		d := tooltest.NewHost(t)
		call := tooltest.Input{"oldString": tt.old, "newString": tt.new, "filePath": d.Put(tt.file, text)}
		r, err := d.Run(builtin.Edit(builtin.EditConfig{}), call)
		said := r.Output
		if err != nil {
			said = err.Error()
		}
		if got := d.Content(tt.file); got != tt.want || !strings.Contains(said, tt.says) {
			t.Errorf("%s: %q\n%s", tt.file, got, said)
		}
	}
}

func TestEdit_Create(t *testing.T) {
	d := tooltest.NewHost(t)
	r := d.Must(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "a/new.txt", "oldString": "", "newString": "x\ny\n"})
	path := filepath.Join(d.Dir, "a/new.txt")
	if got := d.Content("a/new.txt"); got != "x\ny\n" || r.Output != "Created "+path+": 2 lines." {
		t.Errorf("%q, %s", got, r.Output)
	}
	if diff := cmp.Diff(&lathe.FileWatched{File: path, Event: "add"}, d.Published[1]); diff != "" {
		t.Error(diff)
	}
	_, err := d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "a/new.txt", "oldString": "", "newString": "z"})
	if err == nil || !strings.Contains(err.Error(), "exists (2 lines)") || !strings.Contains(err.Error(), "write") || d.Content("a/new.txt") != "x\ny\n" {
		t.Error(err)
	}
}

// TestEdit_Refused leaves the file alone and says why.
func TestEdit_Refused(t *testing.T) {
	const text = "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}\n"
	tests := []struct {
		name  string
		input tooltest.Input
		says  []string
	}{
		{"no path", tooltest.Input{"filePath": " ", "oldString": "a", "newString": "b"}, []string{"filePath is empty", `{"filePath":`}},
		{"the same", tooltest.Input{"filePath": "f.go", "oldString": "return 1", "newString": "return 1"}, []string{"the same", "line 2"}},
		{"several", tooltest.Input{"filePath": "f.go", "oldString": "return 1", "newString": "return 2"}, []string{"f.go", "2 times", "lines 2, 6", "1: func a() {"}},
		{"missing", tooltest.Input{"filePath": "f.go", "oldString": "func a() {\n\treturn 7", "newString": "x"}, []string{"f.go", "lines 1–2", "2: \treturn 1"}},
		{"no file", tooltest.Input{"filePath": "g.go", "oldString": "a", "newString": "b"}, []string{"File not found", "f.go", "edit"}},
		{"directory", tooltest.Input{"filePath": "dir", "oldString": "a", "newString": "b"}, []string{"is a directory"}},
		{"no such directory", tooltest.Input{"filePath": "x/y/z.go", "oldString": "a", "newString": "b"}, []string{"File not found", "directory does not exist"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			d.Put("f.go", text)
			d.Put("dir/x", "")
			_, err := d.Run(builtin.Edit(builtin.EditConfig{}), tt.input)
			var failure *tool.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("got %v", err)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("does not say %q: %v", s, err)
				}
			}
			if d.Content("f.go") != text {
				t.Error("the file was changed")
			}
			for _, p := range d.Asked {
				if p.Name != "read" {
					t.Errorf("asked for %s", p.Name)
				}
			}
		})
	}
}

func TestEdit_Permission(t *testing.T) {
	for _, refuse := range []string{"edit", "external_directory"} {
		d := tooltest.NewHost(t)
		path := d.Put(filepath.Join(d.Out, "f"), "a\n")
		d.Refuse = refuse
		_, err := d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": path, "oldString": "a", "newString": "b"})
		if lathe.CodeOf(err) != lathe.Rejected || d.Content(path) != "a\n" {
			t.Errorf("%s: %v", refuse, err)
		}
		if last := d.Asked[len(d.Asked)-1].Name; d.Asked[0].Name != "external_directory" || last != refuse {
			t.Errorf("asked %v", d.Asked)
		}
	}
}

// TestEdit_Secret does not show lines of a file to a model that may not read it.
func TestEdit_Secret(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put(".env", "PASSWORD=topsecret\n")
	d.OnAsk = func(p tool.Permission) {
		if diff := cmp.Diff(tool.Permission{Name: "read", Patterns: []string{".env"}, Always: []string{"*"}}, p); diff != "" {
			t.Error(diff)
		}
	}
	host := &denying{Host: d, permission: "read"}
	d.Call.Host = host
	_, err := d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": ".env", "oldString": "PASSWORD=other", "newString": "x"})
	if err == nil || strings.Contains(err.Error(), "topsecret") || !strings.Contains(err.Error(), "Call read with") {
		t.Error(err)
	}
	d.Refuse = "read"
	d.Call.Host = d
	if _, err := d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": ".env", "oldString": "PASSWORD=other", "newString": "x"}); lathe.CodeOf(err) != lathe.Rejected {
		t.Error(err)
	}
}

// denying is a desk with a rule against a permission.
type denying struct {
	*tooltest.Host
	permission string
}

func (d *denying) Ask(ctx context.Context, all ...tool.Permission) error {
	if err := d.Host.Ask(ctx, all...); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(p tool.Permission) bool { return p.Name == d.permission }) {
		return lathe.Errorf(lathe.Denied, "a rule says no")
	}
	return nil
}

func TestEdit_Changed(t *testing.T) {
	d := tooltest.NewHost(t)
	seen := builtin.NewReadTracker()
	read := builtin.Read(builtin.ReadConfig{Tracker: seen})
	edit := builtin.Edit(builtin.EditConfig{Tracker: seen})
	d.Put("f", "alpha beta\n")
	d.Put("g", "here is the text\n")
	for _, name := range []string{"f", "g"} {
		d.Next("read", tooltest.Input{"filePath": name}, d.Must(read, tooltest.Input{"filePath": name}))
	}
	d.Put("f", "alpha gamma\n")
	_, err := d.Run(edit, tooltest.Input{"filePath": "f", "oldString": "alpha beta", "newString": "x"})
	if err == nil || !strings.Contains(err.Error(), "has changed since you last read") || !strings.Contains(err.Error(), "1: alpha gamma") {
		t.Error(err)
	}
	_, err = d.Run(edit, tooltest.Input{"filePath": "f", "oldString": "here is the text", "newString": "x"})
	if err == nil || !strings.Contains(err.Error(), "another file that you have read: "+filepath.Join(d.Dir, "g")) {
		t.Error(err)
	}
	if len(d.Asked) != 2 { // the reads; what was read is shown unasked
		t.Errorf("asked %v", d.Asked)
	}
}

// TestEdit_WhileAsked is what becomes of an edit when the file changes before it is allowed.
func TestEdit_WhileAsked(t *testing.T) {
	tests := []struct{ name, meanwhile, want string }{
		{"elsewhere", "new first line\na = 1\nb = 2\n", "new first line\na = 3\nb = 2\n"},
		{"done by another", "a = 3\nb = 2\n", ""},
		{"there twice", "a = 1\na = 1\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			d.Put("f", "a = 1\nb = 2\n")
			d.OnAsk = func(p tool.Permission) {
				if p.Name == "edit" {
					d.Put("f", tt.meanwhile)
				}
			}
			_, err := d.Run(builtin.Edit(builtin.EditConfig{Tracker: builtin.NewReadTracker()}), tooltest.Input{"filePath": "f", "oldString": "a = 1", "newString": "a = 3"})
			if tt.want != "" && (err != nil || d.Content("f") != tt.want) {
				t.Errorf("%v, %q", err, d.Content("f"))
			}
			if tt.want == "" && (err == nil || d.Content("f") != tt.meanwhile) {
				t.Errorf("%v, %q", err, d.Content("f"))
			}
		})
	}
}

// TestEdit_Parallel loses no edit of one file.
func TestEdit_Parallel(t *testing.T) {
	const n = 40
	d := tooltest.NewHost(t)
	var text, want strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d;\n", i)
		fmt.Fprintf(&want, "changed %d;\n", i)
	}
	d.Put("f", text.String())
	edit := builtin.Edit(builtin.EditConfig{Tracker: builtin.NewReadTracker()})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if _, err := d.Run(edit, tooltest.Input{"filePath": "f", "oldString": fmt.Sprintf("line %d;", i), "newString": fmt.Sprintf("changed %d;", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if diff := cmp.Diff(want.String(), d.Content("f")); diff != "" {
		t.Error(diff)
	}
}

func TestEdit_Links(t *testing.T) {
	d := tooltest.NewHost(t)
	secret := d.Put(filepath.Join(d.Out, "f"), "a\n")
	d.Link(secret, "link")
	d.Refuse = "external_directory"
	if _, err := d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "link", "oldString": "a", "newString": "b"}); lathe.CodeOf(err) != lathe.Rejected {
		t.Error(err)
	}
	if _, err := d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "../outside/f", "oldString": "a", "newString": "b"}); lathe.CodeOf(err) != lathe.Rejected {
		t.Error(err)
	}
	if d.Content(secret) != "a\n" {
		t.Error("a file outside was changed")
	}
}

func TestEdit_Mode(t *testing.T) {
	d := tooltest.NewHost(t)
	path := d.Put("run.sh", "echo a\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	d.Must(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": path, "oldString": "a", "newString": "b"})
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestEdit_Refusal keeps the reason for users who count.
func TestEdit_Refusal(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("f", "a a\n")
	_, err := d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "f", "oldString": "a", "newString": "b"})
	var r *patch.Refusal
	if !errors.As(err, &r) || r.Reason != patch.Ambiguous {
		t.Errorf("%v", err)
	}
}
