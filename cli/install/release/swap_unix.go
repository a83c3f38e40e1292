//go:build !windows

package release

import (
	"cmp"
	"os"
)

// keepOld links the old program to its other name, then renames the new one over it.
func keepOld(program, fresh, kept, before string) error {
	if err := os.Link(program, kept); err != nil { // not on every file system
		if err := copyFile(program, kept); err != nil {
			return err
		}
	}
	if info, err := os.Stat(program); err == nil {
		if err := os.Chmod(fresh, info.Mode().Perm()|0o100); err != nil {
			return err
		}
	}
	return cmp.Or(os.Rename(kept, before), os.Rename(fresh, program))
}
