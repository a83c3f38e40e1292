package builtin_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// changes are calls of tools that change files, each of a project with a.txt and b.txt, and
// the files they must tell before.
func changes(d *tooltest.Host) map[string]struct {
	tool  tool.Tool
	input map[string]any
	files []string
} {
	type c = struct {
		tool  tool.Tool
		input map[string]any
		files []string
	}
	seen := builtin.NewReadTracker()
	edit := builtin.EditConfig{Tracker: seen}
	a, n := filepath.Join(d.Dir, "a.txt"), filepath.Join(d.Dir, "new", "n.txt")
	return map[string]c{
		"write":  {builtin.Write(builtin.WriteConfig{Tracker: seen, AllowStale: true}), map[string]any{"filePath": a, "content": "A\n"}, []string{"a.txt"}},
		"create": {builtin.Write(builtin.WriteConfig{Tracker: seen}), map[string]any{"filePath": n, "content": "N\n"}, []string{"new/n.txt"}},
		"edit":   {builtin.Edit(edit), map[string]any{"filePath": a, "oldString": "a", "newString": "A"}, []string{"a.txt"}},
		"patch": {
			builtin.ApplyPatch(edit),
			map[string]any{"patchText": "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Delete File: b.txt\n*** Add File: c.txt\n+c\n*** End Patch"},
			[]string{"a.txt", "b.txt", "c.txt"},
		},
		"move": {
			builtin.ApplyPatch(edit),
			map[string]any{"patchText": "*** Begin Patch\n*** Update File: a.txt\n*** Move to: m.txt\n@@\n-a\n+A\n*** End Patch"},
			[]string{"a.txt", "m.txt"},
		},
	}
}

func tree(t *testing.T, dir string) (out string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			data, _ := os.ReadFile(path)
			out += path[len(dir):] + "=" + string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every tool that changes files says which before it does, by real paths, and says when it is
// done.
func TestChanging(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"write", "create", "edit", "patch", "move"} {
		t.Run(name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			d.Put("a.txt", "a\n")
			d.Put("b.txt", "b\n")
			c := changes(d)[name]
			before, during, published := tree(t, d.Dir), "", []string{}
			d.OnChange = func(paths []string) (func(), error) {
				during, published = tree(t, d.Dir), append(published, paths...)
				return func() { published = append(published, "done"); during += "|" + tree(t, d.Dir) }, nil
			}
			if _, err := d.Run(c.tool, c.input); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, f := range c.files {
				want = append(want, filepath.Join(d.Dir, filepath.FromSlash(f)))
			}
			if want = append(want, "done"); !slices.Equal(published, want) {
				t.Errorf("told %q, want %q", published, want)
			}
			if after := tree(t, d.Dir); during != before+"|"+after || before == after {
				t.Errorf("before %q, during %q, after %q", before, during, after)
			}
		})
	}
}

// What cannot be kept for an undo is not changed.
func TestChanging_Refused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"write", "create", "edit", "patch", "move"} {
		t.Run(name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			d.Put("a.txt", "a\n")
			d.Put("b.txt", "b\n")
			before := tree(t, d.Dir)
			d.OnChange = func([]string) (func(), error) { return nil, errors.New("no space left") }
			c := changes(d)[name]
			_, err := d.Run(c.tool, c.input)
			var f *tool.Failure
			if !errors.As(err, &f) || !strings.Contains(f.Text, "no space left") || !strings.Contains(f.Text, "nothing was written") {
				t.Errorf("%v", err)
			}
			if after := tree(t, d.Dir); after != before {
				t.Errorf("changed: %q, was %q", after, before)
			}
		})
	}
}
