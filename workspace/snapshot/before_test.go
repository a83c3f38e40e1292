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
