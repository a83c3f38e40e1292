//go:build unix

package hostiletest

import (
	"os"
	"path/filepath"
	"syscall"
)

// pipe makes a named pipe without a writer.
func (s *scene) pipe(name string) {
	s.t.Helper()
	s.mkdir(filepath.Dir(s.path(name)))
	_ = os.Remove(s.path(name))
	if err := syscall.Mkfifo(s.path(name), 0o600); err != nil {
		s.t.Skip("no pipes here: ", err)
	}
}
