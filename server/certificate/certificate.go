// Package certificate makes and keeps the certificate of a server that has none of an authority.
//
// Its files are a certificate and a key in one folder, which only their user can read; all processes share them, and
// change them under a lock. A Keeper is safe for use by many goroutines. Start reading at Keeper.
package certificate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/internal/phrase"
)

const (
	lifetime = 397 * 24 * time.Hour // systems reject longer ones
	renewal  = 30 * 24 * time.Hour  // before the end
	// skew is how much earlier a certificate is valid, for clients whose clock is late.
	skew     = 24 * time.Hour
	fileName = "tls.pem" // certificate and key together, so that they never differ
)

// Keeper keeps a certificate for the names of a server.
type Keeper struct {
	dir   string
	names []string
	now   func() time.Time

	mu   sync.Mutex // guards pair
	pair *tls.Certificate
}

// Open returns the keeper of a folder. It makes a certificate unless there is one for all names: host names and
// addresses. now is the clock; nil is the system's.
func Open(ctx context.Context, dir string, names []string, now func() time.Time) (*Keeper, error) {
	if now == nil {
		now = time.Now
	}
	k := &Keeper{dir: dir, now: now}
	for _, name := range names {
		if name = strings.ToLower(name); len(k.names) < mostNames && isName(name) {
			k.names = append(k.names, name)
		}
	}
	_, err := k.current(ctx)
	return k, err
}

// Certificate is for [tls.Config.GetCertificate]. It renews the certificate in its last month.
func (k *Keeper) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return k.current(context.Background())
}

// Fingerprint is the SHA-256 of the certificate as browsers show it.
func (k *Keeper) Fingerprint() string {
	pair, err := k.current(context.Background())
	if err != nil {
		return ""
	}
	return Fingerprint(pair.Leaf)
}

// Fingerprint formats the SHA-256 of a certificate.
func Fingerprint(leaf *x509.Certificate) string {
	sum := sha256.Sum256(leaf.Raw)
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}

// current returns a certificate that is valid for a while.
func (k *Keeper) current(ctx context.Context) (*tls.Certificate, error) {
	k.mu.Lock()
	pair := k.pair
	k.mu.Unlock()
	if k.isValid(pair) {
		return pair, nil
	}
	fresh, err := k.renew(ctx)
	if err != nil {
		if pair != nil && k.now().Before(pair.Leaf.NotAfter) {
			return pair, nil // the next connection tries again
		}
		return nil, lathe.Errorf(lathe.Unavailable, "cannot make a TLS certificate in %s: %w", k.dir, err)
	}
	k.mu.Lock()
	k.pair = fresh
	k.mu.Unlock()
	return fresh, nil
}

// isValid reports whether a certificate is valid for a while.
func (k *Keeper) isValid(pair *tls.Certificate) bool {
	now := k.now()
	return pair != nil && !now.Before(pair.Leaf.NotBefore) && now.Add(renewal).Before(pair.Leaf.NotAfter)
}

// isName reports whether a certificate can be for a name.
func isName(name string) bool {
	return net.ParseIP(name) != nil || len(name) < 254 && hostName().MatchString(name)
}

var hostName = phrase.Regexp(`^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$`)

// renew reads the file again, since another process may have renewed it, and writes one if need be.
func (k *Keeper) renew(ctx context.Context) (*tls.Certificate, error) {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(k.dir, fileName)
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	release, err := filelock.Lock(ctx, path+".lock")
	if err != nil {
		return nil, err
	}
	defer release()
	old, err := load(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; delete the file to make a new one", err)
	}
	covers := func(name string) bool { return old.Leaf.VerifyHostname(name) == nil }
	if k.isValid(old) && !slices.ContainsFunc(k.names, func(name string) bool { return !covers(name) }) {
		return old, nil
	}
	names := slices.Clone(k.names)
	if old != nil { // servers with other names share the file
		names = append(names, old.Leaf.DNSNames...)
		for _, ip := range old.Leaf.IPAddresses {
			names = append(names, ip.String())
		}
	}
	data, err := k.generate(names)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(path, data); err != nil {
		return nil, err
	}
	return load(path)
}

func load(path string) (*tls.Certificate, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &pair, nil
}

const mostNames = 50

// generate makes a certificate and its key. It signs itself, and is no authority for others.
func (k *Keeper) generate(names []string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := k.now()
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "lathe"}, NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || len(seen) >= mostNames {
			continue
		}
		seen[name] = true
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}
