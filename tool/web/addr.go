package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe/internal/netaddr"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

// addressError says that an address is none a fetch may connect to.
type addressError struct {
	addr netip.Addr
	kind string // "a private address"
}

func (e *addressError) Error() string { return fmt.Sprintf("%s is %s", e.addr, e.kind) }

// checkAddr refuses an address that is not public, unless it was allowed.
func (cfg Config) checkAddr(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	if slices.ContainsFunc(cfg.Private, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return nil
	}
	if kind := netaddr.Metadata(addr); kind != "" {
		return &addressError{addr, kind}
	}
	if kind := netaddr.Special(addr); kind != "" && !cfg.AllowPrivate {
		return &addressError{addr, kind}
	}
	return nil
}

// CheckURL refuses URLs that visibly have no public address, before the user is asked and
// before a name is looked up. What a name turns out to be is judged when it is dialed.
func (cfg Config) CheckURL(u *url.URL) error {
	host := hostOf(u)
	if addr, err := netip.ParseAddr(host); err == nil {
		return cfg.checkAddr(addr)
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return cfg.checkAddr(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return tool.Failf("The host of %s is neither a name nor an address. Write an address as four decimal numbers, 192.0.2.1, or in brackets, [2001:db8::1].", phrase.Clip(u.String()))
	}
	return nil
}

// hostOf is a URL's host as it is compared: in lower case, without port and final dot.
func hostOf(u *url.URL) string {
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// Transport makes connections that are judged when they are dialed, by the address a name has
// at that moment: looking it up before would leave time to change it. The environment's proxies
// are not used.
func (cfg Config) Transport() *http.Transport {
	dialer := &net.Dialer{Resolver: cfg.Resolver}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true, // a call leaves nothing behind
		MaxResponseHeaderBytes: 256 << 10,
		TLSHandshakeTimeout:    30 * time.Second,
	}
	if cfg.Proxy != nil {
		t.Proxy = http.ProxyURL(cfg.Proxy)
		return t
	}
	dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return cfg.checkAddr(a.Addr())
	}
	return t
}
