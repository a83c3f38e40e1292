package serve

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/mdns"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// defaultDomain is the host name that OpenCode clients look for.
const defaultDomain = "opencode.local"

// checkAnnounced refuses to announce an unreachable server. If only the config asks for it, a private server is not
// announced.
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
		return cli.Usagef("--mdns and --socket cannot be combined: a socket has no port")
	}
	return cli.Usagef("--mdns needs an address that other machines can reach, not %s: leave out --hostname, or give a network address", termtext.Plain(f.hostname))
}

// announceServer announces the server and returns a function that withdraws it. A failed announcement is only a
// warning.
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
		a.Notify("Warning: cannot announce the server on the network: %v.", err)
		return func() {}
	}
	a.Notify("Announced on the network as %s://%s.", f.scheme(), net.JoinHostPort(termtext.Plain(f.mdnsDomain), strconv.Itoa(tcp.Port)))
	return func() { _ = r.Close() }
}
