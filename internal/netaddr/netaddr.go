// Package netaddr classifies IP addresses: public, private, and those of cloud metadata
// services, which serve credentials.
package netaddr

import "net/netip"

// Metadata says that a cloud serves credentials at the address to any process in the machine.
// Being allowed to reach private networks is not meant for that.
func Metadata(addr netip.Addr) string {
	switch embedded(addr).String() {
	case "169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254":
		return "the address of a cloud's metadata service"
	}
	return ""
}

// IsLoopback reports whether a host is this machine, by its name or its address.
func IsLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// Special says what an address is that does not belong to the public internet; "" if it
// does.
func Special(addr netip.Addr) string {
	addr = embedded(addr)
	switch {
	case addr.IsUnspecified() || addr.IsLoopback():
		return "an address on this machine"
	case addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() || addr.IsInterfaceLocalMulticast():
		return "an address of the local link"
	case addr.IsMulticast():
		return "a multicast address"
	case addr.IsPrivate():
		return "a private address"
	}
	for _, s := range specialRanges() {
		if s.prefix.Contains(addr) {
			return s.kind
		}
	}
	if addr.Is6() && !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(addr) {
		return "a reserved address" // only 2000::/3 is given out
	}
	return ""
}

type specialRange struct {
	prefix netip.Prefix
	kind   string
}

func specialRanges() []specialRange {
	v4 := func(a, b, c byte, bits int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, c}), bits)
	}
	v6 := func(a, b, c, d byte, bits int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom16([16]byte{a, b, c, d}), bits)
	}
	return []specialRange{
		{v4(0, 0, 0, 8), "an address on this machine"},
		{v4(100, 64, 0, 10), "a private address of a provider (CGNAT)"},
		{v4(192, 0, 0, 24), "a reserved address"},
		{v4(192, 0, 2, 24), "an address for examples"},
		{v4(192, 88, 99, 24), "a reserved address"},
		{v4(198, 18, 0, 15), "an address for measurements"},
		{v4(198, 51, 100, 24), "an address for examples"},
		{v4(203, 0, 113, 24), "an address for examples"},
		{v4(240, 0, 0, 4), "a reserved address"},
		{v6(0x20, 0x01, 0, 0, 23), "a reserved address"}, // Teredo and other tunnels
		{v6(0x20, 0x01, 0x0d, 0xb8, 32), "an address for examples"},
		{v6(0x20, 0x02, 0, 0, 16), "the address of a tunnel"}, // 6to4
		{v6(0x3f, 0xff, 0, 0, 20), "an address for examples"},
	}
}

// embedded is the IPv4 address within an IPv6 address that a network translates (NAT64), or
// the address itself.
func embedded(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	b := addr.As16()
	nat64 := netip.PrefixFrom(netip.AddrFrom16([16]byte{0x00, 0x64, 0xff, 0x9b}), 96)
	if addr.Is6() && nat64.Contains(addr) {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}
