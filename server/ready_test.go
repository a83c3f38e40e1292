package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/server"
)

// Load balancers learn without a password whether a node is ready, and nothing else: the reason is for its users.
func TestProbe_TellsNothingWithoutThePassword(t *testing.T) {
	var ready error
	s := server.New(server.Backend{Node: server.Node{Ready: func() error { return ready }, Warnings: func() []string { return []string{"/srv/shop is away"} }}}, server.Options{Password: "secret"})
	get := func(path, password string) (int, string) {
		t.Helper()
		r := httptest.NewRequestWithContext(context.Background(), "GET", "http://127.0.0.1"+path, nil)
		if password != "" {
			r.SetBasicAuth("opencode", password)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, path := range []string{"/lathe/live", "/lathe/ready"} {
		if code, body := get(path, ""); code != http.StatusOK || body != `{"ok":true}` {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if _, body := get("/lathe/ready", "secret"); !strings.Contains(body, "/srv/shop is away") {
		t.Errorf("with the password: %s", body)
	}
	ready = errors.New("the database at db.lan is read-only")
	for _, password := range []string{"", "wrong"} {
		if code, body := get("/lathe/ready", password); code != http.StatusServiceUnavailable || strings.Contains(body, "db.lan") {
			t.Errorf("with the password %q: %d %s", password, code, body)
		}
	}
	if code, body := get("/lathe/ready", "secret"); code != http.StatusServiceUnavailable || !strings.Contains(body, "db.lan") {
		t.Errorf("with the password: %d %s", code, body)
	}
	if code, _ := get("/lathe/live", ""); code != http.StatusOK { // a restart would not help
		t.Errorf("live: %d", code)
	}
}
