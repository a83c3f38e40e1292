//go:build !unix

package othertool

import (
	"errors"
	"io/fs"
	"os"
)

// openRegular opens a file that is not a link. Access rights are not bits here: the system checks
// them.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return os.Open(path)
}

// foreign knows no owner here.
func foreign(fs.FileInfo) (uid uint32, ok bool) { return 0, false }

// isOpen knows no bits here.
func isOpen(fs.FileInfo) bool { return false }
