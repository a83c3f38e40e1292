package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/fence"
)

// ErrMoved is in the chain of an error when a path no longer leads where it led when it was
// resolved: a symlink or another file has taken the place of a part of it.
var ErrMoved = errors.New("the path now leads elsewhere")

// ErrNotFile is in the chain of an error when a path names a directory, a device, a pipe, a
// socket or a file of the kernel where a regular file is wanted.
var ErrNotFile = errors.New("not a regular file")

// ErrTooLarge is in the chain of the error of [File.ReadAll] for a file beyond its limit.
var ErrTooLarge = errors.New("the file is too large")

// File is a resolved path in the file system, on which rules can decide. Its methods reach
// exactly Path: a symlink that is put into the way after [Resolve] makes them fail, it is never
// followed.
type File struct {
	Name string      // as requested: absolute and cleaned, with symlinks
	Path string      // where it really is: no symlink on the way, the letters the disk has
	Info fs.FileInfo // of Path when it was resolved; nil if nothing is there

	fence *fence.Fence // after which it is not changed; nil has no end
}

// Within returns the file for a writer that may change it only until the fence of the context.
func (f File) Within(ctx context.Context) File {
	f.fence = fence.FromContext(ctx)
	return f
}

// IsDir reports whether a directory was there.
func (f File) IsDir() bool { return f.Info != nil && f.Info.IsDir() }

// Open opens the file for reading. It opens only regular files, and never waits for the other
// end of a pipe.
func (f File) Open() (*os.File, error) {
	if f.Info != nil && !f.Info.Mode().IsRegular() {
		return nil, notFile(f.Path, f.Info.Mode()) // not even opened: that alone can make a device act
	}
	file, err := openExact(f.Path, os.O_RDONLY)
	if err != nil {
		return nil, sayOpen(f.Path, err)
	}
	info, err := file.Stat()
	if err == nil {
		err = readable(file, f.Path, info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// ReadAll reads the whole file if it has at most limit bytes.
func (f File) ReadAll(limit int64) ([]byte, error) {
	file, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "read %s: %w", f.Path, err)
	}
	if info.Size() > limit {
		return nil, tooLarge(f.Path, info.Size(), limit)
	}
	// One byte more than there should be, so that the end is found without growing.
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, lathe.Errorf(lathe.Unavailable, "read %s: %w", f.Path, err)
		case int64(len(data)) > limit: // it grew
			return nil, tooLarge(f.Path, int64(len(data)), limit)
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// ReadDir returns up to limit entries of the directory, in no order.
func (f File) ReadDir(limit int) ([]fs.DirEntry, error) {
	dir, err := openExact(f.Path, os.O_RDONLY|openDirectory)
	if err != nil {
		return nil, sayOpen(f.Path, err)
	}
	defer dir.Close()
	entries, err := dir.ReadDir(max(limit, 1))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, lathe.Errorf(lathe.Unavailable, "read the directory %s: %w", f.Path, err)
	}
	return entries, nil
}

// readable refuses an open file that cannot be read to an end.
func readable(file *os.File, path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return notFile(path, info.Mode())
	}
	if name := kernelFiles(file); name != "" {
		return lathe.Errorf(lathe.Invalid, "%s is a kernel file (%s), which this tool does not open; use a command to show it: %w", path, name, ErrNotFile)
	}
	return nil
}

func notFile(path string, mode fs.FileMode) error {
	return lathe.Errorf(lathe.Invalid, "%s is %s, not a regular file: %w", path, kindWords(mode), ErrNotFile)
}

// kindWords names a kind of file.
func kindWords(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symlink"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	default:
		return "a special file"
	}
}

func tooLarge(path string, size, limit int64) error {
	return lathe.Errorf(lathe.Invalid, "%s has %d bytes, and at most %d can be taken at once: %w", path, size, limit, ErrTooLarge)
}

// sayOpen puts the failure to open a path in words, once.
func sayOpen(path string, err error) error {
	switch {
	case errors.Is(err, ErrMoved):
		return moved(path)
	case errors.Is(err, syscall.ENOTDIR):
		return &lathe.Error{Code: lathe.NotFound, Message: path + ": a part of the path is a file, not a directory", Err: errors.Join(fs.ErrNotExist, err)}
	case errors.Is(err, fs.ErrNotExist):
		return &lathe.Error{Code: lathe.NotFound, Message: path + " does not exist", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &lathe.Error{Code: lathe.Denied, Message: path + " cannot be opened: permission denied", Err: err}
	}
	cause := err
	var at *fs.PathError
	if errors.As(err, &at) {
		cause = at.Err
	}
	return lathe.Errorf(lathe.Unavailable, "open %s: %w", path, cause)
}

func moved(path string) error {
	return lathe.Errorf(lathe.Conflict, "%s was replaced while in use, so it was left alone: %w", path, ErrMoved)
}

// OpenDir opens a directory at its real path as a root for operations inside. A symlink
// anywhere on the way is [ErrMoved].
func OpenDir(path string) (*os.Root, error) { return openDir(path) }

// openDir opens a directory at its real path as a root for operations inside. What
// [os.OpenRoot] found by following names is compared with what lies there without symlinks.
func openDir(path string) (*os.Root, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, sayOpen(path, err)
	}
	exact, err := openExact(path, os.O_RDONLY|openDirectory)
	if err != nil {
		root.Close()
		return nil, sayOpen(path, err)
	}
	defer exact.Close()
	if err := sameDir(root, exact); err != nil {
		root.Close()
		return nil, sayOpen(path, err)
	}
	return root, nil
}

func sameDir(root *os.Root, exact *os.File) error {
	got, err := root.Stat(".")
	if err != nil {
		return err
	}
	want, err := exact.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(got, want) {
		return ErrMoved
	}
	return nil
}
