//go:build !linux && !darwin

package workspace

import "os"

const openDirectory = 0

// openExact opens what is at a real path; a symlink anywhere on it is [ErrMoved].
func openExact(path string, flag int) (*os.File, error) { return walkOpen(path, flag) }

// kernelFiles is empty: files of the kernel are not recognized here.
func kernelFiles(*os.File) string { return "" }
