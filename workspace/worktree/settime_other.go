//go:build !linux

package worktree

import (
	"os"
	"time"
)

func setTime(dir *os.Root, _ *os.File, base string, t time.Time) error {
	return dir.Chtimes(base, t, t)
}
