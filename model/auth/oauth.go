package auth

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/lathe-agent/lathe"
)

// Package oauth2 speaks the standard flows: the page with a challenge, the device code and the renewal.
// Here is what it leaves to its callers: which servers may get a secret, what a refusal means, and that
// no error shows a secret.

// config is the method in the words of package oauth2. Programs on a user's machine have no secret of
// their own, so that the client ID stands in the form.
func (m Method) config(redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: m.ClientID, RedirectURL: redirect, Scopes: strings.Fields(m.Scope),
		Endpoint: oauth2.Endpoint{AuthURL: m.Authorize, DeviceAuthURL: m.Device, TokenURL: m.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// patience is what to do when a server does not work for the moment.
type patience bool

const (
	once  patience = false // the question failed
	again patience = true  // the user may still be at the page: ask later
)

// within returns a context whose questions go through our own client.
func (c Client) within(ctx context.Context, p patience) context.Context {
	client := c.plain()
	base := client.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	client.Transport = transport(func(r *http.Request) (*http.Response, error) {
		if !isSafe(r.URL) {
			return nil, lathe.Errorf(lathe.Invalid, "%q is not a URL that secrets can be sent to; use https", r.URL)
		}
		life, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)() // not all questions carry the context
		r = r.Clone(life)
		r.Header.Set("Accept", "application/json")
		if c.UserAgent != "" {
			r.Header.Set("User-Agent", c.UserAgent)
		}
		resp, err := whole(base.RoundTrip(r))
		if p == again && ctx.Err() == nil && (err != nil || resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests) {
			return slowDown(r), nil
		}
		return resp, err
	})
	return context.WithValue(ctx, oauth2.HTTPClient, &client)
}

// plain is the HTTP client. It follows no redirect: secrets are sent only where the method says.
func (c Client) plain() http.Client {
	client := http.Client{}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// transport is a function as a transport.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// whole reads an answer to its end, and calls JSON by its name: some vendors do not, and would be
// misread.
func whole(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerSize))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		resp.Header.Set("Content-Type", "application/json")
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// slowDown is the answer of a server that wants to be asked less often.
func slowDown(r *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"error":"slow_down"}`)),
	}
}

// explain makes an error of ours of one of package oauth2. None of the secrets is in it.
func explain(ctx context.Context, m Method, err error, secrets ...string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if own, ok := errors.AsType[*lathe.Error](err); ok {
		return own
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response != nil {
		host, status := m.Provider, refused.Response.StatusCode
		if r := refused.Response.Request; r != nil {
			host = r.URL.Host
		}
		if status == http.StatusOK && refused.ErrorCode == "" {
			return noToken(m)
		}
		_, err := readResponse(host, status, refused.Body, secrets)
		return cmp.Or(err, noToken(m))
	}
	if of, ok := errors.AsType[*url.Error](err); ok {
		host := m.Provider
		if at, err := url.Parse(of.URL); err == nil {
			host = at.Host
		}
		return unreachable(ctx, host, err)
	}
	return noToken(m) // an answer that is no token; its text may hold one
}

// noToken is the error for an answer that makes no sense.
func noToken(m Method) error {
	return lathe.Errorf(lathe.Unavailable, "%s sent no token", m.Provider)
}

// credential is token as the interface, nil with an error.
func (c Client) credential(m Method, t *oauth2.Token) (Credential, error) {
	out, err := c.token(m, t)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// token makes a credential of an answer. Where no other token renews it, it stands for itself,
// as other programs keep it.
func (c Client) token(m Method, t *oauth2.Token) (OAuth, error) {
	if t.AccessToken == "" {
		return OAuth{}, noToken(m)
	}
	out := OAuth{Access: NewSecret(t.AccessToken), Refresh: NewSecret(cmp.Or(t.RefreshToken, t.AccessToken)), ClientID: m.ClientID}
	if t.ExpiresIn > 0 {
		out.Expires = c.now().Add(min(time.Duration(t.ExpiresIn), 365*24*3600) * time.Second)
	}
	return out, nil
}
