package serve

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/mdns"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// defaultDomain is the name that clients of the reference look for.
const defaultDomain = "opencode.local"

// checkAnnounced refuses to announce what nobody could reach. Where only the settings want it, a server
// that is private by its flags is simply not announced.
func (f *serveFlags) checkAnnounced(asked bool) error {
	switch {
	case !f.mdns:
		return nil
	case !f.isLocal():
		if err := (mdns.Service{Host: f.mdnsDomain}).Check(); err != nil {
			return cli.Usagef("--mdns-domain: %v", err)
		}
		return nil
	case !asked:
		f.mdns = false
		return nil
	case f.socket != "":
		return cli.Usagef("--mdns announces a port, and --socket has none")
	}
	return cli.Usagef("--mdns announces a server to others, who cannot reach %s: leave out --hostname, or give an address on this machine in the network", termtext.Plain(f.hostname))
}

// announceServer tells the network, and returns how to take that back. A network that cannot be told is no
// reason not to serve.
func announceServer(a *cli.App, f serveFlags, at net.Addr) (stop func()) {
	tcp, ok := at.(*net.TCPAddr)
	if !f.mdns || !ok {
		return func() {}
	}
	s := mdns.Service{Host: f.mdnsDomain, Instance: "opencode-" + strconv.Itoa(tcp.Port), Port: tcp.Port}
	if ip, ok := netip.AddrFromSlice(tcp.IP); ok && !ip.IsUnspecified() {
		s.Addr = ip.Unmap()
	}
	r, err := mdns.Announce(s, mdns.Options{})
	if err != nil {
		a.Notify("Warning: the network could not be told of this server: %v.", err)
		return func() {}
	}
	scheme := "http://"
	if f.cert != "" {
		scheme = "https://"
	}
	a.Notify("Announced in the network as %s%s.", scheme, net.JoinHostPort(termtext.Plain(f.mdnsDomain), strconv.Itoa(tcp.Port)))
	return func() { _ = r.Close() }
}
