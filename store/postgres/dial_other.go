//go:build !linux

package postgres

import "syscall"

// limitUnacked leaves the limit to the system.
func limitUnacked(string, string, syscall.RawConn) error { return nil }
