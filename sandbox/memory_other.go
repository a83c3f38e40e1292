//go:build !linux

package sandbox

// Memory returns 0: the resident memory of a program is known on Linux only.
func (s *Service) Memory() int64 { return 0 }
