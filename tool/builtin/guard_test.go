package builtin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// Every tool that writes asks before it changes what other programs obey, by whatever way it gets
// there, and changes nothing without the permission.
func TestGuarded_EveryHand(t *testing.T) {
	names := []string{".git/config", ".git/hooks/pre-commit", "lathe.json", ".opencode/plugin/x.ts", ".vscode/tasks.json", "way/hooks/pre-commit", "sub/.GIT/config"}
	tools := map[string]func(path string) (tool.Tool, tooltest.Input){
		"write": func(path string) (tool.Tool, tooltest.Input) {
			return builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": path, "content": "evil"}
		},
		"edit": func(path string) (tool.Tool, tooltest.Input) {
			return builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": path, "oldString": "good", "newString": "evil"}
		},
		"update": func(path string) (tool.Tool, tooltest.Input) {
			return builtin.ApplyPatch(builtin.EditConfig{}), tooltest.Input{"patchText": "*** Begin Patch\n*** Update File: " + path + "\n@@\n-good\n+evil\n*** End Patch"}
		},
		"delete": func(path string) (tool.Tool, tooltest.Input) {
			return builtin.ApplyPatch(builtin.EditConfig{}), tooltest.Input{"patchText": "*** Begin Patch\n*** Delete File: " + path + "\n*** End Patch"}
		},
		"move": func(path string) (tool.Tool, tooltest.Input) {
			return builtin.ApplyPatch(builtin.EditConfig{}), tooltest.Input{"patchText": "*** Begin Patch\n*** Update File: plain.txt\n*** Move to: " + path + "\n@@\n-good\n+evil\n*** End Patch"}
		},
	}
	for how, call := range tools {
		for _, name := range names {
			t.Run(how+" "+name, func(t *testing.T) {
				for _, refuse := range []string{"sandbox", ""} {
					d := tooltest.NewHost(t)
					if err := os.MkdirAll(filepath.Join(d.Dir, ".git"), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(".git", filepath.Join(d.Dir, "way")); err != nil {
						t.Skipf("no symlinks here: %v", err)
					}
					if how != "move" {
						d.Put(name, "good\n")
					}
					d.Put("plain.txt", "good\n")
					d.Refuse = refuse
					x, input := call(name)
					before := treeOf(t, d.Dir)
					_, err := d.Run(x, input)
					changed := !slices.Equal(before, treeOf(t, d.Dir))
					if changed != (refuse == "") {
						t.Errorf("refused %q: changed is %v, error %v", refuse, changed, err)
					}
					asked := d.Asked[len(d.Asked)-1]
					var meta struct{ Filepath, Reason, Diff string }
					if err := json.Unmarshal(asked.Metadata, &meta); err != nil {
						t.Fatal(err)
					}
					if asked.Name != "sandbox" || len(asked.Always) > 0 || meta.Reason == "" || meta.Filepath == "" || meta.Diff == "" || !strings.HasPrefix(asked.Patterns[0], "edit:") {
						t.Errorf("asked %s %q %q %s", asked.Name, asked.Patterns, asked.Always, asked.Metadata)
					}
				}
			})
		}
	}
}

// treeOf lists the files below a folder with what they hold.
func treeOf(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		out = append(out, path+": "+string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A hard link is another name of a guarded file. Writing to it leaves the guarded one as it is.
func TestGuarded_HardLink(t *testing.T) {
	d := tooltest.NewHost(t)
	config := d.Put(".git/config", "good\n")
	if err := os.Link(config, filepath.Join(d.Dir, "notes.txt")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	d.Must(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": "notes.txt", "content": "evil"})
	if data, err := os.ReadFile(config); err != nil || string(data) != "good\n" {
		t.Errorf(".git/config is %q, %v", data, err)
	}
}

// The files of one patch cannot make a repository together of which none is one alone.
func TestGuarded_RepositoryInPieces(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Refuse = "sandbox"
	x := builtin.ApplyPatch(builtin.EditConfig{})
	_, err := d.Run(x, tooltest.Input{"patchText": "*** Begin Patch\n*** Add File: sub/config\n+[core]\n*** Add File: sub/refs/x\n+x\n*** Add File: sub/objects/x\n+x\n*** Add File: sub/HEAD\n+ref: refs/heads/main\n*** End Patch"})
	if err == nil || len(treeOf(t, d.Dir)) > 0 {
		t.Errorf("it was made: %v %v", err, treeOf(t, d.Dir))
	}
}

// Plans are written unasked, as regular files that no link leads to.
func TestGuarded_Plans(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Refuse = "sandbox"
	write := builtin.Write(builtin.WriteConfig{AllowStale: true})
	for _, name := range []string{".lathe/plans/a.md", ".opencode/plans/b.md"} {
		d.Must(write, tooltest.Input{"filePath": name, "content": "plan"})
	}
	if err := os.Symlink(filepath.Join("..", "..", ".envrc"), filepath.Join(d.Dir, ".lathe", "plans", "c.md")); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	for _, name := range []string{".lathe/plans/c.md", ".lathe/plans/x.sh", ".opencode/plugin/a.md"} {
		if _, err := d.Run(write, tooltest.Input{"filePath": name, "content": "evil"}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}
