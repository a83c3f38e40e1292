//go:build !linux

package sandbox

// CanOverlay reports why no overlay can be made for a command whose changes go below a folder.
func CanOverlay(string) error { return ErrUnavailable }
