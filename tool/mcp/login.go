package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const (
	callbackPort = 19876
	callbackPath = "/mcp/oauth/callback"
	// loginTime is how long a login waits for the user.
	loginTime = 5 * time.Minute
)

// logins are the pending logins, by server.
type logins struct {
	mu      sync.Mutex
	waiting map[string]*waiting
}

// waiting is a login between its page and its code.
type waiting struct {
	done   chan struct{} // closed when it has ended
	err    error         // valid then
	cancel context.CancelFunc
	auth   *authority
}

func (l *logins) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.waiting {
		w.cancel()
	}
}

// put makes a login the one that waits, in place of an earlier one.
func (l *logins) put(name string, w *waiting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = map[string]*waiting{}
	}
	if old := l.waiting[name]; old != nil {
		old.cancel()
	}
	l.waiting[name] = w
}

func (l *logins) of(name string) *waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting[name]
}

// Login logs the user in to a server: open is called with the page to show, and the login ends
// when the browser comes back, after five minutes or with ctx. Then it connects.
func (h *Hub) Login(ctx context.Context, name string, open func(url string) error) error {
	page, _, err := h.StartLogin(ctx, name)
	if err != nil || page == "" {
		return err
	}
	w := h.login.of(name)
	if w == nil {
		return lathe.Errorf(lathe.Canceled, "the login to %s was given up", name)
	}
	if err := open(page); err != nil {
		h.o.Publish(&lathe.MCPBrowserFailed{Name: name, URL: page})
	}
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		w.cancel()
		return context.Cause(ctx)
	}
}

// StartLogin begins a login and returns the page the user must visit; "" where the server is
// connected already. The login ends by itself when the browser comes back, or by [Hub.FinishLogin].
func (h *Hub) StartLogin(ctx context.Context, name string) (page, state string, err error) {
	found, err := h.peer(name)
	if err != nil {
		return "", "", err
	}
	p := oauth{found}
	if p.def.local() || p.def.OAuth.Off || h.o.Tokens == nil {
		return "", "", lathe.Errorf(lathe.Invalid, "MCP server %s does not use a login (OAuth)", name)
	}
	p.mu.Lock()
	at := p.now.at
	p.mu.Unlock()
	if at == Connected {
		return "", "", nil
	}
	a, err := p.authority(ctx, p.probe(ctx))
	if err != nil {
		return "", "", lathe.Errorf(lathe.Unavailable, "log in to %s: %s", name, p.show(err))
	}
	redirect := p.redirect()
	c, err := p.register(ctx, a, redirect)
	if err != nil {
		return "", "", err
	}
	state, verifier := random(), random()
	err = h.o.Tokens.edit(ctx, name, p.def.URL, func(e *entry) { e.State, e.Verifier = state, verifier })
	if err != nil {
		return "", "", err
	}
	page, err = p.page(a, c, redirect, state, verifier)
	if err != nil {
		return "", "", err
	}
	return page, state, p.await(a, redirect, state)
}

// random is 32 random bytes in hex, which is also a verifier as RFC 7636 wants it.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// redirect is the address that the browser comes back to.
func (p oauth) redirect() string {
	if p.def.OAuth.RedirectURI != "" {
		return p.def.OAuth.RedirectURI
	}
	port := callbackPort
	if p.def.OAuth.CallbackPort > 0 {
		port = p.def.OAuth.CallbackPort
	}
	return "http://127.0.0.1:" + strconv.Itoa(port) + callbackPath
}

// register returns the client to log in as, registered if need be.
func (p oauth) register(ctx context.Context, a *authority, redirect string) (*client, error) {
	tokens := p.hub.o.Tokens
	e, err := tokens.entry(p.def.Name, p.def.URL)
	if err != nil {
		return nil, err
	}
	if c := p.client(e); c != nil {
		return c, nil
	}
	if a.meta.RegistrationEndpoint == "" {
		return nil, p.absent(state{at: NeedsClient})
	}
	r, err := oauthex.RegisterClient(ctx, a.meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{redirect}, ClientName: "lathe", GrantTypes: []string{"authorization_code", "refresh_token"},
		ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none", Scope: p.def.OAuth.Scope, ApplicationType: "native",
	}, p.web())
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "MCP server %s does not register this program: %s. Set \"oauth\": {\"clientId\": …} for it in the config", p.def.Name, p.show(err))
	}
	c := &client{ID: r.ClientID, Secret: r.ClientSecret, IssuedAt: seconds(r.ClientIDIssuedAt), SecretExpires: seconds(r.ClientSecretExpiresAt)}
	return c, tokens.edit(ctx, p.def.Name, p.def.URL, func(e *entry) { e.Client = c })
}

func seconds(t time.Time) float64 {
	if t.IsZero() || t.Unix() <= 0 {
		return 0
	}
	return float64(t.Unix())
}

// page is the address at which the user agrees.
func (p oauth) page(a *authority, c *client, redirect, state, verifier string) (string, error) {
	u, err := url.Parse(a.meta.AuthorizationEndpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return "", lathe.Errorf(lathe.Unavailable, "MCP server %s names no page to log in at", p.def.Name)
	}
	sum := sha256.Sum256([]byte(verifier))
	q := u.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": c.ID, "redirect_uri": redirect, "state": state, "resource": a.resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	scope := cmp.Or(p.def.OAuth.Scope, a.scope)
	if scope != "" {
		q.Set("scope", scope)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// await listens for the browser to come back, in the background.
func (p oauth) await(a *authority, redirect, state string) error {
	u, err := url.Parse(redirect)
	if err != nil {
		return lathe.Errorf(lathe.Invalid, "MCP server %s: its redirectUri cannot be read", p.def.Name)
	}
	port := u.Port()
	if p.def.OAuth.CallbackPort > 0 { // where another machine passes it on
		port = strconv.Itoa(p.def.OAuth.CallbackPort)
	}
	if port == "" {
		port = strconv.Itoa(callbackPort)
	}
	ctx, cancel := context.WithTimeoutCause(p.hub.ctx, loginTime, errors.New("the login timed out after five minutes; try again"))
	w := &waiting{done: make(chan struct{}), cancel: cancel, auth: a}
	p.hub.login.put(p.def.Name, w) // also ends an earlier one, which may have the port
	var listener net.Listener
	for range 20 { // an earlier login takes a moment to go
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			break
		}
		pauseFor(ctx, 50*time.Millisecond)
	}
	if err != nil {
		cancel()
		return lathe.Errorf(lathe.Conflict, "the login to %s would come back to port %s, which is taken: end the other login, or set oauth.callbackPort", p.def.Name, port)
	}
	if !p.hub.spawn(func() {
		defer cancel()
		defer close(w.done)
		w.err = p.finish(ctx, listener, expected{path: u.Path, state: state, issuer: a.meta.Issuer})
	}) {
		cancel()
		_ = listener.Close() // it is unused
		return errClosed
	}
	return nil
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// expected holds the parameters that the browser must return.
type expected struct{ path, state, issuer string }

// loginCallback holds the parameters it returned.
type loginCallback struct {
	code string
	err  error
}

// catch answers the browser, and passes on its parameters, once.
func (e expected) catch(came chan<- loginCallback) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.URL.Path != e.path || r.Method != http.MethodGet:
			http.NotFound(w, r)
			return
		case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(e.state)) != 1,
			q.Get("iss") != "" && strings.TrimRight(q.Get("iss"), "/") != strings.TrimRight(e.issuer, "/"): // another's code (RFC 9207)
			http.Error(w, "This login does not match the one in progress. Start it again.", http.StatusBadRequest)
			return
		}
		b := loginCallback{code: q.Get("code")}
		text := "You can close this page and go back to lathe."
		if b.code == "" {
			b.err = fmt.Errorf("the login was refused: %s", line(q.Get("error")+" "+q.Get("error_description"), 300))
			text = "The login was refused. You can close this page."
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>lathe</title><p>%s</p>", text) // the browser may be gone
		select {
		case came <- b:
		default: // once is enough
		}
	})
}

// finish waits for the code and trades it for a token.
func (p oauth) finish(ctx context.Context, listener net.Listener, want expected) error {
	came := make(chan loginCallback, 1)
	server := &http.Server{Handler: want.catch(came), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // until it is shut down
	}()
	defer func() {
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(soon) != nil {
			_ = server.Close() // cut off slow clients
		}
		<-served
	}()
	select {
	case b := <-came:
		if b.err != nil {
			return lathe.Errorf(lathe.Unauthorized, "MCP server %s: %w", p.def.Name, b.err)
		}
		return p.redeem(ctx, b.code)
	case <-ctx.Done():
		return lathe.Errorf(lathe.Canceled, "log in to %s: %w", p.def.Name, context.Cause(ctx))
	}
}

// FinishLogin ends a login with the code that the user brought back, and connects.
func (h *Hub) FinishLogin(ctx context.Context, name, code string) error {
	p, err := h.peer(name)
	if err != nil {
		return err
	}
	if h.o.Tokens == nil {
		return lathe.Errorf(lathe.Invalid, "MCP server %s does not use a login (OAuth)", name)
	}
	if err := (oauth{p}).redeem(ctx, strings.TrimSpace(code)); err != nil {
		return err
	}
	if w := h.login.of(name); w != nil {
		w.cancel() // it waits for what has come
	}
	return nil
}

// redeem trades a code for a token and connects with it.
func (p oauth) redeem(ctx context.Context, code string) error {
	tokens := p.hub.o.Tokens
	e, err := tokens.entry(p.def.Name, p.def.URL)
	if err != nil {
		return err
	}
	c := p.client(e)
	if e.Verifier == "" || c == nil {
		return lathe.Errorf(lathe.Conflict, "no login to %s in progress; run: lathe mcp auth %s", p.def.Name, p.def.Name)
	}
	var a *authority
	if w := p.hub.login.of(p.def.Name); w != nil {
		a = w.auth
	} else if a, err = p.authority(ctx, p.probe(ctx)); err != nil {
		return lathe.Errorf(lathe.Unavailable, "log in to %s: %s", p.def.Name, p.show(err))
	}
	g, err := p.exchange(ctx, a, c, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {e.Verifier}, "redirect_uri": {p.redirect()},
	})
	if err != nil {
		return lathe.Errorf(lathe.Unauthorized, "log in to %s: %s", p.def.Name, p.show(err))
	}
	err = tokens.edit(ctx, p.def.Name, p.def.URL, func(e *entry) {
		e.Tokens, e.Verifier, e.State = &g, "", ""
	})
	if err != nil {
		return err
	}
	p.on()
	_, err = p.connected(ctx)
	return err
}

// Logout forgets the login to a server, and reconnects without it.
func (h *Hub) Logout(ctx context.Context, name string) error {
	p, err := h.peer(name)
	if err != nil {
		return err
	}
	if h.o.Tokens != nil {
		if err := h.o.Tokens.Remove(ctx, name); err != nil {
			return err
		}
	}
	p.mu.Lock()
	used := p.over != nil || p.now.conn != nil
	p.mu.Unlock()
	if used && !p.def.local() {
		p.stop()
		p.on()
		p.start()
	}
	return nil
}
