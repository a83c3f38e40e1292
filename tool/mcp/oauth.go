package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// authority is the authorization server of a server.
type authority struct {
	resource string // the server, as the authority calls it
	meta     *oauthex.AuthServerMeta
	scope    string // requested by the server
}

// oauth is a server as one that its user logs in to.
type oauth struct{ *serverEntry }

// authTime is how long each question about a login may take.
const authTime = 20 * time.Second

// web is a client for all that is asked of others than the server itself: without its headers.
func (p oauth) web() *http.Client {
	home, err := url.Parse(p.def.URL)
	if err != nil {
		home = &url.URL{} // an empty origin
	}
	t := outward{base: p.hub.o.Transport, home: home, private: p.hub.o.AllowPrivate}
	return &http.Client{Transport: smallAnswers{t}, Timeout: authTime, CheckRedirect: redirected}
}

// smallAnswers bounds what is read of an answer.
type smallAnswers struct{ base http.RoundTripper }

func (s smallAnswers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.base.RoundTrip(req)
	if err == nil {
		resp.Body = &boundedBody{from: resp.Body, left: mostRefusal, release: func() {}, fail: func(error) {}}
	}
	return resp, err
}

// denied finds out what a server that wants a login wants: one, or a client in the settings first.
func (p oauth) denied(ctx context.Context, challenge string) error {
	a, err := p.authority(ctx, challenge)
	if err == nil && p.def.OAuth.ClientID == "" && a.meta.RegistrationEndpoint == "" {
		if e, err := p.hub.o.Tokens.entry(p.def.Name, p.def.URL); err != nil || e.Client == nil {
			return &deniedError{NeedsClient, errors.New("the server registers no clients: set oauth.clientId for it in the config")}
		}
	}
	return &deniedError{NeedsAuth, errors.New("the server wants a login")}
}

// authority finds the authorization server: named by the server's refusal, published at
// well-known places, or the server itself, as in the first version of the protocol.
func (p oauth) authority(ctx context.Context, challenge string) (*authority, error) {
	web := p.web()
	home, err := url.Parse(p.def.URL)
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	out := &authority{resource: p.def.URL}
	issuer := (&url.URL{Scheme: home.Scheme, Host: home.Host}).String()
	for _, place := range published(home, challenge) {
		m, err := oauthex.GetProtectedResourceMetadata(ctx, place[0], place[1], web)
		if err != nil || m == nil {
			continue
		}
		if len(m.AuthorizationServers) == 0 {
			return nil, errors.New("the server does not say who gives tokens for it")
		}
		issuer, out.resource, out.scope = m.AuthorizationServers[0], m.Resource, strings.Join(m.ScopesSupported, " ")
		break
	}
	if s := challenged(challenge, "scope"); s != "" {
		out.scope = s
	}
	out.meta, err = auth.GetAuthServerMetadata(ctx, issuer, web)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask how to log in: %w", err)
	case out.meta == nil: // nothing is published: the places of the first version
		issuer = strings.TrimRight(issuer, "/")
		out.meta = &oauthex.AuthServerMeta{
			Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize", TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register",
		}
	}
	return out, nil
}

// published are the places to look, each with the address it must be about.
func published(home *url.URL, challenge string) [][2]string {
	var out [][2]string
	if at := challenged(challenge, "resource_metadata"); at != "" {
		out = append(out, [2]string{at, home.String()})
	}
	const well = "/.well-known/oauth-protected-resource"
	host := url.URL{Scheme: home.Scheme, Host: home.Host}
	if path := strings.TrimLeft(home.Path, "/"); path != "" {
		at := host
		at.Path = well + "/" + path
		out = append(out, [2]string{at.String(), home.String()})
	}
	at := host
	at.Path = well
	return append(out, [2]string{at.String(), host.String()})
}

// challenged is a parameter of a refusal.
func challenged(header, name string) string {
	if header == "" {
		return ""
	}
	all, err := oauthex.ParseWWWAuthenticate([]string{header})
	if err != nil {
		return ""
	}
	for _, c := range all {
		if v := c.Params[name]; c.Scheme == "bearer" && v != "" {
			return v
		}
	}
	return ""
}

// probeTime is how long a server may take to refuse.
const probeTime = 5 * time.Second

// probe asks the server how it refuses.
func (p oauth) probe(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.def.URL, nil)
	if err != nil {
		return ""
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := p.web().Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }() // its headers were wanted
	return resp.Header.Get("WWW-Authenticate")
}

// token is one for the server that can be used; "" means that there is none.
func (p oauth) token(ctx context.Context, stale string) (string, error) {
	return p.hub.o.Tokens.fresh(ctx, p.def.Name, p.def.URL, stale, func(ctx context.Context, e entry) (grant, error) {
		ctx, cancel := context.WithTimeout(ctx, authTime)
		defer cancel()
		a, err := p.authority(ctx, p.probe(ctx))
		if err != nil {
			return grant{}, err
		}
		c := p.client(e)
		if c == nil {
			return grant{}, errRefused
		}
		return p.exchange(ctx, a, c, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {e.Tokens.Refresh}})
	})
}

// client is our client registration: from the config, or made by the server.
func (p oauth) client(e entry) *client {
	if id := p.def.OAuth.ClientID; id != "" {
		return &client{ID: id, Secret: p.def.OAuth.ClientSecret}
	}
	if c := e.Client; c != nil && c.ID != "" && (c.SecretExpires == 0 || c.SecretExpires > float64(p.hub.o.Tokens.now().Unix())) {
		return c
	}
	return nil
}

// exchange asks for a token. What is sent and what comes back is in no error.
func (p oauth) exchange(ctx context.Context, a *authority, c *client, form url.Values) (grant, error) {
	form.Set("client_id", c.ID)
	form.Set("resource", a.resource)
	methods := a.meta.TokenEndpointAuthMethodsSupported
	basic := c.Secret != "" && !slices.Contains(methods, "client_secret_post") // which is what servers without a word of it take
	if c.Secret != "" && !basic {
		form.Set("client_secret", c.Secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.meta.TokenEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return grant{}, errors.New("the address that gives tokens cannot be read")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if basic {
		req.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
	}
	web := p.web()
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the secrets are for this address
	resp, err := web.Do(req)
	if err != nil {
		return grant{}, fmt.Errorf("ask for a token: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return grant{}, fmt.Errorf("ask for a token: %w", err)
	}
	return readGrant(resp.StatusCode, data, p.hub.o.Tokens.now())
}

// readGrant reads the answer of the authorization server.
func readGrant(status int, data []byte, now time.Time) (grant, error) {
	var m map[string]json.RawMessage
	readable := json.Unmarshal(data, &m) == nil
	if code := textOf(m["error"]); code != "" || status != http.StatusOK || !readable {
		switch {
		case code == "invalid_grant" || code == "invalid_client" || code == "unauthorized_client":
			return grant{}, fmt.Errorf("%w (%s)", errRefused, code)
		case code != "":
			return grant{}, fmt.Errorf("no token was given: %s", line(code, 100))
		}
		return grant{}, fmt.Errorf("no token was given: status %d", status)
	}
	g := grant{Access: textOf(m["access_token"]), Refresh: textOf(m["refresh_token"]), Scope: textOf(m["scope"])}
	if g.Access == "" || strings.ContainsAny(g.Access, "\r\n\x00") {
		return grant{}, errors.New("no token was given: the answer has none")
	}
	if s, err := strconv.ParseFloat(strings.Trim(string(m["expires_in"]), `"`), 64); err == nil && s > 0 {
		g.Expires = float64(now.Unix()) + s
	}
	return g, nil
}
