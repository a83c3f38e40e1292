package model

import (
	"context"
	"net/http"

	"github.com/lathe-agent/lathe"
)

// Outgoing is a request to a path below the base URL of an endpoint.
type Outgoing struct {
	Path   string
	Body   []byte
	Header map[string]string // beside the endpoint's
}

// Ask sends a request, passes the response to read, and closes its body. refused converts a refusal to
// an error.
func (e Endpoint) Ask(ctx context.Context, o Outgoing, refused func(f Failure) *lathe.Error, read func(resp *http.Response)) error {
	resp, err := e.Post(ctx, o.Path, o.Body, o.Header)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 == 3 && resp.Header.Get("Location") != "" {
		return redirectError(e.Provider, resp)
	}
	if resp.StatusCode != http.StatusOK {
		return refused(ReadFailure(e.Provider, resp))
	}
	read(resp)
	return nil
}

// redirectError is the error of a redirect to another host, which must not get the key.
func redirectError(provider string, resp *http.Response) error {
	f := ReadFailure(provider, resp)
	where := "another address"
	if to, err := resp.Location(); err == nil {
		to.RawQuery, to.User, to.Fragment = "", nil, ""
		where = to.String()
	}
	f.Body, f.Message = nil, "the provider redirects to "+where+", and lathe does not send keys or prompts there; if it is right, set it as baseURL in the config"
	return f.Error()
}

// WithHeader returns an endpoint that sends a header, unless it has one of that name.
func (e Endpoint) WithHeader(name, value string) Endpoint {
	all := map[string]string{http.CanonicalHeaderKey(name): value}
	for k, v := range e.Header {
		all[http.CanonicalHeaderKey(k)] = v
	}
	e.Header = all
	return e
}
