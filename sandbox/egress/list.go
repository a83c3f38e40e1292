// Package egress controls network access from a network namespace: a proxy that connects only
// to the hosts of a list, and forwarders for single ports.
//
// It runs outside of the namespace, in lathe itself. A process inside makes the listeners and
// passes them out: a socket stays in the namespace where it was made, even if another process
// accepts on it.
//
// Start reading at [Parse] for the list, [Open] for the proxy and [Watch] for ports.
package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/netaddr"
)

// List is the hosts that can be reached. Its zero value has none.
type List struct {
	names    []name
	prefixes []prefix
	ports    []uint16 // on the loopback interface
}

type name struct {
	text string // in lower case, without a final dot; "" is any
	sub  bool   // any name below it, and not itself
	port uint16 // 0 is any
}

type prefix struct {
	netip.Prefix
	port uint16
}

// Parse reads the entries of a list: a name (example.com), all names below one (*.example.com), any
// public host (*), an address or a range of them (10.0.0.0/8), and a port on this machine
// (localhost:5432). All but the last may have a port (example.com:443).
func Parse(entries []string) (List, error) {
	var l List
	for _, entry := range entries {
		if err := l.add(entry); err != nil {
			return List{}, fmt.Errorf("%q in sandbox.network: %w", entry, err)
		}
	}
	return l, nil
}

// add parses one entry of the allowlist: a host, a wildcard, an address range or a local port.
func (l *List) add(entry string) error {
	if strings.Contains(entry, "://") {
		return errors.New("write the host alone, without https:// and path")
	}
	host, port, err := splitEntry(entry)
	if err != nil {
		return err
	}
	if p, ok := parsePrefix(host); ok {
		return l.addPrefix(p, port)
	}
	if host == "*" {
		l.names = append(l.names, name{port: port})
		return nil
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		if host != "localhost" || port == 0 {
			return errLocal
		}
		l.ports = append(l.ports, port)
		return nil
	}
	n := name{text: host, port: port}
	if rest, sub := strings.CutPrefix(host, "*."); sub {
		n.text, n.sub = rest, true
	}
	if err := checkName(n.text); err != nil {
		return err
	}
	l.names = append(l.names, n)
	return nil
}

var errLocal = errors.New("write localhost:PORT, as in localhost:5432, for a server on this machine")

func (l *List) addPrefix(p netip.Prefix, port uint16) error {
	addr := p.Addr()
	switch {
	case addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr == netip.IPv6Loopback():
		if !p.IsSingleIP() || port == 0 {
			return errLocal
		}
		l.ports = append(l.ports, port)
		return nil
	case addr.IsLoopback() || addr.IsUnspecified() && p.IsSingleIP():
		return errLocal
	}
	l.prefixes = append(l.prefixes, prefix{p.Masked(), port})
	return nil
}

// splitEntry splits the port off; 0 means that there is none.
func splitEntry(entry string) (host string, port uint16, err error) {
	host = entry
	if rest, ok := strings.CutPrefix(entry, "["); ok {
		inner, after, closed := strings.Cut(rest, "]")
		if !closed || after != "" && after[0] != ':' || !strings.Contains(inner, ":") {
			return "", 0, errors.New("brackets are for IPv6 addresses, as in [2001:db8::1]:443")
		}
		if host = inner; after == "" {
			return host, 0, nil
		}
		port, err = parsePort(after[1:])
		return host, port, err
	}
	if before, after, ok := strings.Cut(entry, ":"); ok && !strings.Contains(after, ":") {
		port, err = parsePort(after)
		return before, port, err
	}
	return host, 0, nil
}

func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, errors.New("a port is a number from 1 to 65535")
	}
	return uint16(n), nil
}

func parsePrefix(host string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(host); err == nil {
		if addr := p.Addr(); addr.Is4In6() {
			return netip.PrefixFrom(addr.Unmap(), max(p.Bits()-96, 0)), p.Bits() >= 96
		}
		return p, true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" {
		return netip.Prefix{}, false
	}
	addr = addr.Unmap()
	return netip.PrefixFrom(addr, addr.BitLen()), true
}

// checkName refuses invalid host names, quoting the text of the user.
func checkName(host string) error {
	if len(host) == 0 || len(host) > 253 {
		return errors.New("it is not the name of a host")
	}
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if len(label) == 0 || len(label) > 63 {
			return errors.New("it is not the name of a host")
		}
		for _, c := range []byte(label) {
			switch {
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			case c >= 0x80:
				return errors.New("write the name in ASCII, as programs send it (xn--...)")
			case c == '*':
				return errors.New(`"*" stands for all names below one, at the beginning: *.example.com`)
			default:
				return errors.New("it is not the name of a host")
			}
		}
		last = label
	}
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return errors.New("it is neither a name nor an address; write an address as 192.0.2.1 or 2001:db8::1")
	}
	return nil
}

// LocalPorts are the reachable ports on this machine, each once.
func (l List) LocalPorts() []uint16 {
	return slices.Compact(slices.Sorted(slices.Values(l.ports)))
}

// hasName reports whether the list has a name, in lower case and without its final dot.
func (l List) hasName(host string, port uint16) bool {
	return slices.ContainsFunc(l.names, func(n name) bool {
		switch {
		case n.port != 0 && n.port != port:
			return false
		case n.text == "":
			return true
		case n.sub:
			return strings.HasSuffix(host, "."+n.text)
		}
		return host == n.text
	})
}

// hasAddress reports whether the list has an address itself. The services of clouds that give out
// credentials are not meant by a range.
func (l List) hasAddress(at netip.AddrPort) bool {
	return slices.ContainsFunc(l.prefixes, func(p prefix) bool {
		return (p.port == 0 || p.port == at.Port()) && p.Contains(at.Addr()) && (p.IsSingleIP() || netaddr.Metadata(at.Addr()) == "")
	})
}

// checkAddr returns the reason why an address is refused; "" if it is allowed. It is asked with
// every address that a listed name has, since the owner of a name chooses its addresses.
// byNumber is that the address itself was asked for.
func (l List) checkAddr(at netip.AddrPort, byNumber bool) string {
	addr := at.Addr()
	kind := netaddr.Metadata(addr)
	if kind == "" {
		kind = netaddr.Special(addr)
	}
	switch {
	case addr.IsLoopback() && slices.Contains(l.ports, at.Port()):
		return ""
	case addr.IsLoopback() || addr.IsUnspecified():
		return kind
	case l.hasAddress(at):
		return ""
	case kind == "" && byNumber && !l.hasName("", at.Port()):
		return "an address that is not listed"
	}
	return kind
}
