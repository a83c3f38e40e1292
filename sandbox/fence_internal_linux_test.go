package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/fence"
)

// The launcher itself looks before it starts the command: its own start takes time.
func TestFence_LauncherLooksAgain(t *testing.T) {
	for _, late := range []bool{true, false} {
		dir := t.TempDir()
		until := fence.Now() + time.Minute
		if late {
			until = fence.Now() - time.Second
		}
		r := Open(Config{Launcher: Self()})
		c := Command{Path: "/bin/sh", Args: []string{"-c", "echo > effect"}, Dir: dir, Env: os.Environ(), until: until}
		err := r.enter(c, func() (tree, error) {
			tr, out, err := r.startPiped(c)
			if err == nil {
				<-tr.gone()
				err = out.Close()
			}
			return tr, err
		})
		if late != errors.Is(err, errLate) {
			t.Errorf("late %v: %v", late, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "effect")); late != (err != nil) {
			t.Errorf("late %v, effect: %v", late, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFence_TimesAreArguments(t *testing.T) {
	grace, until, err := parseTimes(launchTimes(2*time.Second, 5*time.Hour))
	if grace != 2*time.Second || until != 5*time.Hour || err != nil {
		t.Errorf("%v, %v, %v", grace, until, err)
	}
	if got := launchTimes(time.Second, 0); got != "1000" {
		t.Errorf("without a fence: %q", got)
	}
	for _, s := range []string{"", "x", "1@", "1@x", "@1"} {
		if _, _, err := parseTimes(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}
