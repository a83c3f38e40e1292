//go:build !linux

package sandbox

import "net"

// check refuses nothing: there are no launchers here, and nothing tells whose a connection is.
func (p *PeerChecker) check(net.Conn) error { return nil }
