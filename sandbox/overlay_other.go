//go:build !linux

package sandbox

// CanOverlay reports why no overlay can be made for a command whose changes go below a folder.
func CanOverlay(string) error { return ErrUnavailable }

// CanMount reports whether a command can have mounts of its own.
func CanMount() bool { return false }
