//go:build !linux

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Self is empty: only Linux has a launcher.
func Self() string { return "" }

// Launch is for the launcher, which only Linux has.
func Launch([]string, func() []string) (exit int, mine bool) { return 0, false }

func unsupported() error {
	return fmt.Errorf("%w: only Linux and macOS have it; set \"sandbox\": \"off\"", ErrUnavailable)
}

// MoveAside takes something from its name without destroying it, into a folder.
func MoveAside(path, aside string) error {
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return err
	}
	stamp := strconv.FormatInt(time.Now().UnixNano(), 36)
	return os.Rename(path, filepath.Join(aside, stamp+"-"+filepath.Base(path)))
}
