package othertool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/lathe-agent/lathe"
)

// maxFile is the largest file that is read, in bytes.
const maxFile = 16 << 20

// read reads a file of the user's own, nil if there is none. It follows no link at the end of the path,
// waits for no pipe, and reads nothing that belongs to another user: a file that somebody else can put
// there would choose the account that prompts are sent to. Open is the mode of a file that others can
// read, which the caller refuses if it holds a secret.
func read(path string) (src []byte, open string, err error) {
	f, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", refuse(path, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, "", lathe.Errorf(lathe.Unavailable, "read %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, "", lathe.Errorf(lathe.Denied, "%s is not a regular file", path)
	case info.Size() > maxFile:
		return nil, "", lathe.Errorf(lathe.Invalid, "%s is too large for a credential file (more than %d MB)", path, maxFile>>20)
	}
	if uid, ok := foreign(info); ok {
		return nil, "", anotherUser(path, uid)
	}
	src, err = io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, "", lathe.Errorf(lathe.Unavailable, "read %s: %w", path, err)
	}
	if isOpen(info) {
		open = fmt.Sprintf("%04o", info.Mode().Perm())
	}
	return append([]byte{}, src...), open, nil // never nil
}

// refuse says why a file could not be opened.
func refuse(path string, err error) error {
	info, statErr := os.Lstat(path)
	if statErr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return lathe.Errorf(lathe.Denied, "%s is a symbolic link, which lathe does not follow to credentials; name the real file with --file", path)
	}
	if statErr == nil {
		if uid, ok := foreign(info); ok {
			return anotherUser(path, uid)
		}
	}
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return lathe.Errorf(lathe.Denied, "cannot read %s: %w", path, err)
}

// anotherUser is the error for a file that the user does not own. Root gets it too: a login of the user who
// ran sudo is not root's to send prompts with.
func anotherUser(path string, uid uint32) error {
	return lathe.Errorf(lathe.Denied, "%s belongs to another user (uid %d); lathe reads only your own credential files", path, uid)
}
