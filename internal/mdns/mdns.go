// Package mdns announces one service on the local network, by multicast DNS and DNS-SD (RFC
// 6762, RFC 6763), over IPv4.
//
// It owns the socket and the times of messages. It searches for nothing and does not defend a
// name: its records are shared, so that two machines with the same name are both found. It
// answers only clients on the network of an interface, with the addresses of that interface
// alone. Messages that could not be sent are lost, as usual for mDNS.
//
// A Responder has one goroutine, which Close ends and waits for. Start reading at Announce;
// message.go writes the messages.
package mdns

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"golang.org/x/net/ipv4"
)

// Service is a server of HTTP, with pages at its root.
type Service struct {
	Host     string // the name of the machine, as in opencode.local
	Instance string // of the service: one label, as in opencode-4096
	Port     int
	Addr     netip.Addr // the one address that listens; the zero one is all
}

// Options change the defaults.
type Options struct {
	Interfaces []net.Interface // none are all that can multicast, except loopback
	Port       int             // 0 is the one of multicast DNS
}

// Responder answers questions until it is closed.
type Responder struct {
	service    Service
	conn       *ipv4.PacketConn
	group      *net.UDPAddr
	links, own []link // the announced links, and all links on this machine, since its programs may ask on any
	ended      chan struct{}
}

// link is an interface, and the networks on it.
type link struct {
	face     net.Interface
	prefixes []netip.Prefix
}

// Announce announces the service and starts to answer queries. The caller closes it.
func Announce(s Service, o Options) (*Responder, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	r := &Responder{service: s, group: &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: cmp.Or(o.Port, 5353)}, ended: make(chan struct{})}
	all, _ := net.Interfaces() // having none is an error below
	r.own = linksOf(all)
	if r.links = linksOf(o.Interfaces); len(o.Interfaces) == 0 {
		r.links = slices.DeleteFunc(slices.Clone(r.own), func(l link) bool {
			return l.face.Flags&net.FlagUp == 0 || l.face.Flags&net.FlagMulticast == 0 || l.face.Flags&net.FlagLoopback != 0
		})
	}
	if len(r.links) == 0 {
		return nil, errors.New("no network interface to announce on")
	}
	conn, err := net.ListenMulticastUDP("udp4", &r.links[0].face, r.group)
	if err != nil {
		return nil, fmt.Errorf("listen for questions: %w", err)
	}
	r.conn = ipv4.NewPacketConn(conn)
	for _, l := range r.links[1:] {
		_ = r.conn.JoinGroup(&l.face, r.group) // one that takes no part hears nothing
	}
	// Without it, links are found by address, programs on this machine get no answers, and the hops are fewer.
	_ = errors.Join(r.conn.SetControlMessage(ipv4.FlagInterface, true), r.conn.SetMulticastLoopback(true), r.conn.SetMulticastTTL(255))
	r.announceAll(lifetime)
	go r.listen()
	return r, nil
}

// linksOf are the interfaces that have a network.
func linksOf(faces []net.Interface) (out []link) {
	for _, face := range faces {
		addrs, _ := face.Addrs() // none makes no link
		l := link{face: face}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() {
				l.prefixes = append(l.prefixes, p)
			}
		}
		if len(l.prefixes) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// listen answers until the socket is closed.
func (r *Responder) listen() {
	defer close(r.ended)
	buf := make([]byte, 9000)
	for {
		n, about, from, err := r.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		asker := from.(*net.UDPAddr)
		for _, l := range r.links {
			if about != nil && about.IfIndex != 0 && about.IfIndex != l.face.Index || !r.isNear(l, asker.AddrPort().Addr().Unmap()) {
				continue
			}
			to, alone := r.group, false
			if asker.Port != r.group.Port { // it is no responder itself, and wants the answer for itself
				to, alone = asker, true
			}
			if reply := r.service.reply(buf[:n], r.addresses(l), alone); reply != nil {
				_, _ = r.conn.WriteTo(reply, &ipv4.ControlMessage{IfIndex: l.face.Index}, to)
			}
			break
		}
	}
}

// isNear reports whether an address is on a link, or on this machine.
func (r *Responder) isNear(l link, a netip.Addr) bool {
	is := func(p netip.Prefix) bool { return p.Addr() == a }
	return slices.ContainsFunc(l.prefixes, func(p netip.Prefix) bool { return p.Contains(a) }) ||
		slices.ContainsFunc(r.own, func(o link) bool { return slices.ContainsFunc(o.prefixes, is) })
}

// addresses are those of a link at which the service is.
func (r *Responder) addresses(l link) (out []netip.Addr) {
	for _, p := range l.prefixes {
		if !r.service.Addr.IsValid() || r.service.Addr == p.Addr() {
			out = append(out, p.Addr())
		}
	}
	return out
}

// announceAll sends all records to everyone; with no lifetime they are gone.
func (r *Responder) announceAll(ttl uint32) {
	for _, l := range r.links {
		if addrs := r.addresses(l); len(addrs) > 0 {
			_, _ = r.conn.WriteTo(r.service.notice(addrs, ttl), &ipv4.ControlMessage{IfIndex: l.face.Index}, r.group)
		}
	}
}

// Close says that the service is gone, and ends.
func (r *Responder) Close() error {
	defer func() { <-r.ended }()
	r.announceAll(0)
	return r.conn.Close()
}
