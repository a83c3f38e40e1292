package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Which pages and names may reach a server, and what it tells of itself.
func TestServe_ReachedFrom(t *testing.T) {
	home := serveHome(t, "http://127.0.0.1:1")
	s := startServe(t, home, nil, "--no-auth", "--cors", "https://app.example", "--allow-host", "build.lan", "--metrics")
	defer s.end()
	for _, c := range []struct {
		host, origin string
		want         int
		shared       bool
	}{
		{"", "", http.StatusOK, false},
		{"build.lan", "", http.StatusOK, false},
		{"build.lan:4096", "https://app.example", http.StatusOK, true},
		{"", "https://other.example", http.StatusForbidden, false},
		{"evil.example", "", http.StatusForbidden, false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/session", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		res, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if shared := res.Header.Get("Access-Control-Allow-Origin") == c.origin && c.origin != ""; res.StatusCode != c.want || shared != c.shared {
			t.Errorf("%q from %q: %d, shared %v", c.host, c.origin, res.StatusCode, shared)
		}
	}
	if page := s.ask(http.StatusOK, nil, "GET", "/lathe/metrics", ""); !strings.Contains(page, "\nlathe_") {
		t.Errorf("no figures: %s", page)
	}
}

// Metrics are reported only where they are wanted.
func TestServe_NoFiguresUnasked(t *testing.T) {
	s := startServe(t, serveHome(t, "http://127.0.0.1:1"), nil, "--no-auth")
	defer s.end()
	s.ask(http.StatusNotFound, nil, "GET", "/lathe/metrics", "")
}

// A server with a certificate speaks TLS, and nothing else.
func TestServe_TLS(t *testing.T) {
	home := serveHome(t, "http://127.0.0.1:1")
	cert, key, pool := testCertificate(t, home)
	s := startServe(t, home, nil, "--no-auth", "--tls-cert", cert, "--tls-key", key)
	defer s.end()
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatalf("it listens on %s", s.url)
	}
	s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "example.com"}, ForceAttemptHTTP2: true}
	s.ask(http.StatusOK, nil, "GET", "/global/health", "")
	plain := strings.Replace(s.url, "https:", "http:", 1)
	res, err := new(http.Client).Get(plain + "/global/health")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: %d", res.StatusCode)
	}
}

// testCertificate writes the certificate of example.com that tests of HTTP have, and its key.
func testCertificate(t *testing.T, dir string) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pair := s.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return cert, key, pool
}
