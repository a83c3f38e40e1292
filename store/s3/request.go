package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// request is one HTTP request to the bucket.
type request struct {
	method, key string
	query       url.Values
	header      http.Header
	body        []byte
}

// response is what the operations need of an answer.
type response struct {
	size int64
	body []byte
}

// errTransient is an error that may pass if the request is repeated.
type errTransient struct{ error }

func (e errTransient) Unwrap() error { return e.error }

// retry runs an operation until it succeeds, fails for good, or takes too long.
func (b *Bucket) retry(ctx context.Context, verb string, do func(context.Context) error) (err error) {
	defer func() { b.note(ctx, verb, err) }()
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pause := firstPause
	for n := 1; ; n++ {
		err := do(within)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return b.explain(verb, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var passing errTransient
		if !errors.As(err, &passing) || n == attempts || within.Err() != nil {
			return b.explain(verb, err)
		}
		b.log.Debug("repeating a request for large values", "bucket", b.String(), "attempt", n, "error", err)
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-within.Done():
			wait.Stop()
			return b.explain(verb, err)
		}
		pause *= 3
	}
}

// note remembers that an operation fails, until one of its kind succeeds. It logs when that begins and ends.
func (b *Bucket) note(ctx context.Context, verb string, err error) {
	switch {
	case err == nil:
		if _, failed := b.faults.LoadAndDelete(verb); failed {
			b.log.Info("the bucket for large values works again", "bucket", b.String(), "request", verb)
		}
	case ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged):
		if _, failed := b.faults.Swap(verb, err); !failed {
			b.log.Warn("the bucket for large values does not work, and is tried again with each of them", "bucket", b.String(), "request", verb, "error", err)
		}
	}
}

// Faults are the errors of operations that failed when they were last tried.
func (b *Bucket) Faults() (out []error) {
	b.faults.Range(func(_, err any) bool {
		out = append(out, err.(error))
		return true
	})
	return out
}

// explain makes an error for people.
func (b *Bucket) explain(verb string, err error) error {
	if err == nil || errors.Is(err, errDamaged) {
		return err
	}
	var known *lathe.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer from %s within %s", b.base.Host, patience)
	}
	return lathe.Errorf(lathe.Unavailable, "cannot %s a large value in %s: %w", verb, b, err)
}

// do sends one request. The error of a missing object is fs.ErrNotExist.
func (b *Bucket) do(ctx context.Context, in request) (out response, err error) {
	at := b.base
	if at.Path += "/"; in.key != "" {
		at.Path += in.key
	}
	at.RawQuery = in.query.Encode()
	req, err := http.NewRequestWithContext(ctx, in.method, at.String(), bytes.NewReader(in.body))
	if err != nil {
		return out, err
	}
	if in.header != nil {
		req.Header = in.header.Clone()
	}
	sum := sha256.Sum256(in.body)
	req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	if err := b.signer.Sign(req, in.body); err != nil {
		return out, err
	}
	res, err := b.client.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // without the URL
		}
		return out, errTransient{err}
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 {
		return out, b.refusal(in, res)
	}
	if in.method == http.MethodHead || in.method == http.MethodPut || in.method == http.MethodDelete {
		out.size = res.ContentLength
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
		return out, nil
	}
	if res.ContentLength > maxValue {
		return out, fmt.Errorf("the server sends %d bytes; the limit is %d", res.ContentLength, maxValue)
	}
	out.body, err = io.ReadAll(io.LimitReader(res.Body, maxValue+1))
	switch {
	case err != nil:
		return out, errTransient{fmt.Errorf("the answer ended early: %w", err)}
	case len(out.body) > maxValue:
		return out, fmt.Errorf("the server sends more than %d bytes", maxValue)
	}
	return out, nil
}

// maxRefusal limits what is read of an error.
const maxRefusal = 16 << 10

// refusal is the error of an answer that is not a success.
func (b *Bucket) refusal(in request, res *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	code := element(string(body), "Code")
	if code == "" || !isWord(code) {
		code = res.Status
	}
	region := res.Header.Get("X-Amz-Bucket-Region")
	switch {
	case res.StatusCode == http.StatusNotFound && code == "NoSuchBucket":
		return lathe.Errorf(lathe.Invalid, "bucket %q not found at %s; create it, or correct --blobs", b.name, b.base.Host)
	case res.StatusCode == http.StatusNotFound && in.key != "":
		return fmt.Errorf("%s: %w", in.key, fs.ErrNotExist)
	case res.StatusCode/100 == 3 || code == "AuthorizationHeaderMalformed" || code == "IllegalLocationConstraintException":
		if !isWord(region) {
			region = "the right one"
		}
		return lathe.Errorf(lathe.Invalid, "the bucket %q is not in the region %q (%s); set AWS_REGION or ?region= in --blobs to %s", b.name, b.signer.Region(), code, region)
	case res.StatusCode == http.StatusForbidden || res.StatusCode == http.StatusUnauthorized:
		if code == "RequestTimeTooSkewed" {
			return lathe.Errorf(lathe.Unauthorized, "this machine's clock differs too much from the clock of %s; correct it", b.base.Host)
		}
		return lathe.Errorf(lathe.Unauthorized, "%s refused the credentials for the bucket %q (%s); they need s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket", b.base.Host, b.name, code)
	case res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout:
		return errTransient{fmt.Errorf("%s answered %d %s", b.base.Host, res.StatusCode, code)}
	}
	return fmt.Errorf("%s answered %d %s", b.base.Host, res.StatusCode, code)
}

// isWord reports whether a server's text is fit for an error message.
func isWord(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// listing is a page of object names.
type listing struct {
	keys []string
	next string
}

// parseListing reads the answer to a list request. Names of values need no unescaping; all other names are left out.
func parseListing(body []byte) (out listing, err error) {
	text := string(body)
	if !strings.Contains(text, "ListBucketResult") {
		return out, errTransient{errors.New("the answer is not a list of objects")}
	}
	if element(text, "IsTruncated") == "true" {
		if out.next = unescape.Replace(element(text, "NextContinuationToken")); out.next == "" {
			return out, errors.New("the list of objects has no token for its next page")
		}
	}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "<Key>")
		if !ok {
			return out, nil
		}
		key, after, ok := strings.Cut(after, "</Key>")
		if !ok {
			return out, errTransient{errors.New("the list of objects is incomplete")}
		}
		out.keys, rest = append(out.keys, key), after
	}
}

var unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&#43;", "+")

// element returns the text of the first XML element with a name that has no others inside.
func element(text, name string) string {
	_, after, _ := strings.Cut(text, "<"+name+">")
	value, _, ok := strings.Cut(after, "</"+name+">")
	if !ok || strings.Contains(value, "<") {
		return ""
	}
	return value
}
