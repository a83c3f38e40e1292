package egress

import (
	"net/netip"
	"strings"
	"testing"
)

func TestList_Names(t *testing.T) {
	for _, c := range []struct {
		entry string
		host  string
		port  uint16
		want  bool
	}{
		{"example.com", "example.com", 443, true},
		{"example.com", "example.com", 22, true},
		{"Example.COM", "example.com", 443, true},
		{"example.com.", "example.com", 443, true},
		{"example.com", "www.example.com", 443, false},
		{"example.com", "badexample.com", 443, false},
		{"example.com", "example.com.evil.test", 443, false},
		{"example.com:443", "example.com", 443, true},
		{"example.com:443", "example.com", 80, false},
		{"*.example.com", "www.example.com", 443, true},
		{"*.example.com", "a.b.example.com", 443, true},
		{"*.example.com", "example.com", 443, false},
		{"*.example.com", ".example.com", 443, true}, // no name, which is refused before
		{"*.example.com", "wwwexample.com", 443, false},
		{"*.example.com:8443", "www.example.com", 8443, true},
		{"*.example.com:8443", "www.example.com", 443, false},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", 443, true},
		{"under_score.example", "under_score.example", 443, true},
		{"*", "anything.test", 1, true},
		{"*:443", "anything.test", 443, true},
		{"*:443", "anything.test", 80, false},
		{"10.0.0.0/8", "example.com", 443, false},
		{"localhost:80", "example.com", 80, false},
	} {
		l, err := Parse([]string{c.entry})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.hasName(c.host, c.port); got != c.want {
			t.Errorf("%s has %s:%d: %v", c.entry, c.host, c.port, got)
		}
	}
}

func TestList_Addresses(t *testing.T) {
	for _, c := range []struct {
		entries  string
		at       string
		byNumber bool
		want     bool // it may be dialed
	}{
		{"example.com", "93.184.216.34:443", false, true}, // the name was judged before
		{"example.com", "93.184.216.34:443", true, false},
		{"93.184.216.34", "93.184.216.34:443", true, true},
		{"93.184.216.34:80", "93.184.216.34:443", true, false},
		{"*", "93.184.216.34:443", true, true},
		{"*:80", "93.184.216.34:443", true, false},
		{"[2606:2800::1]:443", "[2606:2800::1]:443", true, true},
		{"2606:2800::1", "[2606:2800::1]:443", true, true},
		{"2606:2800::/32", "[2606:2800::1]:443", true, true},
		{"::ffff:93.184.216.34", "93.184.216.34:443", true, true},
		// Where a name of the public internet does not lead.
		{"example.com *", "10.0.0.5:443", false, false},
		{"example.com *", "192.168.1.1:443", false, false},
		{"example.com *", "100.64.0.1:443", false, false},
		{"example.com *", "127.0.0.1:443", false, false},
		{"example.com *", "[::1]:443", false, false},
		{"example.com *", "0.0.0.0:443", false, false},
		{"example.com *", "[::]:443", false, false},
		{"example.com *", "169.254.169.254:80", false, false},
		{"example.com *", "[fe80::1]:80", false, false},
		{"example.com *", "[fd00::1]:80", false, false},
		{"example.com *", "[64:ff9b::7f00:1]:80", false, false},
		{"example.com *", "224.0.0.1:80", false, false},
		// Unless the address is listed.
		{"example.com 10.0.0.5", "10.0.0.5:443", false, true},
		{"example.com 10.0.0.0/8:443", "10.0.0.5:443", false, true},
		{"example.com 10.0.0.0/8:443", "10.0.0.5:80", false, false},
		{"fd00::/8", "[fd00::1]:80", true, true},
		{"[fd00::/8]:80", "[fd00::1]:80", true, true},
		{"localhost:5432", "127.0.0.1:5432", false, true},
		{"localhost:5432", "[::1]:5432", true, true},
		{"localhost:5432", "127.0.0.1:5433", true, false},
		{"127.0.0.1:5432", "127.0.0.1:5432", true, true},
		{"[::1]:5432", "127.0.0.1:5432", true, true},
		// Ranges are not meant for this machine and for credentials.
		{"0.0.0.0/0", "127.0.0.1:80", true, false},
		{"::/0", "[::1]:80", true, false},
		{"0.0.0.0/0", "0.0.0.0:80", true, false},
		{"169.254.0.0/16", "169.254.169.254:80", true, false},
		{"169.254.169.254", "169.254.169.254:80", true, true},
	} {
		l, err := Parse(strings.Fields(c.entries))
		if err != nil {
			t.Fatal(err)
		}
		if why := l.checkAddr(netip.MustParseAddrPort(c.at), c.byNumber); (why == "") != c.want {
			t.Errorf("[%s] and %s (by number: %v): %q", c.entries, c.at, c.byNumber, why)
		}
	}
}

func TestList_Wrong(t *testing.T) {
	for entry, want := range map[string]string{
		"":                      "not the name of a host",
		"https://example.com":   "without https://",
		"example.com/path":      "not the name of a host",
		"example.com:":          "a port is",
		"example.com:0":         "a port is",
		"example.com:65536":     "a port is",
		"example.com:+1":        "a port is",
		"example.com:*":         "a port is",
		"exa mple.com":          "not the name of a host",
		"user@example.com":      "not the name of a host",
		"a..example":            "not the name of a host",
		"*.":                    "all names below one",
		"*.*.example":           "all names below one",
		"www*.example":          "all names below one",
		"bücher.example":        "xn--",
		"1.2.3":                 "neither a name nor an address",
		"0x7f.1":                "neither a name nor an address",
		"example.0x7f":          "neither a name nor an address",
		"127.1:80":              "neither a name nor an address",
		"localhost":             "localhost:PORT",
		"*.localhost:80":        "localhost:PORT",
		"127.0.0.1":             "localhost:PORT",
		"127.0.0.0/8":           "localhost:PORT",
		"127.0.0.53:53":         "localhost:PORT",
		"0.0.0.0:80":            "localhost:PORT",
		"[example.com]:80":      "brackets",
		"[::1":                  "brackets",
		"[::1]80":               "brackets",
		"fe80::1%eth0":          "not the name of a host",
		strings.Repeat("a", 64): "not the name of a host",
	} {
		if _, err := Parse([]string{"fine.example", entry}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", entry, err)
		}
	}
}

// FuzzList: an entry lets through only what it says.
func FuzzList(f *testing.F) {
	for _, entry := range []string{"example.com", "*.example.com:443", "10.0.0.0/8", "[fd00::1]:80", "localhost:5432", "*", "::ffff:1.2.3.4/100", "a:b:c"} {
		f.Add(entry, "www.example.com", uint16(443))
	}
	f.Fuzz(func(t *testing.T, entry, host string, port uint16) {
		l, err := Parse([]string{entry})
		if err != nil {
			return
		}
		low := strings.ToLower(entry)
		if l.hasName(host, port) && entry[0] != '*' && !strings.HasPrefix(low, host) {
			t.Errorf("%q lets %q through", entry, host)
		}
		if base, ok := strings.CutPrefix(low, "*."); ok && l.hasName(host, port) && !strings.HasSuffix(host, "."+strings.TrimSuffix(strings.Split(base, ":")[0], ".")) {
			t.Errorf("%q lets %q through", entry, host)
		}
		for _, local := range []string{"127.0.0.1", "::1", "127.9.9.9", "0.0.0.0"} {
			at := netip.AddrPortFrom(netip.MustParseAddr(local), port)
			if l.checkAddr(at, true) == "" && len(l.LocalPorts()) != 1 {
				t.Errorf("%q lets %v through", entry, at)
			}
		}
	})
}
