package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/certificate"
)

// certificates are the flags about TLS.
type certificates struct {
	cert, key string // files
	tls       string // auto or ""
}

// checkTLS checks the flags of certificates.
func (f *serveFlags) checkTLS() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return cli.Usagef("--tls-cert and --tls-key must be used together")
	case f.tls != "" && f.tls != "auto":
		return cli.Usagef("--tls %s: want auto; give your own certificate with --tls-cert and --tls-key", termtext.Plain(f.tls))
	case f.tls != "" && f.cert != "":
		return cli.Usagef("--tls auto and --tls-cert cannot be combined")
	case f.socket != "" && f.cert != "":
		return cli.Usagef("--tls-cert cannot be combined with --socket; a socket is already private")
	case f.socket != "" && f.tls != "":
		return cli.Usagef("--tls cannot be combined with --socket; a socket is already private")
	}
	return nil
}

func (f *serveFlags) scheme() string {
	if f.cert != "" || f.tls != "" {
		return "https"
	}
	return "http"
}

// secure speaks TLS on a listener if the flags say so.
func (f *serveFlags) secure(ctx context.Context, l net.Listener, state string, pairing *server.Pairing) (net.Listener, error) {
	if f.cert != "" {
		return server.WithTLS(l, f.cert, f.key)
	}
	if f.tls == "" {
		return l, nil
	}
	keeper, err := certificate.Open(ctx, state, f.names(), nil)
	if err != nil {
		return nil, err
	}
	pairing.Fingerprint = keeper.Fingerprint
	return tls.NewListener(l, &tls.Config{GetCertificate: keeper.Certificate, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

// names are those by which clients may reach this server, for its certificate.
func (f *serveFlags) names() []string {
	names := append([]string{"localhost", "127.0.0.1", "::1"}, f.hosts...)
	if f.mdns {
		names = append(names, f.mdnsDomain)
	}
	if !f.isEverywhere() {
		return append(names, f.hostname)
	}
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	v4, v6 := networkAddresses()
	for _, addr := range append(v4, v6...) {
		names = append(names, addr.String())
	}
	return names
}

// isEverywhere reports whether the server listens on all addresses.
func (f *serveFlags) isEverywhere() bool {
	ip := net.ParseIP(f.hostname)
	return f.hostname == "" || ip != nil && ip.IsUnspecified()
}

// networkAddresses returns this machine's addresses in its networks.
func networkAddresses() (v4, v6 []netip.Addr) {
	all, _ := net.InterfaceAddrs() // without them there are none
	for _, one := range all {
		prefix, err := netip.ParsePrefix(one.String())
		addr := prefix.Addr().Unmap()
		switch {
		case err != nil || addr.IsLoopback() || addr.IsLinkLocalUnicast():
		case addr.Is4():
			v4 = append(v4, addr)
		default:
			v6 = append(v6, addr)
		}
	}
	return v4, v6
}

// publicAddress is where other devices reach a server that listens at where.
func (f *serveFlags) publicAddress(where string) string {
	u, err := url.Parse(where)
	if err != nil || !f.isEverywhere() && len(f.hosts) == 0 {
		return where
	}
	host := ""
	v4, v6 := networkAddresses()
	switch {
	case len(f.hosts) > 0 && f.isLocal(): // a proxy with TLS is before it
		return "https://" + f.hosts[0]
	case len(f.hosts) > 0:
		host = f.hosts[0]
	case f.mdns:
		host = f.mdnsDomain
	case len(v4) > 0:
		host = v4[0].String()
	case len(v6) > 0:
		host = v6[0].String()
	default:
		return f.localAddress(where)
	}
	return u.Scheme + "://" + net.JoinHostPort(host, u.Port())
}

// localAddress is where this machine reaches a server that listens at where.
func (f *serveFlags) localAddress(where string) string {
	u, err := url.Parse(where)
	if err != nil || !f.isEverywhere() || strings.HasPrefix(where, "unix:") {
		return where
	}
	return u.Scheme + "://" + net.JoinHostPort("127.0.0.1", u.Port())
}
