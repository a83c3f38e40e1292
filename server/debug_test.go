package server_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/server"
)

// Profiles are for users who may use the server: they pass the same guard, on an address on
// this machine alone.
func TestDebug_Guarded(t *testing.T) {
	t.Parallel() // a profile of the processor takes a second
	w := locked(t)
	d := w.server.Debug()
	l, err := server.ListenDebug(t.Context(), "localhost:0")
	w.ok(err)
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(t.Context(), l) }()
	t.Cleanup(func() { w.ok(<-ended) })
	w.url, w.http = "http://"+l.Addr().String(), http.DefaultClient
	key := basic("opencode", "secret")
	for _, c := range []struct {
		path string
		want int
		more []string
	}{
		{"/debug/pprof/heap", 401, nil},
		{"/debug/pprof/nothing", 401, nil},
		{"/debug/pprof/heap", 401, []string{"Authorization", basic("opencode", "wrong")}},
		{"/debug/pprof/heap", 403, []string{"Authorization", key, "Host", "evil.example"}},
		{"/debug/pprof/heap", 403, []string{"Authorization", key, "Origin", "https://evil.example"}},
		{"/debug/pprof/heap", 403, []string{"Authorization", key, "Sec-Fetch-Site", "cross-site"}},
		{"/debug/pprof/nothing", 404, []string{"Authorization", key}},
		{"/debug/pprof/a/b", 404, []string{"Authorization", key}},
		{"/session", 404, []string{"Authorization", key}}, // only profiles
		{"/debug/pprof/profile?seconds=301", 400, []string{"Authorization", key}},
		{"/debug/pprof/profile?seconds=-1", 400, []string{"Authorization", key}},
		{"/debug/pprof/heap?gc=1", 200, []string{"Authorization", key}},
		{"/debug/pprof/profile?seconds=1", 200, []string{"Authorization", key}},
	} {
		a := w.want(c.want, nil, "GET", c.path, "", c.more...)
		if c.want == 200 && !strings.HasPrefix(string(a.body), "\x1f\x8b") {
			t.Errorf("%s: no profile: %.40q", c.path, a.body)
		}
	}
	for path, want := range map[string]string{"/debug/pprof": "goroutine\n", "/debug/pprof/goroutine?debug=1": "goroutine profile"} {
		if a := w.want(200, nil, "GET", path, "", "Authorization", key); !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %.200q", path, a.body)
		}
	}
	w.want(405, nil, "POST", "/debug/pprof/heap", "{}", "Authorization", key)
}

func TestListenDebug_LoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.org:0", "6060", "", "127.0.0.1", "localhost.evil.example:0"} {
		if l, err := server.ListenDebug(t.Context(), address); err == nil || !strings.Contains(err.Error(), "127.0.0.1:6060") {
			t.Errorf("%q: %v, %v", address, l, err)
		}
	}
	l, err := server.ListenDebug(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Errorf("listens on %s", l.Addr())
	}
	if _, err := server.ListenDebug(t.Context(), l.Addr().String()); err == nil || !strings.Contains(err.Error(), "another port") {
		t.Errorf("a port that is taken: %v", err)
	}
}
