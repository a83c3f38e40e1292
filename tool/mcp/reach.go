package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/lathe-agent/lathe/internal/netaddr"
)

// outward carries requests to addresses that a server names: its authorization server and the
// metadata about it. The server's own origin is reached as the server is; all others must have
// a public address, or a server could have us ask this machine, the local network or a cloud's
// metadata service.
type outward struct {
	base    http.RoundTripper
	home    *url.URL
	private bool // private addresses are allowed
}

func (o outward) RoundTrip(req *http.Request) (*http.Response, error) {
	if origin(req.URL) == origin(o.home) {
		return o.base.RoundTrip(req)
	}
	t, ok := o.base.(*http.Transport)
	if ok && t.Proxy != nil {
		if proxy, err := t.Proxy(req); err != nil || proxy != nil {
			ok = false // the proxy looks the name up, and its own address says nothing
		}
	}
	if !ok {
		if err := o.lookUp(req.Context(), req.URL.Hostname()); err != nil {
			return nil, err
		}
		return o.base.RoundTrip(req)
	}
	guarded := t.Clone()
	guarded.DisableKeepAlives = true
	// Judged when it is dialed: a name that is looked up before could have another address by then.
	guarded.DialContext = (&net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return o.checkAddr(a.Addr())
	}}).DialContext
	return guarded.RoundTrip(req)
}

func (o outward) checkAddr(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	kind := netaddr.Metadata(addr)
	if kind == "" && !o.private {
		kind = netaddr.Special(addr)
	}
	if kind == "" {
		return nil
	}
	return fmt.Errorf("the server sends its login to %s, which is %s; if that is right, set \"webfetch\": {\"private\": true}", addr, kind)
}

// lookUp judges all addresses of a name.
func (o outward) lookUp(ctx context.Context, host string) error {
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil // a name that only the proxy knows
	}
	for _, addr := range all {
		if err := o.checkAddr(addr); err != nil {
			return err
		}
	}
	return nil
}

// origin is what a browser calls the origin of an address.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme) + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
