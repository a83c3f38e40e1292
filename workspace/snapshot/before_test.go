package snapshot

import (
	"io/fs"
	"maps"
	"os"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// Before reads what was there before the first of the steps, whoever changed it since, and changes nothing.
func TestBefore(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("edited", "first\n")
	b.write("removed", "gone\n")
	b.write("program", "#!/bin/sh\n")
	b.write("other", "untouched\n")
	must(t, os.Chmod(b.path("program"), 0o755))
	must(t, os.Symlink("edited", b.path("link")))
	one := b.step()
	b.tool(one, "edited", func() { b.write("edited", "second\n") })
	first := b.end(one)
	two := b.step()
	b.tool(two, "edited", func() { b.write("edited", "third\n") })
	b.tool(two, "made", func() { b.write("made", "new\n") })
	b.tool(two, "removed", func() { b.remove("removed") })
	b.tool(two, "program", func() { b.write("program", "changed\n") })
	b.tool(two, "link", func() { must(t, os.Remove(b.path("link"))) })
	second := b.end(two)
	b.write("edited", "of the user\n")
	now := b.files()

	type former struct {
		mode fs.FileMode
		text string
	}
	read := func(steps ...StepRef) map[string]former {
		t.Helper()
		files, unknown, err := b.work.Before(t.Context(), steps)
		if err != nil || len(unknown) > 0 {
			t.Fatalf("%v, %v", unknown, err)
		}
		out := map[string]former{}
		for _, f := range files {
			out[b.rels([]string{f.Path})[0]] = former{f.Mode, string(f.Data)}
		}
		return out
	}
	want := map[string]former{
		"edited": {0o644, "first\n"}, "made": {}, "removed": {0o644, "gone\n"}, "program": {0o755, "#!/bin/sh\n"},
		"link": {fs.ModeSymlink | 0o777, "edited"},
	}
	if got := read(first, second); !maps.Equal(got, want) {
		t.Errorf("before both steps %v, want %v", got, want)
	}
	want["edited"] = former{0o644, "second\n"}
	if got := read(second); !maps.Equal(got, want) {
		t.Errorf("before the second step %v, want %v", got, want)
	}
	if got := b.files(); !maps.Equal(got, now) {
		t.Errorf("the files changed: %v", got)
	}
}

// A content that is no longer stored is named.
func TestBefore_Pruned(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "first\n")
	st := b.step()
	b.tool(st, "a", func() { b.write("a", "second\n") })
	ref := b.end(st)
	must(t, os.RemoveAll(b.store.o.Dir))
	must(t, os.MkdirAll(b.store.o.Dir, 0o700))
	files, unknown, err := b.again().work.Before(t.Context(), []StepRef{ref})
	if err != nil || len(files) != 0 || len(unknown) != 1 {
		t.Errorf("%v, %v, %v", files, unknown, err)
	}
}

// A copy of a worktree gets the files before a step: directories and links change places, what a command moved is back, and
// its directories are gone.
func TestRestore(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	for _, name := range []string{"real/x", "d/f", "file"} {
		b.write(name, "first\n")
	}
	must(t, os.Symlink("real", b.path("way")))
	must(t, os.Mkdir(b.path("empty"), 0o755))
	want := b.files()
	st := b.step()
	b.command(st, func() {
		b.remove("way")
		b.write("way/x", "agent\n")
		must(t, os.Rename(b.path("d"), b.path("moved")))
		must(t, os.Symlink("moved", b.path("d")))
		b.write("empty/deep/y", "agent\n")
		b.remove("file")
		b.write("file/z", "agent\n")
	})
	done := b.end(st)
	for name, former := range map[string]func() ([]Former, error){
		"before": func() ([]Former, error) {
			files, unknown, err := b.work.Before(t.Context(), []StepRef{done})
			if len(unknown) > 0 {
				t.Errorf("unknown: %q", unknown)
			}
			return files, err
		},
		"planned": func() (out []Former, err error) {
			for _, c := range must2(b.work.Undo(t.Context(), []StepRef{done}))(t).Changes {
				out = append(out, must2(b.work.Planned(c))(t))
			}
			return out, nil
		},
	} {
		c := &bench{t: t, dir: gittest.RealTemp(t)}
		must(t, os.CopyFS(c.dir, os.DirFS(b.dir)))
		root := must2(os.OpenRoot(c.dir))(t)
		files := must2(former())(t)
		outside := must2(Restore(root, b.dir, append(files, Former{Path: "/nowhere/else"})))(t)
		must(t, root.Close())
		if got := c.files(); !maps.Equal(got, want) || len(outside) != 1 {
			t.Errorf("%s: %q, want %q; outside %q", name, got, want, outside)
		}
		for gone, stays := range map[string]bool{"moved": false, "empty/deep": false, "empty": true} {
			if _, err := os.Lstat(c.path(gone)); err == nil != stays {
				t.Errorf("%s: %s is there: %v", name, gone, err == nil)
			}
		}
	}
}
