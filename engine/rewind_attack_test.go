package engine_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// rewind opens the session as the next process does, and rewinds it.
func (c *rewindScene) rewind(in lathe.Rewind) (lathe.Rewound, error) {
	c.Helper()
	e, _, err := openRewind(c.Context(), c.data, func() {})
	c.ok(err)
	defer func() { c.ok(e.Close()) }()
	return e.Rewind(c.Context(), c.id, in)
}

// Symlinks that are planted between a step and its rewind, in the place of folders, lead out of the project. Nothing behind
// them is written or deleted, although the content there is what the step left; everything else is rewound. The control is
// the same rewind without links.
func TestRewind_PlantedSymlinks(t *testing.T) {
	t.Parallel()
	c := newRewindScene(t)
	outside := t.TempDir()
	for _, name := range []string{"0", "1", "2"} {
		data, err := os.ReadFile(filepath.Join(c.dir, "new", name))
		c.ok(err)
		c.ok(os.WriteFile(filepath.Join(outside, name), data, 0o644))
	}
	c.ok(os.Rename(filepath.Join(c.dir, "new"), filepath.Join(c.dir, "away")))
	if err := os.Symlink(outside, filepath.Join(c.dir, "new")); err != nil {
		t.Skipf("no symlinks: %v", err)
	}
	c.ok(os.Symlink(outside, filepath.Join(c.dir, "sub"))) // where sub/gone comes back
	done, err := c.rewind(lathe.Rewind{Step: 0})
	c.ok(err)
	left := 0
	for _, f := range done.Files {
		if f.Conflict != "" {
			left++
		}
	}
	names, err := os.ReadDir(outside)
	c.ok(err)
	if left != 4 || len(names) != 3 {
		t.Errorf("behind the links are %v, left alone %+v", names, done.Files)
	}
	if data, err := os.ReadFile(filepath.Join(c.dir, "a")); err != nil || string(data) != "0\n" {
		t.Errorf("a is %q, %v", data, err)
	}
	_, err = c.rewind(lathe.Rewind{Redo: true})
	c.ok(err)
	c.ok(os.Remove(filepath.Join(c.dir, "sub")))
	c.ok(os.Remove(filepath.Join(c.dir, "new")))
	c.ok(os.Rename(filepath.Join(c.dir, "away"), filepath.Join(c.dir, "new")))
	_, err = c.rewind(lathe.Rewind{Step: 0})
	c.ok(err)
	if got := c.files(); !maps.Equal(got, c.states[0]) {
		t.Errorf("without links it left %q", got)
	}
}

// Snapshots that are deleted by age: the steps are named, no file is touched, a dry run has the reason, and the
// conversation alone can be rewound.
func TestRewind_Pruned(t *testing.T) {
	t.Parallel()
	c := newRewindScene(t)
	long := time.Now().Add(-48 * time.Hour)
	c.ok(filepath.WalkDir(filepath.Join(c.data, "snapshot"), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, long, long)) // young files stay, whatever they are
	}))
	old := snapshot.New(snapshot.Options{
		Dir: filepath.Join(c.data, "snapshot"), MaxAge: time.Hour, MaxBytes: 1 << 30, Now: func() time.Time { return time.Now().Add(48 * time.Hour) },
	})
	c.ok(old.Tidy(t.Context()))
	c.ok(old.Close())
	_, err := c.rewind(lathe.Rewind{Step: 1})
	if lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "the snapshots of steps 2 to 3 are deleted") || !strings.Contains(err.Error(), "only the conversation") {
		t.Errorf("refused with %v", err)
	}
	plan, err := c.rewind(lathe.Rewind{Step: 1, DryRun: true})
	c.ok(err)
	if plan.Problem == "" || !slices.Equal(plan.Pruned, []int{2, 3}) || plan.Undone != 2 {
		t.Errorf("a dry run is %+v", plan)
	}
	done, err := c.rewind(lathe.Rewind{Step: 1, Scope: lathe.RewindConversation})
	c.ok(err)
	if got := c.files(); !maps.Equal(got, c.states[3]) || done.Session.Revert == nil {
		t.Errorf("the files are %q, the session is %+v", got, done.Session.Revert)
	}
}

// A session rewinds its own directory, whatever the current one is. Another project with the same files stays as it is.
func TestRewind_OtherProject(t *testing.T) {
	t.Parallel()
	c := newRewindScene(t)
	other := *c
	other.dir = filepath.Join(filepath.Dir(c.dir), "other")
	for name, text := range c.states[3] {
		other.write(name, text)
	}
	_, err := c.rewind(lathe.Rewind{Step: 0})
	c.ok(err)
	if got := c.files(); !maps.Equal(got, c.states[0]) {
		t.Errorf("the session's files are %q", got)
	}
	if got := other.files(); !maps.Equal(got, c.states[3]) {
		t.Errorf("the other project has %q", got)
	}
}
