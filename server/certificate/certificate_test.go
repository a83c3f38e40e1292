package certificate_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/server/certificate"
)

// current is the certificate that a keeper shows to a client.
func current(t *testing.T, k *certificate.Keeper) *x509.Certificate {
	t.Helper()
	pair, err := k.Certificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func open(t *testing.T, dir string, now func() time.Time, names ...string) *certificate.Keeper {
	t.Helper()
	k, err := certificate.Open(t.Context(), dir, names, now)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeeper(t *testing.T) {
	dir, now := filepath.Join(t.TempDir(), "state"), time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	k := open(t, dir, clock, "localhost", "127.0.0.1", "Build.LAN", "no name", "")
	first := current(t, k)
	for _, name := range []string{"localhost", "127.0.0.1", "build.lan"} {
		if err := first.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if first.VerifyHostname("evil.example") == nil || first.IsCA {
		t.Errorf("it is for %v, an authority: %v", first.DNSNames, first.IsCA)
	}
	if life := first.NotAfter.Sub(now); life > 398*24*time.Hour || life < 300*24*time.Hour {
		t.Errorf("it lasts %v", life)
	}
	if info, err := os.Stat(filepath.Join(dir, "tls.pem")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info.Mode(), err)
	}
	if f := k.Fingerprint(); len(f) != 95 || strings.Count(f, ":") != 31 {
		t.Errorf("fingerprint %q", f)
	}

	// It is kept: by another process, for fewer names, until its last month.
	if again := current(t, open(t, dir, clock, "localhost")); !bytes.Equal(again.Raw, first.Raw) {
		t.Error("another process made its own")
	}
	now = now.AddDate(0, 11, 0)
	if again := current(t, k); !bytes.Equal(again.Raw, first.Raw) {
		t.Error("it was renewed too early")
	}
	now = now.AddDate(0, 1, 5)
	second := current(t, k)
	if bytes.Equal(second.Raw, first.Raw) || second.NotAfter.Before(now.AddDate(0, 11, 0)) || second.VerifyHostname("build.lan") != nil {
		t.Errorf("it was not renewed: until %v for %v", second.NotAfter, second.DNSNames)
	}

	// A new name makes a new one, which keeps the old names.
	third := current(t, open(t, dir, clock, "192.0.2.7"))
	if third.VerifyHostname("192.0.2.7") != nil || third.VerifyHostname("build.lan") != nil {
		t.Errorf("it is for %v %v", third.DNSNames, third.IPAddresses)
	}
	now = now.AddDate(-5, 0, 0) // the clock was wrong
	if fourth := current(t, open(t, dir, clock, "localhost")); fourth.NotBefore.After(now) {
		t.Errorf("valid from %v", fourth.NotBefore)
	}
}

// A file that somebody broke is not replaced in silence.
func TestKeeper_BrokenFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tls.pem"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Open(t.Context(), dir, []string{"localhost"}, nil); err == nil || !strings.Contains(err.Error(), "delete the file") {
		t.Error(err)
	}
}
