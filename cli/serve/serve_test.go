package serve

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/config"
)

// Announcing opens the server to the network, unless someone said where to listen.
func TestServe_AnnouncedWhere(t *testing.T) {
	for _, c := range []struct {
		given    string // flags
		settings config.Server
		host     string
		mdns     bool
		fails    bool
	}{
		{"mdns", config.Server{}, "0.0.0.0", true, false},
		{"", config.Server{}, "127.0.0.1", false, false},
		{"", config.Server{MDNS: true}, "0.0.0.0", true, false},
		{"", config.Server{MDNS: true, Hostname: "192.0.2.1"}, "192.0.2.1", true, false},
		{"hostname", config.Server{MDNS: true}, "127.0.0.1", false, false},
		{"mdns hostname", config.Server{}, "127.0.0.1", true, true},
		{"", config.Server{MDNS: true, MDNSDomain: "no name"}, "0.0.0.0", true, true},
	} {
		given := func(name string) bool { return strings.Contains(" "+c.given+" ", " "+name+" ") }
		f := serveFlags{hostname: "127.0.0.1", mdns: given("mdns"), mdnsDomain: defaultDomain}
		f.fill(c.settings, given)
		err := f.checkAnnounced(given("mdns"))
		if f.hostname != c.host || f.mdns != c.mdns || (err != nil) != c.fails {
			t.Errorf("%q, %+v: %s, %v, %v", c.given, c.settings, f.hostname, f.mdns, err)
		}
	}
}
