//go:build linux || darwin

package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// maxAttribute is how long an extended attribute may be that is copied: forks of old programs on macOS
// are long, all others have some bytes.
const maxAttribute = 16 << 20

// CopyAttributes gives a file the extended attributes of the one that it is about to replace, by its
// name in a directory; access lists are among them. Attributes that vouch for a content stay behind
// with that content, and those that only the system may set are tried.
func CopyAttributes(to *os.File, dir *os.Root, name string) error {
	from, err := openLeaf(dir, name, os.O_WRONLY)
	if err != nil {
		return err
	}
	defer from.Close()
	source, target := int(from.Fd()), int(to.Fd())
	names, err := attributes(source)
	if err != nil {
		return err
	}
	for _, attr := range names {
		if vouches(attr) {
			continue
		}
		value, err := attribute(source, attr)
		if err == nil {
			err = unix.Fsetxattr(target, attr, value, 0)
		}
		if err != nil && mustKeep(attr) {
			return fmt.Errorf("copy the attribute %s: %w", attr, err)
		}
	}
	return dropForeign(target, names)
}

// attributes lists the names of a file's attributes; none where the file system has none.
func attributes(fd int) (names []string, err error) {
	list, err := grown(func(to []byte) (int, error) { return unix.Flistxattr(fd, to) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
		return nil, nil
	}
	for name := range bytes.SplitSeq(list, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names, err
}

func attribute(fd int, name string) ([]byte, error) {
	return grown(func(to []byte) (int, error) { return unix.Fgetxattr(fd, name, to) })
}

// grown reads a value whose size is asked for first, and may have grown meanwhile.
func grown(read func([]byte) (int, error)) ([]byte, error) {
	for {
		size, err := read(nil)
		if err != nil || size == 0 {
			return nil, err
		}
		if size > maxAttribute {
			return nil, unix.E2BIG
		}
		value := make([]byte, size)
		if size, err = read(value); err == nil {
			return value[:size], nil
		}
		if !errors.Is(err, unix.ERANGE) {
			return nil, err
		}
	}
}
