//go:build !linux

package sandbox

import "net/netip"

// ServedByLathe reports nothing: no command has a network of its own here.
func ServedByLathe(netip.AddrPort) bool { return false }
