package sandbox

import "golang.org/x/sys/unix"

func (t *launched) command() int { return t.pid }

// isTerminal reports whether a file of ours is a terminal. The output of a command is one only
// where it was started in its own terminal, which it then controls.
func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}
