package postgres

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// unackedWait is how long sent data may stay without an answer of the other kernel, in milliseconds.
const unackedWait = 6000

// limitUnacked ends connections into a dead network. A keep-alive is not sent while data waits.
func limitUnacked(network, _ string, c syscall.RawConn) (err error) {
	if network == "unix" {
		return nil
	}
	call := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, unackedWait)
	})
	if err == nil {
		err = call
	}
	return err
}
