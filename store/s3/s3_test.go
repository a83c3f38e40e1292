package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store/s3"
)

func TestBucket_RoundTrip(t *testing.T) {
	p := newPlace(t)
	b := p.bucket()
	ctx := t.Context()
	hash, data := value("x")
	if _, err := b.Get(ctx, hash); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a missing value: %v", err)
	}
	for range 2 { // the second time changes nothing
		if err := b.Put(ctx, hash, data); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.Get(ctx, hash); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	for range 2 { // a missing value is no error
		if err := b.Delete(ctx, hash); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Get(ctx, hash); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a deleted value: %v", err)
	}
	want := fmt.Sprintf("PUT /values/team/one/%s/%s", hash[:2], hash[2:])
	if seen := p.requests(); !slices.Contains(seen, want) {
		t.Fatalf("no %s in %q", want, seen)
	}
	if err := b.Check(ctx); err != nil {
		t.Fatal(err)
	}
}

// A bucket that other programs use too has names that are not ours, and more of them than one page.
func TestBucket_List(t *testing.T) {
	p := newPlace(t)
	b, ctx := p.bucket(), t.Context()
	var want []string
	for i := range 1005 {
		hash := hashOf(fmt.Append(nil, i))
		want = append(want, hash)
		p.store("/values/team/one/"+hash[:2]+"/"+hash[2:], "x")
	}
	for _, other := range []string{"/values/team/one/readme", "/values/team/one/ab/short", "/values/elsewhere/ab/" + strings.Repeat("c", 62)} {
		p.store(other, "x")
	}
	var got []string
	if err := b.List(ctx, func(hash string) error { got = append(got, hash); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("%d names, want %d", len(got), len(want))
	}
	stop := errors.New("stop")
	if err := b.List(ctx, func(string) error { return stop }); !errors.Is(err, stop) {
		t.Fatalf("List passes on %v", err)
	}
}

// store puts an object into the server as another program does.
func (p *place) store(path, content string) {
	w := httptest.NewRecorder()
	p.Config.Handler.ServeHTTP(w, upload(path, content))
	if w.Code != http.StatusOK {
		p.t.Fatalf("PUT %s: %d %s", path, w.Code, w.Body)
	}
}

func upload(path, content string) *http.Request {
	r := httptest.NewRequest(http.MethodPut, path, strings.NewReader(content))
	r.Header.Set("Content-Length", fmt.Sprint(len(content)))
	return r
}

func TestBucket_Signed(t *testing.T) {
	p := newPlace(t)
	hash, data := value("x")
	var got http.Header
	p.fail(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if r.Method == http.MethodPut {
			got = r.Header.Clone()
		}
		return false
	})
	if err := p.bucket().Put(t.Context(), hash, data); err != nil {
		t.Fatal(err)
	}
	auth := got.Get("Authorization")
	if !strings.Contains(auth, "/eu-west-1/s3/aws4_request") || !strings.Contains(auth, "x-amz-content-sha256") || got.Get("X-Amz-Content-Sha256") != hash {
		t.Fatalf("Authorization %q of content %s", auth, got.Get("X-Amz-Content-Sha256"))
	}
}

func TestOpen_Refuses(t *testing.T) {
	for _, url := range []string{
		"", "values", "https://values", "s3://", "s3://UPPER/x", "s3://ab", "s3://key:secret@values/x", "s3://values/../etc", "s3://values/a b", "s3://values/x#y",
		"s3://values/x?endpoint=ftp://h", "s3://values/x?endpoint=http://u:p@h", "s3://values/x?endpoint=http://h/path", "s3://values/x?acl=public", "s3://values/%2e%2e/x",
	} {
		_, err := s3.Open(s3.Options{URL: url, Sign: sign})
		if lathe.CodeOf(err) != lathe.Invalid || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%q: %v", url, err)
		}
	}
	none := func(string) (s3.Signer, error) { return nil, lathe.Errorf(lathe.Unauthorized, "no keys") }
	if _, err := s3.Open(s3.Options{URL: "s3://values", Sign: none}); lathe.CodeOf(err) != lathe.Unauthorized {
		t.Errorf("without keys: %v", err)
	}
}

// Open makes no request, so that a start does not wait for a network.
func TestOpen_NoRequest(t *testing.T) {
	p := newPlace(t)
	p.bucket(func(o *s3.Options) { o.Cache = filepath.Join(t.TempDir(), "cache") })
	if seen := p.requests(); len(seen) != 0 {
		t.Fatal(seen)
	}
}

// Faults that pass are not seen by callers.
func TestBucket_PassingFaults(t *testing.T) {
	truncated := func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		if r.Method != http.MethodGet {
			return false
		}
		out := httptest.NewRecorder()
		next.ServeHTTP(out, r)
		w.Header().Set("Content-Length", fmt.Sprint(out.Body.Len()))
		_, _ = w.Write(out.Body.Bytes()[:out.Body.Len()/2])
		return true
	}
	wrong := func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if r.Method != http.MethodGet {
			return false
		}
		_, _ = w.Write(bytes.Repeat([]byte("y"), 100<<10))
		return true
	}
	lies := func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool { return r.Method == http.MethodPut } // 200, and nothing is stored
	cuts := func(_ http.ResponseWriter, r *http.Request, next http.Handler) bool {
		if r.Method == http.MethodPut { // it keeps a part and confirms all
			next.ServeHTTP(httptest.NewRecorder(), upload(r.URL.Path, "a part"))
		}
		return r.Method == http.MethodPut
	}
	hangsUp := func(http.ResponseWriter, *http.Request, http.Handler) bool { panic(http.ErrAbortHandler) }
	for name, fault := range map[string]func(http.ResponseWriter, *http.Request, http.Handler) bool{
		"unavailable": refuse(503, "SlowDown"), "internal": refuse(500, "InternalError"), "too many": refuse(429, "TooManyRequests"),
		"truncated": truncated, "wrong content": wrong, "lies": lies, "stores a part": cuts, "hangs up": hangsUp,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			hash, data := value(name)
			left := 2
			p.fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
				p.mu.Lock()
				left--
				now := left >= 0
				p.mu.Unlock()
				return now && fault(w, r, next)
			})
			b := p.bucket()
			if err := b.Put(t.Context(), hash, data); err != nil {
				t.Fatal(err)
			}
			left = 2
			if got, err := b.Get(t.Context(), hash); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// A request that hangs is repeated.
func TestBucket_RequestHangs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hash, data := value("hangs")
	var hung atomic.Bool
	p.fail(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if hung.Swap(true) {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body) // so that the server sees the end of the connection
		<-r.Context().Done()
		return true
	})
	if err := p.bucket().Put(t.Context(), hash, data); err != nil {
		t.Error(err)
	}
}

// silent is a network on which no answer comes in time.
type silent struct{}

func (silent) RoundTrip(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }

func TestBucket_NoAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hash, data := value("x")
	err := p.bucket(func(o *s3.Options) { o.Transport = silent{} }).Put(t.Context(), hash, data)
	if want := "no answer from " + strings.TrimPrefix(p.URL, "http://"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Faults that stay are errors that say what to do, and never the secret.
func TestBucket_StayingFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(http.ResponseWriter, *http.Request, http.Handler) bool
		code  lathe.Code
		says  []string
		tries int // requests for a Put
	}{
		{"credentials", refuse(403, "InvalidAccessKeyId"), lathe.Unauthorized, []string{"credentials", "InvalidAccessKeyId", "s3:PutObject"}, 1},
		{"signature", refuse(403, "SignatureDoesNotMatch"), lathe.Unauthorized, []string{"credentials"}, 1},
		{"clock", refuse(403, "RequestTimeTooSkewed"), lathe.Unauthorized, []string{"clock"}, 1},
		{"region", refuse(301, "PermanentRedirect", "X-Amz-Bucket-Region", "ap-south-1"), lathe.Invalid, []string{"eu-west-1", "ap-south-1", "AWS_REGION"}, 1},
		{"redirect", refuse(307, "TemporaryRedirect", "Location", "http://192.0.2.1/steal"), lathe.Invalid, []string{"region"}, 1},
		{"malformed", refuse(400, "AuthorizationHeaderMalformed"), lathe.Invalid, []string{"region"}, 1},
		{"bucket", refuse(404, "NoSuchBucket"), lathe.Invalid, []string{"bucket", "values", "not found"}, 1},
		{"down", refuse(503, "SlowDown"), lathe.Unavailable, []string{"503", "SlowDown", "s3://values/team/one"}, 5},
		{"rude", refuse(400, "\x1b]0;x\x07"), lathe.Unavailable, []string{"400"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.fail(c.fault)
			var log bytes.Buffer
			b := p.bucket(func(o *s3.Options) {
				o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			hash, data := value("x")
			err := b.Put(t.Context(), hash, data)
			if lathe.CodeOf(err) != c.code {
				t.Fatalf("code %v of %v", lathe.CodeOf(err), err)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("no %q in %v", s, err)
				}
			}
			if got := len(p.requests()); got != c.tries {
				t.Errorf("%d requests, want %d", got, c.tries)
			}
			if got := b.Faults(); len(got) != 1 || got[0].Error() != err.Error() {
				t.Errorf("faults %v", got)
			}
			_ = b.Put(t.Context(), hash, data) // a second failure is no news
			if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "s3://values/team/one") {
				t.Errorf("%d warnings in the log:\n%s", n, &log)
			}
			if all := err.Error() + log.String(); strings.Contains(all, secret) || strings.Contains(all, "\x1b") || strings.Contains(all, "AWS4-HMAC") {
				t.Errorf("the error or the log has what it must not: %q", all)
			}
			p.fail(nil)
			if err := b.Put(t.Context(), hash, data); err != nil || len(b.Faults()) > 0 {
				t.Errorf("afterwards: %v, faults %v", err, b.Faults())
			}
			if !strings.Contains(log.String(), "works again") {
				t.Errorf("the log does not say that it works again:\n%s", &log)
			}
		})
	}
}

func TestBucket_DamagedStays(t *testing.T) {
	p := newPlace(t)
	hash, _ := value("x")
	p.store("/values/team/one/"+hash[:2]+"/"+hash[2:], "something else")
	_, err := p.bucket().Get(t.Context(), hash)
	if lathe.CodeOf(err) != lathe.Internal || !strings.Contains(err.Error(), "backup") {
		t.Fatal(err)
	}
}

func TestBucket_Canceled(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		cancel()
		return refuse(503, "SlowDown")(w, r, next)
	})
	hash, data := value("x")
	if err := p.bucket().Put(ctx, hash, data); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestBucket_EndlessAnswer(t *testing.T) {
	p := newPlace(t)
	p.fail(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		w.Header().Set("Content-Length", fmt.Sprint(1<<40))
		w.WriteHeader(http.StatusOK)
		return true
	})
	hash, _ := value("x")
	if _, err := p.bucket().Get(t.Context(), hash); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Fatal(err)
	}
}

func TestBucket_Cache(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(t.TempDir(), "cache")
	b := p.bucket(func(o *s3.Options) { o.Cache, o.CacheSize = dir, 500<<10 })
	ctx := t.Context()
	var hashes []string
	for i := range 12 {
		hash, data := value(string(rune('a' + i)))
		hashes = append(hashes, hash)
		if err := b.Put(ctx, hash, data); err != nil {
			t.Fatal(err)
		}
	}
	if size := sizeOf(t, dir); size == 0 || size > 500<<10 {
		t.Fatalf("the cache has %d bytes", size)
	}
	p.requests()
	last := hashes[len(hashes)-1]
	if _, err := b.Get(ctx, last); err != nil || len(p.requests()) != 0 {
		t.Fatalf("a copy was not used (%v)", err)
	}
	path := filepath.Join(dir, last[:2], last[2:]) // a damaged copy is not believed
	if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(ctx, last); err != nil || len(p.requests()) != 1 {
		t.Fatalf("a damaged copy: %v", err)
	}
	for _, hash := range hashes { // those that were removed come from the server
		if _, err := b.Get(ctx, hash); err != nil {
			t.Fatal(err)
		}
	}
	big := bytes.Repeat([]byte("z"), 300<<10) // too large a part of the cache
	if err := b.Put(ctx, hashOf(big), big); err != nil || sizeOf(t, dir) > 500<<10 {
		t.Fatal(err)
	}
	if err := b.Delete(ctx, last); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(ctx, last); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the copy of a deleted value: %v", err)
	}
}

func sizeOf(t *testing.T, dir string) (size int64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, err := d.Info()
			size += info.Size()
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
