package snapshot

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/gittest"
)

func TestStep_ToolsAndCommands(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a.txt", "one\n")
	b.write("dir/b.txt", "two\n")
	before := b.files()

	st := b.step()
	b.tool(st, "a.txt", func() { b.write("a.txt", "ONE\n") })
	b.tool(st, "new/deep/c.txt", func() { b.write("new/deep/c.txt", "three\n") })
	b.write("user.txt", "mine\n") // outside of any window
	b.command(st, func() {
		b.remove("dir/b.txt")
		b.write("made/by/command.txt", "four\n")
	})
	done := b.end(st)
	want := []string{"a.txt", "dir/b.txt", "made/by/command.txt", "new/deep/c.txt"}
	if got := b.rels(done.Files); !slices.Equal(got, want) {
		t.Fatalf("files %q, want %q", got, want)
	}
	after := b.files()

	applied := b.undo("ses_1", done)
	before["user.txt"] = "mine\n"
	if got := b.files(); !maps.Equal(got, before) {
		t.Errorf("after undo %q, want %q\nplan %+v", got, before, applied.Plan)
	}
	for _, dir := range []string{"new", "made"} {
		if isThere(b.path(dir)) {
			t.Errorf("%s was made by the step and is still there", dir)
		}
	}
	b.redo("ses_1")
	if got := b.files(); !maps.Equal(got, after) {
		t.Errorf("after redo %q, want %q", got, after)
	}
	b.undo("ses_1", done)
	if got := b.files(); !maps.Equal(got, before) {
		t.Errorf("after the second undo %q, want %q", got, before)
	}
}

func TestTrack_AgreesWithGit(t *testing.T) {
	git := newGit(t)
	b := newBench(t, gittest.RealTemp(t))
	b.write("a.txt", "one\n")
	b.write("dir/b.txt", "two\n")
	b.write("dir-x", "x")
	b.write("dir.y", "y")
	git.repo(b.dir)
	b = newBench(t, b.dir)
	check := func() {
		t.Helper()
		got, err := b.work.Track(t.Context())
		must(t, err)
		if want := git.writeTree(b.dir); got != want {
			t.Fatalf("tree %s, git has %s", got, want)
		}
	}
	check()
	b.write("c", "")
	b.write(".gitignore", "*.o\nbuild/\n")
	b.write("x.o", "o")
	b.write("build/y", "o")
	check()
	b.remove("c")
	check()
}

// The tree of a step is what is known: what tools wrote is in it without any walk.
func TestStep_Tree(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "1\n")
	first := must2(b.work.Track(t.Context()))(t)
	st := b.step()
	if got := must2(st.Tree(t.Context()))(t); got != first {
		t.Errorf("at the beginning %s, want %s", got, first)
	}
	b.tool(st, "dir/b", func() { b.write("dir/b", "2\n") })
	got := must2(st.Tree(t.Context()))(t)
	done := b.end(st)
	if want := must2(b.work.Track(t.Context()))(t); got != want || done.After != want || done.Before != first {
		t.Errorf("after the tool %s, patch from %s to %s; want from %s to %s", got, done.Before, done.After, first, want)
	}
}

// A file that was written in the moment it was read is read again.
func TestWalk_Racy(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("a", "1\n")
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(b.path("a"), old, old))
	want := must2(b.work.Track(t.Context()))(t)
	w := b.work.t
	for _, flag := range []itemFlags{0, racy} {
		it, _ := w.known.at("a")
		wrong := *it
		wrong.id, wrong.flags = oid{1}, flag
		w.known = w.known.with("a", wrong)
		must(t, w.walk(t.Context(), ""))
		it, _ = w.known.at("a")
		if read := it.id != wrong.id; read != (flag == racy) {
			t.Errorf("flags %d: read again: %v", flag, read)
		}
	}
	if got := must2(b.work.Track(t.Context()))(t); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
	now := time.Unix(1_000_000, 500_000_000)
	for _, c := range []struct {
		before time.Duration
		want   bool
	}{{time.Millisecond, true}, {-time.Millisecond, true}, {time.Second, false}, {500 * time.Millisecond, true}, {3500 * time.Millisecond, false}} {
		at := now.Add(-c.before).UnixNano()
		if got := (stat{mtime: at, ctime: at}).racy(now); got != c.want {
			t.Errorf("changed %v before: racy %v", c.before, got)
		}
	}
}
