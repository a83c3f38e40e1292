package mdns

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"
)

func service() Service {
	return Service{Host: "opencode.local", Instance: "opencode-4096", Port: 4096}
}

func addresses() []netip.Addr { return []netip.Addr{netip.MustParseAddr("192.0.2.7")} }

// asks is a question, packed.
func asks(t testing.TB, name string, kind dnsmessage.Type, class dnsmessage.Class) []byte {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: class}}}
	out, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// describe is a message in words: what answers, and what else is said.
func describe(t testing.TB, message []byte) string {
	t.Helper()
	if message == nil {
		return ""
	}
	var m dnsmessage.Message
	if err := m.Unpack(message); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d?", len(m.Questions))
	list := func(all []dnsmessage.Resource) {
		for _, r := range all {
			switch b := r.Body.(type) {
			case *dnsmessage.PTRResource:
				fmt.Fprintf(&out, " PTR=%s", b.PTR)
			case *dnsmessage.SRVResource:
				fmt.Fprintf(&out, " SRV=%s%d", b.Target, b.Port)
			case *dnsmessage.TXTResource:
				fmt.Fprintf(&out, " TXT=%s", b.TXT)
			case *dnsmessage.AResource:
				fmt.Fprintf(&out, " A=%v", netip.AddrFrom4(b.A))
			}
			fmt.Fprintf(&out, "/%d", r.Header.TTL)
		}
	}
	list(m.Answers)
	out.WriteString(" +")
	list(m.Additionals)
	return out.String()
}

func TestService_Reply(t *testing.T) {
	const in = dnsmessage.ClassINET
	for _, c := range []struct {
		what  string
		query []byte
		alone bool
		want  string
	}{
		{"browse", asks(t, "_http._tcp.local.", dnsmessage.TypePTR, in), false, "0? PTR=opencode-4096._http._tcp.local./120 + SRV=opencode.local.4096/120 TXT=[path=/]/120 A=192.0.2.7/120"},
		{"host, in capitals", asks(t, "OpenCode.local.", dnsmessage.TypeA, in|1<<15), false, "0? A=192.0.2.7/120 + PTR=opencode-4096._http._tcp.local./120 SRV=opencode.local.4096/120 TXT=[path=/]/120"},
		{"for itself", asks(t, "opencode.local.", dnsmessage.TypeA, in), true, "1? A=192.0.2.7/10 + PTR=opencode-4096._http._tcp.local./10 SRV=opencode.local.4096/10 TXT=[path=/]/10"},
		{"all of the instance", asks(t, "opencode-4096._http._tcp.local.", dnsmessage.TypeALL, in), false, "0? SRV=opencode.local.4096/120 TXT=[path=/]/120 + PTR=opencode-4096._http._tcp.local./120 A=192.0.2.7/120"},
		{"another name", asks(t, "other.local.", dnsmessage.TypeA, in), false, ""},
		{"another type", asks(t, "opencode.local.", dnsmessage.TypeAAAA, in), false, ""},
		{"another class", asks(t, "opencode.local.", dnsmessage.TypeA, dnsmessage.ClassCHAOS), false, ""},
		{"an answer", service().notice(addresses(), 120), false, ""},
		{"noise", []byte("\x00\x00noise"), false, ""},
	} {
		if got := describe(t, service().reply(c.query, addresses(), c.alone)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
	if got := service().reply(asks(t, "opencode.local.", dnsmessage.TypeA, in), nil, false); got != nil {
		t.Error("it answers where it is not")
	}
}

func TestService_Check(t *testing.T) {
	for host, right := range map[string]bool{
		"opencode.local": true, "a-1.local": true, "": false, ".local": false, "example.org": false, "a b.local": false,
		"-a.local": false, "a.b.local": false, strings.Repeat("a", 64) + ".local": false,
	} {
		if err := (Service{Host: host}).Check(); (err == nil) != right {
			t.Errorf("%q: %v", host, err)
		}
	}
}

// loopback is the interface of this machine itself.
func loopback(t *testing.T) net.Interface {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Skipf("interfaces cannot be listed: %v", err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 && i.Flags&net.FlagUp != 0 {
			return i
		}
	}
	t.Skip("there is no loopback interface")
	return net.Interface{}
}

// A question on the group is answered to everyone in it; the end is reported too.
func TestAnnounce(t *testing.T) {
	face := loopback(t)
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Skipf("there is no UDP: %v", err)
	}
	at := free.LocalAddr().(*net.UDPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	group := &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: at}
	listening, err := net.ListenMulticastUDP("udp4", &face, group)
	if err != nil {
		t.Skipf("loopback takes no part in multicast: %v", err)
	}
	defer listening.Close()
	if err := listening.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	conn, buf := ipv4.NewPacketConn(listening), make([]byte, 9000)
	if err := conn.SetMulticastInterface(&face); err != nil {
		t.Skipf("loopback takes no part in multicast: %v", err)
	}
	_ = conn.SetMulticastLoopback(true)
	if _, err := conn.WriteTo([]byte("x"), nil, group); err != nil {
		t.Skipf("multicast on loopback cannot be sent: %v", err)
	}
	if n, _, _, err := conn.ReadFrom(buf); err != nil || n != 1 {
		t.Skipf("multicast on loopback is not heard: %v", err)
	}
	r, err := Announce(service(), Options{Interfaces: []net.Interface{face}, Port: at})
	if err != nil {
		t.Fatal(err)
	}
	hear := func(want string) {
		t.Helper()
		for {
			n, _, _, err := conn.ReadFrom(buf)
			if err != nil {
				t.Fatalf("%s was not said: %v", want, err)
			}
			if strings.Contains(describe(t, buf[:n]), want) {
				return
			}
		}
	}
	hear("A=127.0.0.1/120")
	if _, err := conn.WriteTo(asks(t, "_http._tcp.local.", dnsmessage.TypePTR, dnsmessage.ClassINET), nil, group); err != nil {
		t.Fatal(err)
	}
	hear("0? PTR=opencode-4096._http._tcp.local./120 + SRV=opencode.local.4096/120")

	alone, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if err := alone.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	one := ipv4.NewPacketConn(alone)
	if err := one.SetMulticastInterface(&face); err != nil {
		t.Fatal(err)
	}
	if _, err := one.WriteTo(asks(t, "opencode.local.", dnsmessage.TypeA, dnsmessage.ClassINET), nil, group); err != nil {
		t.Fatal(err)
	}
	n, _, _, err := one.ReadFrom(buf)
	if err != nil || !strings.HasPrefix(describe(t, buf[:n]), "1? A=127.0.0.1/10") {
		t.Errorf("who asks for itself hears %q, %v", describe(t, buf[:n]), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	hear("A=127.0.0.1/0")
}

// Whatever comes from the network, it is answered or not, and nothing else.
func FuzzReply(f *testing.F) {
	f.Add(asks(f, "_http._tcp.local.", dnsmessage.TypePTR, dnsmessage.ClassINET), true)
	f.Add(asks(f, "opencode.local.", dnsmessage.TypeALL, dnsmessage.ClassANY), false)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, query []byte, alone bool) {
		if out := service().reply(query, addresses(), alone); out != nil {
			if got := describe(t, out); !strings.Contains(got, "opencode") && !strings.Contains(got, "192.0.2.7") {
				t.Errorf("%q", got)
			}
		}
	})
}
