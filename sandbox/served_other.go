//go:build !linux

package sandbox

import "net/netip"

// ServedByLathe reports nothing: no command has its own network here.
func ServedByLathe(netip.AddrPort) bool { return false }
