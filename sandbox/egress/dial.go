package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dialTime is how long a connection may take to be made, its name looked up included.
const dialTime = 30 * time.Second

// Refusal says that the list does not let a command connect.
type Refusal struct {
	Host string // as it was asked for, with its port
	Why  string // in words, where it is not just that the list does not have it
	Add  string // the entry that would allow it; "" means none
}

func (r *Refusal) Error() string {
	text := "the sandbox does not let commands connect to " + r.Host
	if r.Why != "" {
		text += ", " + r.Why
	}
	if r.Add == "" {
		return text
	}
	return fmt.Sprintf("%s: the setting sandbox.network does not list %q", text, r.Add)
}

// addressError is why one address of a name was not dialed.
type addressError struct {
	at   netip.AddrPort
	kind string
}

func (e *addressError) Error() string { return fmt.Sprintf("%s is %s", e.at.Addr(), e.kind) }

// dial connects to a host of the list. Every address is checked when it is dialed: looking a
// name up before would leave time to change it.
func (p *Proxy) dial(ctx context.Context, host, service string) (net.Conn, error) {
	port, err := parsePort(service)
	if err != nil {
		return nil, fmt.Errorf("connect to %q: %w", host, err)
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	addr, err := netip.ParseAddr(host)
	byNumber := err == nil
	if addr = addr.Unmap(); byNumber && addr.Zone() != "" {
		return nil, &Refusal{Host: net.JoinHostPort(host, service), Why: "which belongs to one link"}
	}
	if refused := p.refuseName(host, addr, port); refused != nil {
		return nil, refused
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	d := net.Dialer{Resolver: p.resolver, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return p.checkAddr(netip.AddrPortFrom(at.Addr().WithZone("").Unmap(), at.Port()), byNumber)
	}}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, service))
	var bad *addressError
	switch {
	case errors.As(err, &bad):
		return nil, bad.refusal(host, service)
	case err != nil:
		return nil, err
	}
	return newIdleConn(conn), nil
}

// refuseName checks what is known before a name is looked up.
func (p *Proxy) refuseName(host string, addr netip.Addr, port uint16) *Refusal {
	at := net.JoinHostPort(host, strconv.Itoa(int(port)))
	switch {
	case addr.IsValid():
		var bad *addressError
		if errors.As(p.checkAddr(netip.AddrPortFrom(addr, port), true), &bad) {
			return bad.refusal(host, strconv.Itoa(int(port)))
		}
		return nil
	case host == "localhost":
		if kind := p.list.checkAddr(netip.AddrPortFrom(netip.IPv6Loopback(), port), true); kind != "" {
			return &Refusal{Host: at, Add: at}
		}
		return nil
	case checkName(host) != nil:
		return &Refusal{Host: strconv.QuoteToASCII(at), Why: "which is not the name of a host"}
	case !p.list.hasName(host, port):
		return &Refusal{Host: at, Add: host}
	}
	return nil
}

func (p *Proxy) checkAddr(at netip.AddrPort, byNumber bool) error {
	kind := p.list.checkAddr(at, byNumber)
	if kind == "" && p.never != nil && p.never(at) {
		return &addressError{at, ownServer}
	}
	if kind != "" {
		return &addressError{at, kind}
	}
	return nil
}

// ownServer is an address that no list can allow.
const ownServer = "where lathe itself listens"

func (e *addressError) refusal(host, service string) *Refusal {
	r := &Refusal{Host: net.JoinHostPort(host, service), Add: e.at.Addr().String()}
	if e.at.Addr().IsLoopback() {
		r.Add = "localhost:" + service
	}
	switch {
	case e.kind == ownServer:
		r.Why, r.Add = "where lathe itself listens", ""
	case e.at.Addr().IsUnspecified():
		r.Why, r.Add = "which is not a host", ""
	case host != e.at.Addr().String():
		r.Why = fmt.Sprintf("which is %s (%s)", e.kind, e.at.Addr())
	}
	return r
}
