package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

// certificate writes one for loopback, with its key, and returns both files and what trusts it.
func certificate(t *testing.T) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, trust = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem"), x509.NewCertPool()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	trust.AppendCertsFromPEM(text)
	for name, data := range map[string][]byte{cert: text, key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes})} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key, trust
}

func TestListen_TLS(t *testing.T) {
	w := begin(t, "")
	cert, key, trust := certificate(t)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	l, err := server.WithTLS(plain, cert, key)
	w.ok(err)
	ended := make(chan error, 1)
	go func() { ended <- w.server.Serve(t.Context(), l) }()
	t.Cleanup(func() { w.ok(<-ended) })
	w.url = "https://" + l.Addr().String()
	w.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12}}}
	s := w.session()
	w.want(http.StatusOK, &s, "POST", "/session/"+string(s.ID)+"/share", "")
	if want := w.url + "/share/"; len(s.Share.URL) < len(want) || s.Share.URL[:len(want)] != want {
		t.Errorf("shared at %s", s.Share.URL)
	}
	w.want(http.StatusOK, nil, "GET", "/session", "", "Origin", w.url)
	w.want(http.StatusForbidden, nil, "GET", "/session", "", "Origin", "https"+"://127.0.0.2")
	if _, err := server.WithTLS(plain, cert, cert); lathe.CodeOf(err) != lathe.Invalid {
		t.Errorf("a key that is none: %v", err)
	}
}

func TestListen_TakenPort(t *testing.T) {
	first, err := server.Listen(t.Context(), "127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := server.Listen(t.Context(), "127.0.0.1", 0) // 4096 is taken, by this test or someone else
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := server.Listen(t.Context(), "127.0.0.1", second.Addr().(*net.TCPAddr).Port); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("a port that is taken: %v", err)
	}
}

func TestListen_SocketReplacesNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err := server.ListenSocket(t.Context(), path); err == nil {
		l.Close()
		t.Error("it listens in place of a file")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file is %q (%v)", text, err)
	}
}
