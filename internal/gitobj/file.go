package gitobj

import (
	"errors"
	"io"
	"os"
	"syscall"
)

var (
	// ErrNotRegular says that a file is a directory, pipe, socket or device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge says that a file has more bytes than were asked for.
	ErrTooLarge = errors.New("larger than any such file should be")
)

// openRegular opens a regular file. Anything else is refused before it is opened, because
// opening can wait or do something; should it be exchanged in between, it is at least not
// waited for.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// readWhole is ReadFile for files that are useless in part: it does not start on a file that is
// too large.
func readWhole(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > limit {
		return nil, &os.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return ReadFile(path, limit)
}

// ReadFile reads a regular file of at most limit bytes. Of a longer one the first limit
// bytes come with [ErrTooLarge]; what its size is said to be does not matter.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return data[:limit], &os.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return data, err
}
