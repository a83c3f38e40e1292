package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe/internal/netaddr"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

// fetched is what a server answered: a body, or where to go instead.
type fetched struct {
	header   http.Header
	body     []byte
	location string
}

// get asks the server once; a second time, and plainly, if it takes us for a browser that must
// prove itself.
func (f *fetchRun) get(ctx context.Context, t *http.Transport) (*fetched, error) {
	const browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
	got, challenged, err := f.try(ctx, t, browser)
	if challenged {
		got, _, err = f.try(ctx, t, f.cfg.UserAgent)
	}
	return got, err
}

func (f *fetchRun) try(ctx context.Context, t *http.Transport, agent string) (_ *fetched, challenged bool, _ error) {
	start, limit := time.Now(), f.left
	defer func() { f.left -= time.Since(start) }()
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(timed, http.MethodGet, f.at.String(), nil)
	if err != nil {
		return nil, false, tool.Failf("%s cannot be fetched: %w.", phrase.Clip(f.at.String()), err)
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", accepted(f.in.Format))
	req.Header.Set("Accept-Language", "en-US")
	res, err := t.RoundTrip(req)
	if err != nil {
		return nil, false, f.failed(ctx, timed, err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusForbidden && res.Header.Get("Cf-Mitigated") == "challenge" && agent != f.cfg.UserAgent:
		return nil, true, f.status(res)
	case isRedirect(res.StatusCode) && res.Header.Get("Location") != "":
		return &fetched{location: res.Header.Get("Location")}, false, nil
	case res.StatusCode < 200 || res.StatusCode > 299:
		return nil, false, f.status(res)
	}
	body, err := f.read(res)
	var said *tool.Failure
	switch {
	case errors.As(err, &said):
		return nil, false, err
	case err != nil:
		return nil, false, f.failed(ctx, timed, err)
	}
	return &fetched{header: res.Header, body: body}, false, nil
}

// accepted prefers the form that is wanted.
func accepted(format string) string {
	switch format {
	case "text":
		return "text/plain, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1"
	case "html":
		return "text/html, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.1"
	}
	return "text/markdown, text/x-markdown;q=0.9, text/html;q=0.8, text/plain;q=0.7, */*;q=0.1"
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// read reads a body to its end, or to where it is too large: packed ones count unpacked.
func (f *fetchRun) read(res *http.Response) ([]byte, error) {
	if res.ContentLength > webBytes {
		return nil, tool.Failf("%s has %s, and at most %s can be fetched. %s", f.at, phrase.Size(res.ContentLength), phrase.Size(webBytes), f.download())
	}
	if enc := res.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, tool.Failf("The server packed %s as %q, which it was not asked for and which cannot be read here. bash with curl --compressed may read it.", f.at, phrase.Clip(enc))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, webBytes+1))
	switch {
	case len(body) > webBytes:
		return nil, tool.Failf("%s has more than %s, which is the most that can be fetched. %s", f.at, phrase.Size(webBytes), f.download())
	case err != nil:
		return nil, fmt.Errorf("the connection broke off after %s: %w", phrase.Size(int64(len(body))), err)
	}
	return body, nil
}

// failed explains why there is no answer. A cancellation is passed on.
func (f *fetchRun) failed(ctx, timed context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var denied *addressError
	var name *net.DNSError
	var cert *tls.CertificateVerificationError
	host := f.at.Hostname()
	switch {
	case errors.As(err, &denied):
		return f.denied(host, denied)
	case timed.Err() != nil:
		return tool.Failf("%s did not answer in time: the limit is %s. Call webfetch with a longer timeout (at most %g), or fetch another page.", f.at, f.limit, webLongest.Seconds())
	case errors.As(err, &name) && name.IsNotFound:
		return tool.Failf("Unknown host %q. Correct the url, or search for the page.", phrase.Clip(host))
	case errors.As(err, &cert):
		return tool.Failf("The certificate of %s is not trusted: %w. Fetch the page from another place.", phrase.Clip(host), cert.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return tool.Failf("No server listens at %s: the connection was refused. Correct the host or the port.", f.at.Host)
	}
	return tool.Failf("%s cannot be fetched: %w. Fetch it from another source, or continue without it.", f.at, err)
}

// checkAddr refuses an address that is no public one, as the URL shows it.
func (f *fetchRun) checkAddr(u *url.URL) error {
	err := f.cfg.CheckURL(u)
	var denied *addressError
	if errors.As(err, &denied) {
		return f.denied(u.Hostname(), denied)
	}
	return err
}

func (f *fetchRun) denied(host string, e *addressError) error {
	what := e.Error()
	if host != e.addr.String() {
		what = fmt.Sprintf("%s leads to %s", phrase.Clip(host), what)
		what = strings.Replace(what, " is ", ", ", 1)
	}
	how := "For a server of the user's own, use bash with curl."
	if f.hops > 0 {
		how = fmt.Sprintf("%s was redirected there; leave it.", phrase.Clip(f.in.URL))
	} else if netaddr.Metadata(e.addr) != "" {
		how = "Do without it."
	}
	return &tool.Failure{
		Text: fmt.Sprintf("%s: webfetch reaches public addresses only, unless the user's settings allow others. %s", what, how),
		Err:  e,
	}
}

// status explains an answer that is an error, and names a way on.
func (f *fetchRun) status(res *http.Response) error {
	said := ""
	if kind := res.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/plain") || strings.HasPrefix(kind, "application/json") {
		head, _ := io.ReadAll(io.LimitReader(res.Body, 2000)) // a partial body is enough
		if line := strings.Join(strings.Fields(string(head)), " "); line != "" {
			said = fmt.Sprintf(" The server says %q.", phrase.Clip(line))
		}
	}
	way := "Fetch the page from another place."
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		way = "It wants a login or refuses programs; find the same text at a public address."
	case http.StatusNotFound, http.StatusGone:
		way = "The address is wrong or old; fetch the site's index or search for the page."
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		way = "Do something else first, then fetch it once more."
		if after := res.Header.Get("Retry-After"); after != "" {
			way = fmt.Sprintf("It asks to wait (Retry-After: %s). Do something else first.", phrase.Clip(after))
		}
	case http.StatusNotAcceptable:
		way = "Call webfetch with format html."
	}
	if raw := rawGitHub(f.at); raw != "" {
		way = fmt.Sprintf("Call webfetch with {\"url\":%s} for the file itself.", phrase.JSON(raw))
	}
	return tool.Failf("%s answered %d %s.%s %s", f.at, res.StatusCode, http.StatusText(res.StatusCode), said, way)
}

// rawGitHub is where GitHub has a file without the page around it; "" for what is no file.
func rawGitHub(u *url.URL) string {
	parts := strings.SplitN(strings.TrimPrefix(u.EscapedPath(), "/"), "/", 4)
	if hostOf(u) != "github.com" || len(parts) < 4 || parts[2] != "blob" {
		return ""
	}
	return "https://raw.githubusercontent.com/" + parts[0] + "/" + parts[1] + "/" + parts[3]
}
