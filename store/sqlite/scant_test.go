package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/lathe-agent/lathe/store"
)

// scantChild creates databases on a small disk that has a little more space each time, until
// there is enough for one. The log of a new database is larger than the database, so that
// there is a stretch where all of it can be written and not be copied from there.
func scantChild(args []string) error {
	if err := mountSmall(args[0]); err != nil {
		return say("skip " + err.Error())
	}
	const disk, step = 8 << 20, 128 << 10 // what mountSmall mounts
	tries := 0
	for room := step; ; room += step {
		done, err := makeIn(args[0], disk-room)
		if err != nil {
			return fmt.Errorf("with room for %d bytes: %w", room, err)
		}
		if done {
			return say("made after " + strconv.Itoa(tries))
		}
		if tries++; room > disk/2 {
			return errors.New("half of the disk is not enough for a database")
		}
	}
}

// makeIn tries to make a database beside a ballast; where that fails nothing may be left,
// and without the ballast it must be possible.
func makeIn(dir string, ballast int) (done bool, err error) {
	weight := filepath.Join(dir, "ballast")
	if err := os.WriteFile(weight, make([]byte, ballast), 0o600); err != nil {
		return false, err
	}
	s, _, fault := openAt(dir, store.Options{})
	if fault == nil {
		return true, errors.Join(checkAll(s, nil), s.Close())
	}
	left, err := filepath.Glob(filepath.Join(dir, "lathe.db*"))
	if err != nil || !slices.Equal(left, []string{filepath.Join(dir, "lathe.db.lock")}) {
		return false, fmt.Errorf("left %q: %w", left, errors.Join(fault, err))
	}
	if err := os.Remove(weight); err != nil {
		return false, err
	}
	s, _, err = openAt(dir, store.Options{})
	if err != nil {
		return false, fmt.Errorf("there is room again: %w", err)
	}
	if err := errors.Join(checkAll(s, nil), s.Close()); err != nil {
		return false, err
	}
	return false, os.Remove(filepath.Join(dir, "lathe.db"))
}

// TestMigrate_LittleSpace begins on a disk that is nearly full.
func TestMigrate_LittleSpace(t *testing.T) {
	t.Parallel()
	c, err := launch(ownMounts(), "scant", t.TempDir())
	if err != nil {
		t.Skipf("skipped: no process with mounts of its own can be started here: %v", err)
	}
	t.Cleanup(c.kill)
	expectStarved(t, c, []string{"made after"})
	c.wait(t)
}
