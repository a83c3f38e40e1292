//go:build !linux && !darwin

package workspace

import "os"

// CopyAttributes does nothing: there are no extended attributes, or they are not copied here.
func CopyAttributes(*os.File, *os.Root, string) error { return nil }
