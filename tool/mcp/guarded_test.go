package mcp_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// guarded is an MCP server behind a login, and the authority that gives tokens for it. Each refresh
// token works once; using one again ends the login, as RFC 9700 has it.
type guarded struct {
	*httptest.Server
	inner http.Handler

	mu        sync.Mutex
	noClients bool          // it registers none
	lifetime  time.Duration // of tokens
	count     int
	access    map[string]time.Time // valid until
	refresh   map[string]bool      // true: not used yet
	codes     map[string]string    // code to challenge
	refreshes int
	reused    int
	hold      chan struct{} // delays answers to refreshes until closed
	resource  string        // as last sent
}

func newGuarded(t testing.TB) *guarded {
	g := &guarded{inner: streamable(), lifetime: time.Hour, access: map[string]time.Time{}, refresh: map[string]bool{}, codes: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", g.mcp)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}, "scopes_supported": []string{"a", "b"}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		m := map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.noClients {
			m["registration_endpoint"] = g.URL + "/register"
		}
		answer(w, 200, m)
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 201, map[string]any{"client_id": "client-1", "client_id_issued_at": 1000})
	})
	mux.HandleFunc("/authorize", g.authorize)
	mux.HandleFunc("/token", g.token)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		g.CloseClientConnections()
		g.Close()
	})
	return g
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (g *guarded) mcp(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	until, known := g.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	g.mu.Unlock()
	if !known || time.Now().After(until) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/.well-known/oauth-protected-resource/mcp"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	g.inner.ServeHTTP(w, r)
}

// authorize is the user, who agrees at once.
func (g *guarded) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("code_challenge_method") != "S256" || q.Get("client_id") == "" || q.Get("scope") != "a b" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	g.count++
	code := "code-" + strconv.Itoa(g.count)
	g.codes[code] = q.Get("code_challenge")
	g.mu.Unlock()
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (g *guarded) token(w http.ResponseWriter, r *http.Request) {
	no := func(code string) { answer(w, 400, map[string]string{"error": code, "error_description": "sesame"}) }
	if r.ParseForm() != nil {
		no("invalid_request")
		return
	}
	g.mu.Lock()
	hold := g.hold
	g.resource = r.PostForm.Get("resource")
	g.mu.Unlock()
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		g.mu.Lock()
		challenge, ok := g.codes[r.PostForm.Get("code")]
		delete(g.codes, r.PostForm.Get("code"))
		g.mu.Unlock()
		if !ok || challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			no("invalid_grant")
			return
		}
	case "refresh_token":
		g.mu.Lock()
		g.refreshes++
		fresh, known := g.refresh[r.PostForm.Get("refresh_token")]
		g.refresh[r.PostForm.Get("refresh_token")] = false
		if known && !fresh {
			g.reused++
		}
		g.mu.Unlock()
		if hold != nil {
			<-hold
		}
		if !fresh {
			no("invalid_grant")
			return
		}
	}
	access, refresh := g.issue()
	g.mu.Lock()
	seconds := int(g.lifetime.Seconds())
	g.mu.Unlock()
	answer(w, 200, map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh, "expires_in": seconds, "scope": "a b"})
}

// issue makes a pair of tokens.
func (g *guarded) issue() (access, refresh string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	access, refresh = fmt.Sprint("access-", g.count), fmt.Sprint("refresh-", g.count)
	g.access[access], g.refresh[refresh] = time.Now().Add(g.lifetime), true
	return access, refresh
}

func (g *guarded) counts() (refreshes, reused int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refreshes, g.reused
}
