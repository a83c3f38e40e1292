package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/netaddr"
)

// DefaultURL is the default URL of the catalog.
const DefaultURL = "https://models.dev/api.json"

// Limits for the download of the catalog, which has about 2 MB.
const (
	refreshTime = time.Minute
	refreshSize = 32 << 20
)

// Refreshed describes a downloaded catalog.
type Refreshed struct {
	From              string
	Providers, Models int
	Bytes             int64
}

// CatalogURL makes the address to fetch from of what users write: that of the file itself, or
// of the server that has it as api.json. Addresses in the catalog say where keys are sent, so
// it must come over an authenticated connection.
func CatalogURL(from string) (string, error) {
	if from == "" {
		return DefaultURL, nil
	}
	u, err := url.Parse(from)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", lathe.Errorf(lathe.Invalid, "%q is not a model catalog URL: it must look like %s", from, DefaultURL)
	case u.Scheme == "http" && !netaddr.IsLoopback(u.Hostname()):
		return "", lathe.Errorf(lathe.Invalid, "the model catalog decides where your API keys are sent: use https for %s", u.Host)
	case !strings.HasSuffix(u.Path, ".json"):
		u.Path = strings.TrimRight(u.Path, "/") + "/api.json"
	}
	return u.String(), nil
}

// Refresh fetches the catalog into the file at path, which is replaced whole, and only by
// one that can be read. The client may be nil.
func Refresh(ctx context.Context, c *http.Client, from, path string) (Refreshed, error) {
	out := Refreshed{From: redactURL(from)}
	src, err := fetch(ctx, c, from)
	if err != nil {
		return out, unchanged(err)
	}
	out.Bytes = int64(len(src))
	file, err := split(src)
	if err != nil {
		return out, lathe.Errorf(lathe.Unavailable, "%s is not a model catalog; the current catalog is unchanged", out.From)
	}
	for id := range file.raw {
		if p := file.provider(id); p != nil {
			out.Providers++
			out.Models += len(p.Models)
		}
	}
	if out.Models == 0 {
		return out, lathe.Errorf(lathe.Unavailable, "%s has no models; the current catalog is unchanged", out.From)
	}
	if err := atomicfile.Write(path, src); err != nil {
		return out, lathe.Errorf(lathe.Unavailable, "save the model catalog: %w", err)
	}
	return out, nil
}

// redactURL is an address without what may be secret in it.
func redactURL(from string) string {
	u, err := url.Parse(from)
	if err != nil {
		return "the address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func unchanged(err error) error {
	if lathe.CodeOf(err) == lathe.Canceled {
		return err
	}
	return lathe.Errorf(lathe.Unavailable, "cannot download the model catalog: %w; the current catalog is unchanged", err)
}

// fetch downloads the catalog within a time limit that its error names.
func fetch(parent context.Context, c *http.Client, from string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(parent, refreshTime, fmt.Errorf("%s took longer than %s", redactURL(from), refreshTime))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	client := http.Client{}
	if c != nil {
		client = *c
	}
	client.CheckRedirect = rejectInsecureRedirect
	resp, err := client.Do(req)
	if err != nil {
		return nil, downloadError(parent, ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", redactURL(from), resp.Status)
	}
	src, err := io.ReadAll(io.LimitReader(resp.Body, refreshSize+1))
	if err != nil {
		return nil, downloadError(parent, ctx, err)
	}
	if len(src) > refreshSize {
		return nil, fmt.Errorf("%s is larger than %d MB", redactURL(from), refreshSize>>20)
	}
	return src, nil
}

// rejectInsecureRedirect rejects redirects to insecure connections.
func rejectInsecureRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return errors.New("too many redirects")
	}
	_, err := CatalogURL(req.URL.String())
	return err
}

// downloadError says why a request failed, without the address, which may hold a password.
func downloadError(parent, ctx context.Context, err error) error {
	if parent.Err() != nil {
		return context.Canceled
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}
