package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"pgregory.net/rapid"
)

func patchCall(body string) tooltest.Input {
	return tooltest.Input{"patchText": "*** Begin Patch\n" + body + "*** End Patch"}
}

// state is the files of a desk's project, by name.
func state(d *tooltest.Host) map[string]string {
	d.T.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(d.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(d.Dir, path)
		out[rel] = d.Content(path)
		return err
	})
	if err != nil {
		d.T.Fatal(err)
	}
	return out
}

func TestApplyPatch_Result(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("a.txt", "one\ntwo\n")
	d.Put("b.txt", "old\n")
	d.Put("c.sh", "x\ny\n")
	if err := os.Chmod(filepath.Join(d.Dir, "c.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := d.Must(builtin.ApplyPatch(builtin.EditConfig{}), patchCall("*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Delete File: b.txt\n"+
		"*** Update File: c.sh\n*** Move to: bin/d.sh\n@@\n-x\n+z\n*** Add File: e/f.txt\n+new\n"))
	if diff := cmp.Diff(map[string]string{"a.txt": "one\n2\n", "bin/d.sh": "z\ny\n", "e/f.txt": "new\n"}, state(d)); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(d.Dir, "bin/d.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode was lost: %v, %v", info, err)
	}
	words := "Applied the patch to 4 files:\nM a.txt (+1 −1)\nD b.txt (+0 −1)\nM bin/d.sh (+1 −1)\nA e/f.txt (+1 −0)"
	if r.Title != words || r.Output != words {
		t.Errorf("%s\n%s", r.Title, r.Output)
	}
	type file struct {
		FilePath, RelativePath, Type, Patch, MovePath string
		Additions, Deletions                          int
	}
	type metadata struct {
		Diff, FilePath string
		Files          []file
		Diagnostics    *struct{}
		Lathe          struct{ Seen map[string]string }
	}
	var got metadata
	if err := json.Unmarshal(r.Metadata, &got); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(d.Dir, name) }
	head := func(name string) string {
		return fmt.Sprintf("Index: %s\n%s\n--- %[1]s\n+++ %[1]s\n", at(name), strings.Repeat("=", 67))
	}
	want := []file{
		{at("a.txt"), "a.txt", "update", head("a.txt") + "@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "", 1, 1},
		{at("b.txt"), "b.txt", "delete", head("b.txt") + "@@ -1,1 +0,0 @@\n-old\n", "", 0, 1},
		{at("c.sh"), "bin/d.sh", "move", head("c.sh") + "@@ -1,2 +1,2 @@\n-x\n+z\n y\n", at("bin/d.sh"), 1, 1},
		{at("e/f.txt"), "e/f.txt", "add", head("e/f.txt") + "@@ -0,0 +1,1 @@\n+new\n", "", 1, 0},
	}
	if diff := cmp.Diff(want, got.Files); diff != "" {
		t.Error(diff)
	}
	if got.Diagnostics == nil || !strings.Contains(got.Diff, want[0].Patch) || !strings.Contains(got.Diff, want[3].Patch) {
		t.Errorf("%s", r.Metadata)
	}
	if len(got.Lathe.Seen) != 3 || got.Lathe.Seen[at("bin/d.sh")] == "" {
		t.Errorf("seen %v", got.Lathe.Seen)
	}
	if len(d.Asked) != 1 {
		t.Fatalf("asked %d times", len(d.Asked))
	}
	var asked metadata
	if err := json.Unmarshal(d.Asked[0].Metadata, &asked); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.txt", "b.txt", "c.sh", "bin/d.sh", "e/f.txt"}, d.Asked[0].Patterns); diff != "" || d.Asked[0].Name != "edit" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, asked.Files); diff != "" || asked.Diff != got.Diff ||
		asked.FilePath != strings.Join([]string{at("a.txt"), at("b.txt"), at("c.sh"), at("bin/d.sh"), at("e/f.txt")}, ", ") {
		t.Errorf("%s%s", diff, d.Asked[0].Metadata)
	}
	published := []lathe.Fact{
		&lathe.FileEdited{File: at("a.txt")}, &lathe.FileWatched{File: at("a.txt"), Event: "change"},
		&lathe.FileEdited{File: at("b.txt")}, &lathe.FileWatched{File: at("b.txt"), Event: "unlink"},
		&lathe.FileEdited{File: at("bin/d.sh")}, &lathe.FileWatched{File: at("c.sh"), Event: "unlink"}, &lathe.FileWatched{File: at("bin/d.sh"), Event: "add"},
		&lathe.FileEdited{File: at("e/f.txt")}, &lathe.FileWatched{File: at("e/f.txt"), Event: "add"},
	}
	if diff := cmp.Diff(published, d.Published); diff != "" {
		t.Error(diff)
	}
}

// TestApplyPatch_Refused changes nothing, and says what would work.
func TestApplyPatch_Refused(t *testing.T) {
	tests := []struct {
		name, body string
		says       []string
	}{
		{"syntax", "*** Modify File: a.txt\n@@\n-one\n", []string{"verification failed", "Line 2", "*** Update File: a.txt"}},
		{"second file", "*** Add File: new.txt\n+x\n*** Update File: a.txt\n@@\n one\n-zwei\n+2\n", []string{"Hunk 1", "a.txt", "the patch |zwei", "2: two", "Nothing was changed"}},
		{"no file", "*** Delete File: a.txt\n*** Update File: a.text\n@@\n-one\n", []string{"not found", "Did you mean", "a.txt"}},
		{"directory", "*** Add File: new.txt\n+x\n*** Update File: dir\n@@\n-one\n", []string{"is a directory"}},
		{"add in place of a directory", "*** Add File: dir\n+x\n", []string{"is a directory"}},
		{"move onto another", "*** Update File: a.txt\n*** Move to: b.txt\n", []string{"there already", "*** Delete File:"}},
		{"ambiguous", "*** Update File: twice.txt\n@@\n-same\n+other\n", []string{"2 times", "lines 1, 3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			d.Put("a.txt", "one\ntwo\n")
			d.Put("b.txt", "b\n")
			d.Put("dir/x", "x")
			d.Put("twice.txt", "same\nx\nsame\n")
			before := state(d)
			_, err := d.Run(builtin.ApplyPatch(builtin.EditConfig{}), patchCall(tt.body))
			var failure *tool.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("got %v", err)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("does not say %q: %v", s, err)
				}
			}
			if diff := cmp.Diff(before, state(d)); diff != "" {
				t.Error(diff)
			}
			if len(d.Published) != 0 {
				t.Errorf("told %v", d.Published)
			}
		})
	}
}

func TestApplyPatch_Permission(t *testing.T) {
	for _, refuse := range []string{"edit", "external_directory"} {
		d := tooltest.NewHost(t)
		d.Put("a.txt", "one\n")
		d.Refuse = refuse
		_, err := d.Run(builtin.ApplyPatch(builtin.EditConfig{}), patchCall("*** Update File: a.txt\n*** Move to: ../outside/a.txt\n@@\n-one\n+1\n"))
		if lathe.CodeOf(err) != lathe.Rejected || d.Content("a.txt") != "one\n" {
			t.Errorf("%s: %v", refuse, err)
		}
		if d.Asked[0].Name != "external_directory" {
			t.Errorf("asked %v", d.Asked)
		}
	}
}

// TestApplyPatch_TakenBack brings back what was written when a later file cannot be.
func TestApplyPatch_TakenBack(t *testing.T) {
	tests := []struct {
		name, body string
		block      func(d *tooltest.Host)
	}{
		{"write into a closed directory", "*** Add File: closed/new.txt\n+x\n", func(d *tooltest.Host) { closeDir(d, "closed") }},
		{"remove from a closed directory", "*** Delete File: closed/x.txt\n", func(d *tooltest.Host) { closeDir(d, "closed") }},
		{"move out of a closed directory", "*** Update File: closed/x.txt\n*** Move to: y.txt\n", func(d *tooltest.Host) { closeDir(d, "closed") }},
		{"a file of the patch as a directory", "*** Add File: fresh\n+x\n*** Add File: fresh/x.txt\n+x\n", func(*tooltest.Host) {}},
		{"a directory in its place", "*** Add File: late.txt\n+x\n", func(d *tooltest.Host) { d.Put("late.txt/x", "") }},
		{"a link in its place", "*** Add File: late.txt\n+x\n", func(d *tooltest.Host) { d.Link("a.txt", "late.txt") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			d.Put("a.txt", "one\n")
			d.Put("b.txt", "old\n")
			d.Put("z.txt", "z\n")
			d.Put("closed/x.txt", "x\n")
			if err := os.Chmod(filepath.Join(d.Dir, "b.txt"), 0o700); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tt.name, "closed") && os.Geteuid() == 0 {
				t.Skip("root may write into a closed directory")
			}
			d.OnAsk = func(p tool.Permission) { // not before: it shall fail in the midst
				if p.Name == "edit" {
					tt.block(d)
				}
			}
			body := "*** Update File: a.txt\n@@\n-one\n+1\n*** Add File: n.txt\n+n\n*** Update File: z.txt\n*** Move to: m.txt\n*** Delete File: b.txt\n"
			_, err := d.Run(builtin.ApplyPatch(builtin.EditConfig{}), patchCall(body+tt.body))
			if err == nil {
				t.Fatal("it was applied")
			}
			want := map[string]string{"a.txt": "one\n", "b.txt": "old\n", "z.txt": "z\n", "closed/x.txt": "x\n"}
			got := state(d)
			delete(got, "late.txt")
			delete(got, "late.txt/x")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if info, err := os.Stat(filepath.Join(d.Dir, "b.txt")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v", info, err)
			}
			if len(d.Published) != 0 {
				t.Errorf("told %v", d.Published)
			}
		})
	}
}

// closeDir takes the right to change a directory away, until the test ends.
func closeDir(d *tooltest.Host, name string) {
	path := filepath.Join(d.Dir, name)
	if err := os.Chmod(path, 0o555); err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() { _ = os.Chmod(path, 0o755) })
}

func TestApplyPatch_WhileAsked(t *testing.T) {
	tests := []struct {
		name, body, meanwhile, want string
	}{
		{"changed elsewhere", "*** Update File: f\n@@\n-b\n+x\n", "new\na\nb\n", "new\na\nx\n"},
		{"no longer there", "*** Update File: f\n@@\n-b\n+x\n", "a\nc\n", ""},
		{"to be deleted", "*** Delete File: f\n", "a\nb\nprecious\n", ""},
		{"to be replaced", "*** Add File: f\n+x\n", "a\nb\nprecious\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			d.Put("f", "a\nb\n")
			d.OnAsk = func(p tool.Permission) {
				if p.Name == "edit" {
					d.Put("f", tt.meanwhile)
				}
			}
			_, err := d.Run(builtin.ApplyPatch(builtin.EditConfig{Tracker: builtin.NewReadTracker()}), patchCall(tt.body))
			if tt.want != "" && (err != nil || d.Content("f") != tt.want) || tt.want == "" && (err == nil || d.Content("f") != tt.meanwhile) {
				t.Errorf("%v, %q", err, d.Content("f"))
			}
		})
	}
}

// TestApplyPatch_Parallel loses no change, and does not stand still when two patches name the same
// files in another order.
func TestApplyPatch_Parallel(t *testing.T) {
	const n = 20
	d := tooltest.NewHost(t)
	var text, want strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d;\n", i)
		fmt.Fprintf(&want, "changed %d;\n", i)
	}
	d.Put("f", text.String())
	d.Put("g", text.String())
	apply := builtin.ApplyPatch(builtin.EditConfig{Tracker: builtin.NewReadTracker()})
	var group sync.WaitGroup
	for i := range n {
		names := []string{"f", "g"}
		if i%2 == 1 {
			names = []string{"g", "f"}
		}
		hunk := fmt.Sprintf("@@\n-line %d;\n+changed %[1]d;\n", i)
		group.Go(func() {
			if _, err := d.Run(apply, patchCall("*** Update File: "+names[0]+"\n"+hunk+"*** Update File: "+names[1]+"\n"+hunk)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, name := range []string{"f", "g"} {
		if diff := cmp.Diff(want.String(), d.Content(name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestApplyPatch_AllOrNothing makes patches of which one section may fail, and looks at the disk.
func TestApplyPatch_AllOrNothing(t *testing.T) {
	apply := builtin.ApplyPatch(builtin.EditConfig{})
	rapid.Check(t, func(rt *rapid.T) {
		d := tooltest.NewHost(t)
		names := []string{"a", "b", "c"}
		for _, name := range names {
			d.Put(name, name+"1\n"+name+"2\n")
		}
		var body strings.Builder
		for range rapid.IntRange(1, 5).Draw(rt, "sections") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e/f"}).Draw(rt, "name")
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				body.WriteString("*** Add File: " + name + "\n+new\n")
			case 1:
				body.WriteString("*** Delete File: " + name + "\n")
			case 2:
				body.WriteString("*** Update File: " + name + "\n*** Move to: " + rapid.SampledFrom([]string{"a", "g"}).Draw(rt, "to") + "\n")
			case 3:
				body.WriteString("*** Update File: " + name + "\n@@\n-" + name + "1\n+x\n")
			default:
				body.WriteString("*** Update File: " + name + "\n@@\n-nothing like this\n+x\n")
			}
		}
		before := state(d)
		r, err := d.Run(apply, patchCall(body.String()))
		after := state(d)
		if err != nil {
			if diff := cmp.Diff(before, after); diff != "" {
				rt.Fatalf("%v\n%s", err, diff)
			}
			return
		}
		if strings.Contains(body.String(), "nothing like this") {
			rt.Fatalf("applied: %s", r.Output)
		}
	})
}

// A symlink is not deleted or moved: what it leads to would go, and the link would stay.
func TestApplyPatch_GoesNotThroughSymlink(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("AGENTS.md", "rules\n")
	d.Link("AGENTS.md", "CLAUDE.md")
	d.Link(".", "here")
	for _, body := range []string{
		"*** Delete File: CLAUDE.md\n",
		"*** Update File: CLAUDE.md\n*** Move to: B.md\n@@\n-rules\n+more\n",
		"*** Update File: AGENTS.md\n@@\n-rules\n+more\n*** Delete File: CLAUDE.md\n",
	} {
		_, err := d.Run(builtin.ApplyPatch(builtin.EditConfig{}), patchCall(body))
		if err == nil || !strings.Contains(err.Error(), "CLAUDE.md is a symlink to "+filepath.Join(d.Dir, "AGENTS.md")) {
			t.Errorf("%s: %v", body, err)
		}
		if got := d.Content("AGENTS.md"); got != "rules\n" || len(d.Asked) > 0 {
			t.Errorf("%s: %q, asked %v", body, got, d.Asked)
		}
	}
	d.Must(builtin.ApplyPatch(builtin.EditConfig{}), patchCall("*** Update File: CLAUDE.md\n@@\n-rules\n+more\n"))
	if got := d.Content("AGENTS.md"); got != "more\n" {
		t.Errorf("updated: %q", got)
	}
	d.Must(builtin.ApplyPatch(builtin.EditConfig{}), patchCall("*** Delete File: here/AGENTS.md\n")) // the file itself, by another way
	if _, err := os.Stat(filepath.Join(d.Dir, "AGENTS.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("still there", err)
	}
}
