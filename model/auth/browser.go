package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/lathe-agent/lathe"
)

// browser is the login by a page that leads back here.
func (c Client) browser(ctx context.Context, m Method, talk LoginUI) (Credential, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "wait for the browser: %w", err)
	}
	v := newVisit(m, l.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: v, ReadHeaderTimeout: answerTime}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // it ends when it is closed
	}()
	defer func() {
		// The last page must reach the browser, which may keep its connection.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-served
	}()
	talk.Show(Prompt{URL: v.page()})
	code, err := v.wait(ctx, talk)
	if err != nil {
		return nil, err
	}
	return c.redeem(ctx, m, v, code)
}

// browserLogin is a user's way to the vendor's page and back.
type browserLogin struct {
	method   Method
	redirect string // where the page leads back to
	path     string
	host     string
	state    string // proves that the callback belongs to this login
	verifier string // proves that the code is used by its requester
	came     chan callbackResult
}

// callbackResult is the result that a browser brought back.
type callbackResult struct {
	code string
	err  error
}

func newVisit(m Method, port int) *browserLogin {
	v := &browserLogin{method: m, path: "/callback", host: fmt.Sprintf("127.0.0.1:%d", port), state: random(16), verifier: oauth2.GenerateVerifier(), came: make(chan callbackResult, 1)}
	if m.RedirectParam != "" {
		v.path += "/" + v.state
		v.host = fmt.Sprintf("localhost:%d", port)
	}
	v.redirect = "http://" + v.host + v.path
	return v
}

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// page is the address of the vendor's page.
func (v *browserLogin) page() string {
	m := v.method
	if m.RedirectParam == "" {
		return m.config(v.redirect).AuthCodeURL(v.state, oauth2.S256ChallengeOption(v.verifier))
	}
	q := url.Values{m.RedirectParam: {v.redirect}, "code_challenge": {oauth2.S256ChallengeFromVerifier(v.verifier)}, "code_challenge_method": {"S256"}}
	if m.Scope != "" {
		q.Set("scope", m.Scope)
	}
	if m.ClientID != "" {
		q.Set("client_id", m.ClientID)
	}
	return m.Authorize + "?" + q.Encode()
}

// ServeHTTP takes the browser back. It rejects a request without the right state.
func (v *browserLogin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'")
	q := r.URL.Query()
	if r.Method != http.MethodGet || r.URL.Path != v.path || r.Host != v.host || !v.knows(q) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(closing("This is not a login page.")))
		return
	}
	a := v.read(q)
	text := "You are logged in."
	if a.err != nil {
		text = "You are not logged in."
	}
	_, _ = w.Write([]byte(closing(text)))
	select {
	case v.came <- a:
	default: // the first one counts
	}
}

func closing(text string) string {
	return "<!doctype html><title>lathe</title><p>" + text + " You can close this page and go back to the terminal.</p>\n"
}

func (v *browserLogin) knows(q url.Values) bool {
	return v.method.RedirectParam != "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(v.state)) == 1
}

// read takes the code, or the reason why there is none.
func (v *browserLogin) read(q url.Values) callbackResult {
	if q.Get("code") != "" {
		return callbackResult{code: q.Get("code")}
	}
	if why := cmp.Or(q.Get("error_description"), q.Get("error")); why != "" {
		return callbackResult{err: lathe.Errorf(lathe.Unauthorized, "%s did not log you in: %s", v.method.Provider, why)}
	}
	return callbackResult{err: lathe.Errorf(lathe.Unauthorized, "%s did not log you in", v.method.Provider)}
}

// wait returns the code, from the browser or from the user's hand.
func (v *browserLogin) wait(ctx context.Context, talk LoginUI) (string, error) {
	pasted := make(chan callbackResult, 1)
	if talk.Paste != nil {
		ctx, cancel := context.WithCancel(ctx)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			text, err := talk.Paste(ctx)
			if err != nil {
				pasted <- callbackResult{err: err}
				return
			}
			pasted <- v.pasted(text)
		})
		defer func() { cancel(); waiting.Wait() }()
	}
	select {
	case a := <-v.came:
		return a.code, a.err
	case a := <-pasted:
		return a.code, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// pasted reads what a user copied: the address the browser was led to, or the code in it.
func (v *browserLogin) pasted(text string) callbackResult {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		if text == "" {
			return callbackResult{err: lathe.Errorf(lathe.Unauthorized, "no code was pasted")}
		}
		return callbackResult{code: text}
	}
	u, err := url.Parse(text)
	if err != nil || u.Path != v.path || !v.knows(u.Query()) {
		return callbackResult{err: lathe.Errorf(lathe.Invalid, "this URL does not belong to this login; start again")}
	}
	return v.read(u.Query())
}

// redeem gives the code for a credential.
func (c Client) redeem(ctx context.Context, m Method, v *browserLogin, code string) (Credential, error) {
	if !m.GivesKey {
		token, err := m.config(v.redirect).Exchange(c.within(ctx, once), code, oauth2.VerifierOption(v.verifier))
		if err != nil {
			return nil, explain(ctx, m, err, code, v.verifier)
		}
		return c.credential(m, token)
	}
	body, err := json.Marshal(map[string]string{"code": code, "code_verifier": v.verifier, "code_challenge_method": "S256"})
	if err != nil {
		return nil, err
	}
	a, err := c.ask(ctx, http.MethodPost, m.Token, question{"application/json", body, "", []string{code, v.verifier}})
	if err != nil {
		return nil, err
	}
	key, err := ParseKey(a.Key)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "%s sent no key", m.Provider)
	}
	return Key{Key: key}, nil
}
