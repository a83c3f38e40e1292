// Package s3 stores large values in a bucket of Amazon S3 or of a server with its protocol.
//
// A value is an object PREFIX/ab/cdef…, named by the SHA-256 of its content, as the files of package store are. So it
// never changes, and every answer can be verified: an upload by asking for the object's size, a download by its hash.
// Failed requests are repeated for a few seconds. Downloads and uploads are kept in a folder of limited size.
//
// It owns the five requests it needs and knows no credentials: [Options.Sign] signs. Open does no I/O. A Bucket is
// safe for use by many goroutines. Start reading at [Bucket.Put], then request.go.
package s3

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// Options say where the bucket is.
type Options struct {
	// URL is s3://BUCKET/PREFIX. The query may have endpoint, the address of a server other than Amazon's, and region.
	URL      string
	Endpoint string // used if the URL has none; "" means Amazon
	// Sign returns the signer for a region, or for the one of the environment if that is empty.
	Sign      func(region string) (Signer, error)
	Transport http.RoundTripper // nil means a new one
	Cache     string            // folder for copies; "" keeps none
	CacheSize int64             // in bytes; 0 means 1 GB
	Log       *slog.Logger
}

// Signer adds the signature of Amazon's protocol to requests.
type Signer interface {
	Sign(r *http.Request, body []byte) error
	Region() string
}

const (
	// maxValue limits what a server can make us read.
	maxValue = 512 << 20
	// patience is how long an operation repeats failed requests.
	patience = 15 * time.Second
	// answerTime is how long a request waits for the beginning of its answer, so that one that hangs leaves time for
	// another.
	answerTime = 5 * time.Second
	// attempts limits the requests of an operation.
	attempts = 5
	// firstPause is the wait after the first failure. Each later one is three times as long.
	firstPause = 50 * time.Millisecond
)

// Bucket is the place of the values.
type Bucket struct {
	name, prefix string
	base         url.URL // of the bucket
	signer       Signer
	client       *http.Client
	cache        *cache // nil keeps no copies
	log          *slog.Logger
	faults       sync.Map // the last error of each kind of operation that fails
}

// Names that need no escaping in a path, so that a signature has one form only. They are compiled when a bucket is
// opened: most commands have none.
const (
	bucketName = `^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`
	prefixName = `^([A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*)?$`
)

// Open returns the bucket of a URL. It makes no request.
func Open(o Options) (*Bucket, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "s3" || u.User != nil || u.Fragment != "" {
		return nil, lathe.Errorf(lathe.Invalid, "--blobs: want s3://BUCKET/PREFIX, without credentials: they come from AWS_ACCESS_KEY_ID or a profile")
	}
	b := &Bucket{name: u.Host, prefix: strings.Trim(u.Path, "/"), log: o.Log}
	q := u.Query()
	for name := range q {
		if name != "endpoint" && name != "region" {
			return nil, lathe.Errorf(lathe.Invalid, "--blobs: unknown option %q; the options are endpoint and region", name)
		}
	}
	switch {
	case !regexp.MustCompile(bucketName).MatchString(b.name):
		return nil, lathe.Errorf(lathe.Invalid, "--blobs: %q is not a bucket name: 3 to 63 lowercase letters, digits, dots and hyphens", b.name)
	case !regexp.MustCompile(prefixName).MatchString(b.prefix) || strings.Contains("/"+b.prefix+"/", "/../") || strings.Contains("/"+b.prefix+"/", "/./"):
		return nil, lathe.Errorf(lathe.Invalid, "--blobs: the prefix %q may have letters, digits, dots, hyphens, underscores and slashes only", b.prefix)
	}
	if b.signer, err = o.Sign(q.Get("region")); err != nil {
		return nil, err
	}
	if err := b.locate(cmp.Or(q.Get("endpoint"), o.Endpoint)); err != nil {
		return nil, err
	}
	b.client = &http.Client{
		Transport: o.Transport,
		// A redirect would take the signature elsewhere, where it is not valid.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DisableCompression, t.MaxIdleConnsPerHost, t.ResponseHeaderTimeout = true, 16, answerTime
		b.client.Transport = t
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if o.Cache != "" {
		b.cache = newCache(o.Cache, o.CacheSize)
	}
	return b, nil
}

// locate finds the address of the bucket: its own host at Amazon, a path elsewhere.
func (b *Bucket) locate(endpoint string) error {
	if endpoint == "" {
		host := "s3." + b.signer.Region() + ".amazonaws.com"
		if strings.Contains(b.name, ".") { // the certificate does not fit
			b.base = url.URL{Scheme: "https", Host: host, Path: "/" + b.name}
		} else {
			b.base = url.URL{Scheme: "https", Host: b.name + "." + host}
		}
		return nil
	}
	e, err := url.Parse(endpoint)
	if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || e.User != nil || e.RawQuery != "" || strings.Trim(e.Path, "/") != "" {
		return lathe.Errorf(lathe.Invalid, "--blobs: the endpoint must be http://HOST or https://HOST")
	}
	b.base = url.URL{Scheme: e.Scheme, Host: e.Host, Path: "/" + b.name}
	return nil
}

// String names the bucket for people.
func (b *Bucket) String() string { return "s3://" + b.name + "/" + b.prefix }

func (b *Bucket) key(hash string) string {
	return strings.TrimPrefix(b.prefix+"/"+hash[:2]+"/"+hash[2:], "/")
}

// Put uploads a value and asks whether it arrived, since servers and proxies can confirm what they do not have.
func (b *Bucket) Put(ctx context.Context, hash string, data []byte) error {
	sum, err := hex.DecodeString(hash)
	if err != nil || len(sum) != sha256.Size {
		return lathe.Errorf(lathe.Internal, "%q is not the hash of a value", hash)
	}
	header := http.Header{"X-Amz-Checksum-Sha256": {base64.StdEncoding.EncodeToString(sum)}, "Content-Type": {"application/octet-stream"}}
	err = b.retry(ctx, "store", func(ctx context.Context) error {
		if _, err := b.do(ctx, request{method: http.MethodPut, key: b.key(hash), header: header, body: data}); err != nil {
			return err
		}
		size, err := b.size(ctx, hash)
		if err == nil && size != int64(len(data)) {
			err = errTransient{fmt.Errorf("the server confirmed %d bytes and has %d", len(data), size)}
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = errTransient{errors.New("the server confirmed the value and does not have it")}
		}
		return err
	})
	if err == nil {
		b.cache.put(hash, data)
	}
	return err
}

// size returns the size of a value at the server.
func (b *Bucket) size(ctx context.Context, hash string) (int64, error) {
	res, err := b.do(ctx, request{method: http.MethodHead, key: b.key(hash)})
	return res.size, err
}

// Get returns a value from the folder of copies or from the server.
func (b *Bucket) Get(ctx context.Context, hash string) (data []byte, err error) {
	if data = b.cache.get(hash); data != nil {
		return data, nil
	}
	err = b.retry(ctx, "read", func(ctx context.Context) error {
		res, err := b.do(ctx, request{method: http.MethodGet, key: b.key(hash)})
		if err != nil {
			return err
		}
		if !hasHash(res.body, hash) {
			return errTransient{errDamaged}
		}
		data = res.body
		return nil
	})
	if errors.Is(err, errDamaged) {
		return nil, lathe.Errorf(lathe.Internal, "the large value %s in %s is damaged; restore it from a backup or an earlier version of the object", b.key(hash), b)
	}
	if err == nil {
		b.cache.put(hash, data)
	}
	return data, err
}

var errDamaged = errors.New("the content is not what its name says")

func hasHash(data []byte, hash string) bool {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) == hash
}

// Delete deletes values here and at the server.
func (b *Bucket) Delete(ctx context.Context, hashes ...string) error {
	for _, hash := range hashes {
		err := b.retry(ctx, "delete", func(ctx context.Context) error {
			_, err := b.do(ctx, request{method: http.MethodDelete, key: b.key(hash)})
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		b.cache.remove(hash)
	}
	return nil
}

// List calls yield with the hash of each value below the prefix.
func (b *Bucket) List(ctx context.Context, yield func(hash string) error) error {
	below := strings.TrimPrefix(b.prefix+"/", "/")
	query := url.Values{"list-type": {"2"}, "prefix": {below}, "max-keys": {"1000"}}
	for {
		var page listing
		err := b.retry(ctx, "list", func(ctx context.Context) error {
			res, err := b.do(ctx, request{method: http.MethodGet, query: query})
			if err == nil {
				page, err = parseListing(res.body)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, key := range page.keys {
			folder, rest, ok := strings.Cut(strings.TrimPrefix(key, below), "/")
			if !ok || len(folder) != 2 || len(folder)+len(rest) != 2*sha256.Size {
				continue
			}
			if err := yield(folder + rest); err != nil {
				return err
			}
		}
		if page.next == "" || page.next == query.Get("continuation-token") {
			return nil
		}
		query.Set("continuation-token", page.next)
	}
}

// Check stores, reads and deletes a small value. It tells wrong credentials, regions and names before a turn needs
// the bucket.
func (b *Bucket) Check(ctx context.Context) error {
	data := []byte("lathe checks that it can store values here: " + time.Now().UTC().Format(time.RFC3339Nano))
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	if err := b.Put(ctx, hash, data); err != nil {
		return err
	}
	b.cache.remove(hash)
	_, err := b.Get(ctx, hash)
	return errors.Join(err, b.Delete(ctx, hash))
}
