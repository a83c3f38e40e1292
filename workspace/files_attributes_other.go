//go:build !linux && !darwin

package workspace

import "os"

// KeepAttributes does nothing: there are no extended attributes, or they are not copied here.
func KeepAttributes(*os.File, *os.Root, string) error { return nil }
