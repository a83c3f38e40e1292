package release

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/netaddr"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// errMissing says that a release does not have a file.
var errMissing = errors.New("not found")

// Deadlines of downloads: for the start of an answer, and for a whole file.
const (
	answerTimeout = 30 * time.Second
	fileTimeout   = 15 * time.Minute
)

// checkAddress accepts https, http on this machine, and folders: nobody on the network can change what arrives.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil:
		return nil
	case err == nil && u.Scheme == "http" && netaddr.IsLoopback(u.Hostname()) && u.User == nil:
		return nil
	case err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") && u.Path != "":
		return nil
	}
	return lathe.Errorf(lathe.Invalid, "cannot use releases from %s; want https://…, file:///folder, or http:// on this machine", termtext.Quote(clip(address)))
}

// fetchSmall reads a small file of a release.
func (s *Source) fetchSmall(ctx context.Context, address string) ([]byte, error) {
	var out bytes.Buffer
	err := s.fetch(ctx, address, maxChecksums, &out)
	return out.Bytes(), err
}

// fetch copies a file of a release. A file that is larger than the limit or ends early is an error.
func (s *Source) fetch(ctx context.Context, address string, limit int64, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, fileTimeout)
	defer cancel()
	from, size, err := open(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // all errors of reading are seen
	name := address[strings.LastIndex(address, "/")+1:]
	n, err := io.Copy(to, io.LimitReader(from, limit+1))
	switch {
	case n > limit:
		return lathe.Errorf(lathe.Invalid, "%s at %s is larger than %s; nothing was installed", name, s.base, termtext.ByteSize(limit))
	case err != nil && errors.Is(err, io.ErrUnexpectedEOF), err == nil && size >= 0 && n != size:
		return lathe.Errorf(lathe.Unavailable, "the download of %s ended after %s of %s; nothing was installed. Try again", name, termtext.ByteSize(n), termtext.ByteSize(max(size, n)))
	case err != nil:
		return fmt.Errorf("download %s: %w", address, err)
	}
	return nil
}

// open starts to read a file; its size is -1 if it is not known.
func open(ctx context.Context, address string) (io.ReadCloser, int64, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, 0, err
	}
	if u.Scheme == "file" {
		return openFile(u)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	res, err := newClient().Do(req)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, 0, lathe.Errorf(lathe.Unavailable, "cannot reach %s: %w; check your network and HTTPS_PROXY", u.Host, err)
	}
	switch {
	case res.StatusCode == http.StatusOK:
		return res.Body, res.ContentLength, nil
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		err = errMissing
	default:
		err = lathe.Errorf(lathe.Unavailable, "%s answers with status %d for %s; try again later", u.Host, res.StatusCode, u.Path)
	}
	_ = res.Body.Close() // it is not read
	return nil, 0, err
}

func openFile(u *url.URL) (io.ReadCloser, int64, error) {
	path := filepath.FromSlash(u.Path)
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, `\`) // file:///C:/folder
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, 0, errMissing
	case err != nil:
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = lathe.Errorf(lathe.Invalid, "%s is not a file", termtext.Plain(path))
	}
	if err != nil {
		return nil, 0, cmp.Or(err, f.Close())
	}
	return f, info.Size(), nil
}

// newClient follows redirects, as GitHub needs, to addresses that a source may have; a file is none of them.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: answerTimeout}).DialContext,
			TLSHandshakeTimeout: answerTimeout, ResponseHeaderTimeout: answerTimeout, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= 10 {
				return errors.New("too many redirects")
			}
			if req.URL.Scheme == "file" || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
				return fmt.Errorf("refused the redirect to %s, which is not encrypted", termtext.Quote(clip(req.URL.Redacted())))
			}
			return checkAddress(req.URL.String())
		},
	}
}
