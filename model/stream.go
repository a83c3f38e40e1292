package model

import (
	"context"
	"net/http"

	"github.com/lathe-agent/lathe"
)

// Outgoing is a request on its way, below the base address of an endpoint.
type Outgoing struct {
	Path   string
	Body   []byte
	Header map[string]string // beside the endpoint's
}

// Ask sends a request and lets read have the answer, whose body is closed after it. A refusal is
// made an error by refused, which fills in what its wire tells.
func (e Endpoint) Ask(ctx context.Context, o Outgoing, refused func(f Failure) *lathe.Error, read func(resp *http.Response)) error {
	resp, err := e.Post(ctx, o.Path, o.Body, o.Header)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 == 3 && resp.Header.Get("Location") != "" {
		return sentAway(e.Provider, resp)
	}
	if resp.StatusCode != http.StatusOK {
		return refused(ReadFailure(e.Provider, resp))
	}
	read(resp)
	return nil
}

// sentAway is the error of a provider that is elsewhere now, where its key may not be.
func sentAway(provider string, resp *http.Response) error {
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
