package web_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe/tool/web"
	"golang.org/x/net/dns/dnsmessage"
)

// site is a server on this machine.
func site(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// served answers with one body.
func served(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		fmt.Fprint(w, body)
	}
}

// local is a configuration that may reach this machine.
func local() web.Config { return web.Config{AllowPrivate: true} }

// lookup is a resolver with a real server behind it. Each name has addresses that are handed
// out one after the other; the last stays.
func lookup(t *testing.T, table map[string][]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		answerNames(conn, table)
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func answerNames(conn net.PacketConn, table map[string][]string) {
	var mu sync.Mutex
	given := map[string]int{}
	buf := make([]byte, 2048)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
		list := table[strings.TrimSuffix(q.Name.String(), ".")]
		mu.Lock()
		switch {
		case list == nil:
			reply.RCode = dnsmessage.RCodeNameError
		default:
			addr := netip.MustParseAddr(list[min(given[q.Name.String()], len(list)-1)])
			head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
			if q.Type == dnsmessage.TypeA && addr.Is4() {
				given[q.Name.String()]++
				reply.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}}}
			}
			if q.Type == dnsmessage.TypeAAAA && addr.Is6() {
				given[q.Name.String()]++
				reply.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
			}
		}
		mu.Unlock()
		if raw, err := reply.Pack(); err == nil {
			_, _ = conn.WriteTo(raw, from) // the asker asks again
		}
	}
}

func portOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

func prefixes(t *testing.T, list ...string) []netip.Prefix {
	t.Helper()
	var out []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}
