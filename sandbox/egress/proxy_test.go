package egress_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/lathe-agent/lathe/sandbox/egress"
)

// lookup is a resolver with a real server behind it, for names that have one IPv4 address.
func lookup(t *testing.T, table map[string]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
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
			addr, known := table[strings.TrimSuffix(q.Name.String(), ".")]
			if !known {
				reply.RCode = dnsmessage.RCodeNameError
			} else if q.Type == dnsmessage.TypeA {
				head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
				reply.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: netip.MustParseAddr(addr).As4()}}}
			}
			if raw, err := reply.Pack(); err == nil {
				_, _ = conn.WriteTo(raw, from) // the asker asks again
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// fixture is a proxy, and a server on this machine under the names of a list.
type fixture struct {
	proxy string // host:port
	port  string // of the server

	mu      sync.Mutex
	refused []string
}

func newFixture(t *testing.T, never bool, entries ...string) *fixture {
	t.Helper()
	w := &fixture{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(rw, "%s %s %s%s", r.Method, strings.Split(r.Host, ":")[0], r.URL.Path, body)
		for name := range r.Header {
			if strings.HasPrefix(name, "Proxy-") || strings.HasPrefix(name, "X-Forwarded") {
				fmt.Fprint(rw, " "+name)
			}
		}
	}))
	t.Cleanup(server.Close)
	_, w.port, _ = net.SplitHostPort(server.Listener.Addr().String())
	for i := range entries {
		entries[i] = strings.ReplaceAll(entries[i], "PORT", w.port)
	}
	list, err := egress.Parse(entries)
	if err != nil {
		t.Fatal(err)
	}
	p := egress.Open(egress.Config{
		List:      list,
		Resolver:  lookup(t, map[string]string{"good.test": "127.0.0.1", "evil.test": "127.0.0.1", "sub.good.test": "127.0.0.1", "zero.test": "0.0.0.0"}),
		Forbidden: func(netip.AddrPort) bool { return never },
		OnRefusal: func(r *egress.Refusal) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refused = append(w.refused, r.Error())
		},
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.proxy = l.Addr().String()
	p.Serve(l)
	t.Cleanup(p.Close)
	return w
}

// get asks for a page through the proxy; scheme is the protocol of the proxy: http (a plain
// request), tunnel (CONNECT) or socks5.
func (w *fixture) get(t *testing.T, how, host string) (string, error) {
	t.Helper()
	target := net.JoinHostPort(strings.Trim(host, "[]"), w.port)
	var tr http.Transport
	switch how {
	case "http", "socks5":
		tr.Proxy = http.ProxyURL(&url.URL{Scheme: how, Host: w.proxy})
	case "tunnel":
		tr.DialContext = func(context.Context, string, string) (net.Conn, error) { return w.tunnel(t, target) }
	}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: &tr}).Get("http://" + target + "/page")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode != 200 {
		return "", fmt.Errorf("%s: %s", resp.Status, body)
	}
	return string(body), err
}

func (w *fixture) tunnel(t *testing.T, target string) (net.Conn, error) {
	t.Helper()
	c, err := net.Dial("tcp", w.proxy)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	line, err := bufio.NewReaderSize(io.LimitReader(c, 39), 16).ReadString('\n') // the answer of one that works
	if err != nil || line != "HTTP/1.1 200 Connection established\r\n" {
		rest, _ := io.ReadAll(c)
		c.Close()
		return nil, fmt.Errorf("%s%s %w", line, rest, err)
	}
	return c, nil
}

func TestProxy_List(t *testing.T) {
	for _, c := range []struct {
		list string
		host string
		want string // of the refusal; "" means that it works
	}{
		{"good.test localhost:PORT", "good.test", ""},
		{"good.test localhost:PORT", "GOOD.test", ""},
		{"good.test localhost:PORT", "evil.test", `sandbox.network does not list "evil.test"`},
		{"good.test localhost:PORT", "sub.good.test", `sandbox.network does not list "sub.good.test"`},
		{"*.good.test localhost:PORT", "sub.good.test", ""},
		{"good.test:1 localhost:PORT", "good.test", "does not list"},
		{"good.test:PORT localhost:PORT", "good.test", ""},
		{"localhost:PORT", "localhost", ""},
		{"localhost:PORT", "127.0.0.1", ""},
		{"localhost:1", "localhost", "does not list"},
		{"localhost:1", "127.0.0.1", "does not list"},
		{"localhost:1", "[::ffff:127.0.0.1]", "does not list"},
		// A name that leads where it should not.
		{"good.test", "good.test", "which is an address on this machine (127.0.0.1)"},
		{"*", "good.test", "which is an address on this machine (127.0.0.1)"},
		{"*", "zero.test", "sandbox does not let commands connect"},
		{"*", "127.0.0.1", "does not list"},
		{"*", "0.0.0.0", "does not let commands connect"},
		{"*", "2130706433", "not the name of a host"},
	} {
		w := newFixture(t, false, strings.Fields(c.list)...)
		for _, how := range []string{"http", "tunnel", "socks5"} {
			got, err := w.get(t, how, c.host)
			if c.want == "" && (err != nil || !strings.HasSuffix(got, "/page")) {
				t.Errorf("%s of %s with [%s]: %q %v", how, c.host, c.list, got, err)
			}
			if c.want == "" {
				continue
			}
			w.mu.Lock()
			refused := strings.Join(w.refused, "\n")
			w.refused = nil
			w.mu.Unlock()
			if err == nil || !strings.Contains(refused, c.want) || how != "socks5" && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %s with [%s]: %q %v; refused: %s", how, c.host, c.list, got, err, refused)
			}
		}
	}
}

// No list opens the server of lathe.
func TestProxy_Never(t *testing.T) {
	w := newFixture(t, true, "good.test", "localhost:PORT")
	for _, host := range []string{"good.test", "localhost", "127.0.0.1"} {
		for _, how := range []string{"http", "tunnel"} {
			if got, err := w.get(t, how, host); err == nil || !strings.Contains(err.Error(), "where lathe itself listens") {
				t.Errorf("%s of %s: %q %v", how, host, got, err)
			}
		}
	}
}

// The header Host of a plain request is made from its URL, so that it cannot name another site of the
// same server, and the proxy's own headers stay with it.
func TestProxy_Header(t *testing.T) {
	w := newFixture(t, false, "good.test", "localhost:PORT")
	c, err := net.Dial("tcp", w.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST http://good.test:%s/a HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nContent-Length: 3\r\n\r\nxyz", w.port)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "POST good.test /axyz" {
		t.Errorf("%s", body)
	}
}

func TestProxy_WrongRequests(t *testing.T) {
	w := newFixture(t, false, "good.test")
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n":                                           "HTTP/1.1 400",
		"GET ftp://good.test/ HTTP/1.1\r\nHost: x\r\n\r\n":                            "HTTP/1.1 400",
		"GET https://good.test/ HTTP/1.1\r\nHost: x\r\n\r\n":                          "HTTP/1.1 400",
		"CONNECT good.test HTTP/1.1\r\nHost: x\r\n\r\n":                               "HTTP/1.1 400",
		"CONNECT good.test:0 HTTP/1.1\r\nHost: x\r\n\r\n":                             "HTTP/1.1 502",
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n": "HTTP/1.1 431",
		"nonsense\r\n\r\n":                       "HTTP/1.1 400",
		"\x05\x01\x02":                           "\x05\xff",
		"\x05\x01\x00\x05\x02\x00\x01":           "\x05\x00\x05\x01",
		"\x05\x01\x00\x05\x01\x00\x07\x00\x00":   "\x05\x00\x05\x08",
		"\x05\x01\x00\x05\x02\x00\x03\x01a\x00P": "\x05\x00\x05\x07",
		"\x05\x01\x00\x05\x01\x00\x03\x00\x00P":  "\x05\x00\x05\x02",
	} {
		c, err := net.Dial("tcp", w.proxy)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(c, request) // it may be cut off before the end
		_ = c.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(c)
		if !strings.HasPrefix(string(got), want) {
			t.Errorf("%.60q: %q", request, got)
		}
		c.Close()
	}
}

// A side that has closed its output still receives from the other.
func TestProxy_HalfClose(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		all, _ := io.ReadAll(c)
		fmt.Fprintf(c, "heard %s", all)
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	w := newFixture(t, false, "localhost:"+port)
	c, err := w.tunnel(t, "localhost:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "all of it")
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "heard all of it" {
		t.Errorf("%q %v", got, err)
	}
}
