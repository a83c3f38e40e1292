package worktree

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// setTime sets the time of an open file, without another walk to its name where the kernel can do that.
func setTime(dir *os.Root, f *os.File, base string, t time.Time) error {
	ts, err := unix.TimeToTimespec(t)
	if err == nil {
		err = unix.UtimesNanoAt(int(f.Fd()), "", []unix.Timespec{ts, ts}, unix.AT_EMPTY_PATH)
	}
	if err != nil {
		return dir.Chtimes(base, t, t)
	}
	return nil
}
