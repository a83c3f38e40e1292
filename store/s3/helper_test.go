package s3_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/lathe-agent/lathe/model/aws"
	"github.com/lathe-agent/lathe/store/s3"
)

// secret must never appear in an error or a log.
const secret = "do-not-log-this-secret-key"

// place is an S3 server with faults on request.
type place struct {
	*httptest.Server
	t testing.TB

	mu    sync.Mutex
	seen  []string // method and path of each request
	fault func(w http.ResponseWriter, r *http.Request, next http.Handler) (handled bool)
}

func newPlace(t testing.TB) *place {
	backend := s3mem.New()
	if err := backend.CreateBucket("values"); err != nil {
		t.Fatal(err)
	}
	inner := gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server()
	p := &place{t: t}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.seen = append(p.seen, r.Method+" "+r.URL.Path)
		fault := p.fault
		p.mu.Unlock()
		if fault == nil || !fault(w, r, inner) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *place) fail(f func(w http.ResponseWriter, r *http.Request, next http.Handler) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// requests returns the requests since the last call.
func (p *place) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.seen
	p.seen = nil
	return out
}

// bucket opens the bucket; more changes the options.
func (p *place) bucket(more ...func(*s3.Options)) *s3.Bucket {
	p.t.Helper()
	o := s3.Options{URL: "s3://values/team/one?region=eu-west-1&endpoint=" + p.URL, Sign: sign}
	for _, f := range more {
		f(&o)
	}
	b, err := s3.Open(o)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

func sign(region string) (s3.Signer, error) {
	return aws.Open(aws.Config{Service: "s3", Region: region, AccessKeyID: "key", SecretAccessKey: secret})
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// value is content of 100 KB.
func value(c string) (hash string, data []byte) {
	data = []byte(strings.Repeat(c, 100<<10))
	return hashOf(data), data
}

// refuse answers as S3 does.
func refuse(status int, code string, header ...string) func(http.ResponseWriter, *http.Request, http.Handler) bool {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>\x1b[31mno</Message></Error>"))
		return true
	}
}
