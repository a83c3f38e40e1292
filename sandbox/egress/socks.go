package egress

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// The needed part of SOCKS 5 (RFC 1928): no authentication, CONNECT, names looked up by us.
const (
	socksVersion = 5

	socksNoAuth  = 0
	socksNoneFit = 0xff
	socksConnect = 1

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4

	socksGranted     = 0
	socksFailed      = 1
	socksRefused     = 2
	socksUnreachable = 4
	socksCommand     = 7
	socksAddress     = 8
)

// socks serves one client, whose first byte is still to be read.
func (p *Proxy) socks(c net.Conn, r *bufio.Reader) {
	host, port, code := socksTarget(c, r)
	var there net.Conn
	if code == socksGranted {
		var err error
		if there, err = p.dial(p.ctx, host, port); err != nil {
			_, _ = p.explain(err)
			code = socksUnreachable
			if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
				code = socksRefused
			}
		}
	}
	// Clients do not need the local address.
	_, err := c.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	switch {
	case there == nil:
		_ = c.Close()
	case err != nil:
		_, _ = c.Close(), there.Close()
	default:
		_ = c.SetReadDeadline(time.Time{})
		carry(p.ctx, c, there, r)
	}
}

// socksTarget reads what a client wants; code is what to answer.
func socksTarget(c net.Conn, r *bufio.Reader) (host, port string, code byte) {
	methods, err := socksBytes(r, 1)
	if err != nil {
		return "", "", socksFailed
	}
	method := byte(socksNoneFit)
	for _, m := range methods {
		if m == socksNoAuth {
			method = socksNoAuth
		}
	}
	if _, err := c.Write([]byte{socksVersion, method}); err != nil || method != socksNoAuth {
		return "", "", socksFailed
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != socksVersion {
		return "", "", socksFailed
	}
	switch size := map[byte]int{socksIPv4: 4, socksIPv6: 16}[head[3]]; {
	case head[3] == socksName:
		var name []byte
		name, err = socksBytes(r, 0)
		host = string(name)
	case size > 0:
		b := make([]byte, size)
		_, err = io.ReadFull(r, b)
		addr, _ := netip.AddrFromSlice(b)
		host = addr.String()
	default:
		return "", "", socksAddress
	}
	var number [2]byte
	if err == nil {
		_, err = io.ReadFull(r, number[:])
	}
	switch {
	case err != nil:
		return "", "", socksFailed
	case head[1] != socksConnect:
		return "", "", socksCommand
	}
	return host, strconv.Itoa(int(number[0])<<8 | int(number[1])), socksGranted
}

// socksBytes reads some bytes that begin with their number, after skipping others.
func socksBytes(r *bufio.Reader, skip int) ([]byte, error) {
	if _, err := r.Discard(skip); err != nil {
		return nil, err
	}
	n, err := r.ReadByte()
	if err != nil {
		return nil, err
	}
	out := make([]byte, n)
	_, err = io.ReadFull(r, out)
	return out, err
}
