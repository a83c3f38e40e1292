//go:build !linux

package gitguard

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Only the sandbox of Linux has mounts, which need the link.

func exchange(_, _ string) error { return errors.ErrUnsupported }

func ours(fs.FileInfo) bool { return false }

func lockAlone(*os.File) error { return errors.ErrUnsupported }

func lockShared(*os.File, time.Duration) error { return errors.ErrUnsupported }
