package snapshot

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// What other programs obey goes back to what the user had, and what a model had made of it does
// not come back with a redo, which asks no permission.
func TestRedo_LeavesGuardedAlone(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write(".npmrc", "user\n")
	b.write("a", "user\n")
	st := b.step()
	b.tool(st, ".npmrc", func() { b.write(".npmrc", "agent\n") })
	b.tool(st, "lathe.json", func() { b.write("lathe.json", "agent\n") })
	b.tool(st, "a", func() { b.write("a", "agent\n") })
	done := b.end(st)
	b.undo("ses", done)
	if got := b.files(); got[".npmrc"] != "user\n" || got["lathe.json"] != "" || got["a"] != "user\n" {
		t.Errorf("after undo %q", got)
	}
	again := must2(b.work.ReplanUndo(t.Context(), "ses", nil))(t)
	for _, plan := range []Plan{again, b.redo("ses").Plan} {
		for _, c := range plan.Changes {
			if guarded := filepath.Base(c.Path) != "a"; guarded != (c.Conflict == whyGuarded) {
				t.Errorf("%s: conflict %q", c.Path, c.Conflict)
			}
		}
	}
	if got := b.files(); got[".npmrc"] != "user\n" || got["lathe.json"] != "" || got["a"] != "agent\n" {
		t.Errorf("after redo %q", got)
	}
}

// A session that was imported may name any content as that before a step.
func TestUndo_ImportedGuarded(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("lathe.json", "evil\n")
	st := b.step()
	b.tool(st, "lathe.json", func() { b.write("lathe.json", "user\n") })
	done := b.end(st)
	must(t, os.Remove(b.work.t.recordPath(done.Key)))
	b.undo("ses", done)
	if got := b.files(); got["lathe.json"] != "user\n" {
		t.Errorf("after undo %q", got)
	}
}

// A symlink that is planted while files are put back leads nowhere.
func TestApply_PlantedSymlink(t *testing.T) {
	for _, op := range []string{"open", "stage", "replace"} {
		t.Run(op, func(t *testing.T) {
			b := newBench(t, gittest.RealTemp(t))
			b.write("hooks/pre-commit", "user\n")
			must(t, os.MkdirAll(b.path("real"), 0o755))
			long := time.Unix(1_000_000_000, 0)
			must(t, os.Chtimes(b.path("real"), long, long))
			st := b.step()
			b.tool(st, "hooks/pre-commit", func() { b.write("hooks/pre-commit", "agent\n") })
			plan := must2(b.work.Undo(t.Context(), []StepRef{b.end(st)}))(t)
			b.work.t.disk.before = func(at, rel string) {
				if at == op && rel == "hooks/pre-commit" {
					must(t, os.Rename(b.path("hooks"), b.path("away")))
					must(t, os.Symlink("real", b.path("hooks")))
				}
			}
			_, err := b.work.Apply(t.Context(), "ses", plan)
			b.work.t.disk.before = nil
			names := must2(os.ReadDir(b.path("real")))(t)
			if info := must2(os.Stat(b.path("real")))(t); len(names) > 0 || !info.ModTime().Equal(long) { // not even for a moment
				t.Errorf("written through the link: %v at %v (%v)", names, info.ModTime(), err)
			}
		})
	}
}
