//go:build !linux

package sandbox

// session has processes in common on Linux only.
type session struct{}

func (*session) end() {}

func (*Runner) warm(Command) {}
