package server

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// guard authenticates requests. A password keeps out other people and programs. The other checks
// keep out web pages, which reach loopback from the user's own browser: Host detects DNS
// rebinding, Origin and Sec-Fetch-Site detect pages, and a body that is not JSON detects forms.
type guard struct {
	user    string
	want    [sha256.Size]byte // of name:password
	open    bool              // there is no password
	origins []string
	hosts   []string
}

func newGuard(o Options) *guard {
	g := &guard{user: cmp.Or(o.Username, "opencode"), open: o.Password == "", origins: o.Origins}
	g.want = sha256.Sum256([]byte(g.user + ":" + o.Password))
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(strings.TrimSuffix(h, ".")))
	}
	return g
}

// hasPassword reports whether the request carries the password: as Basic, or as a token in the query, for
// clients that cannot send headers.
func (g *guard) hasPassword(r *http.Request) bool {
	if g.open {
		return true
	}
	if name, password, ok := r.BasicAuth(); ok {
		return g.equals([]byte(name + ":" + password))
	}
	token := r.URL.Query().Get("auth_token")
	if token == "" {
		return false
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if pair, err := e.DecodeString(token); err == nil {
			return g.equals(pair)
		}
	}
	return false
}

// isPassword reports whether a text is the password. A server without one accepts any.
func (g *guard) isPassword(text string) bool { return g.open || g.equals([]byte(g.user+":"+text)) }

// equals compares in constant time.
func (g *guard) equals(pair []byte) bool {
	got := sha256.Sum256(pair)
	return subtle.ConstantTimeCompare(got[:], g.want[:]) == 1
}

// checkHost rejects requests to an unknown host name: in DNS rebinding Host has the attacker's name.
// IP addresses cannot be rebound.
func (g *guard) checkHost(r *http.Request) error {
	if _, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); unix {
		return nil // no browser reaches it
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	switch {
	case host == "localhost", strings.HasSuffix(host, ".localhost"), slices.Contains(g.hosts, host):
		return nil
	case net.ParseIP(strings.Trim(host, "[]")) != nil:
		return nil
	}
	return forbidden("This server is not known as %q; use its address, or start it with --allow-host NAME", phrase.Shorten(host, 100))
}

// allowsOrigin reports whether pages of an origin may send requests.
func (g *guard) allowsOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Path != "" {
		return false
	}
	host := u.Hostname()
	switch {
	case slices.Contains(g.origins, origin):
		return true
	case isOwnOrigin(r, origin): // Host was checked
		return true
	case u.Scheme == scheme(r) && (host == "localhost" || host == "127.0.0.1") && isOwnPort(r, u.Port()):
		return true
	case g.open: // all below are foreign pages and programs, which need the password
		return false
	case u.Scheme == "http" && (host == "localhost" || host == "127.0.0.1"):
		return true
	case u.Scheme == "oc" && strings.HasPrefix(u.Host, "renderer"):
		return true
	case origin == "tauri://localhost", origin == "http://tauri.localhost", origin == "https://tauri.localhost":
		return true
	case u.Scheme == "https" && strings.HasSuffix(host, ".opencode.ai"):
		return true
	}
	return false
}

// isOwnPort reports whether a port is the one that the request came in by.
func isOwnPort(r *http.Request, port string) bool {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && port == strconv.Itoa(a.Port)
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// checkOrigin rejects pages of other origins and sets the CORS headers for the allowed ones. It reports
// whether the request was a preflight.
func (g *guard) checkOrigin(w http.ResponseWriter, r *http.Request) (done bool, err error) {
	h, origin := w.Header(), r.Header.Get("Origin")
	h.Add("Vary", "Origin")
	if origin == "" {
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
		}
		return r.Method == http.MethodOptions, nil
	}
	if !g.allowsOrigin(r, origin) {
		return false, forbidden("Origin %q is not allowed; start the server with --cors ORIGIN to allow it", phrase.Shorten(origin, 100))
	}
	h.Set("Access-Control-Allow-Origin", origin)
	if r.Method != http.MethodOptions {
		return false, nil
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET,HEAD,PUT,PATCH,POST,DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return true, nil
}

// checkFetchSite rejects cross-site requests without an origin: images, scripts, frames, links. Public
// pages may be linked to.
func (g *guard) checkFetchSite(r *http.Request, public bool) error {
	if r.Header.Get("Origin") != "" {
		return nil // judged by that
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return nil
	default:
		if public && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
			return nil
		}
		return forbidden("Cross-site requests are not allowed (Sec-Fetch-Site: %s)", phrase.Shorten(site, 40))
	}
}

// checkContentType rejects bodies that are not JSON, since a form can send those to any site.
func checkContentType(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	kind := r.Header.Get("Content-Type")
	if kind == "" && r.ContentLength == 0 {
		return nil
	}
	if base, _, err := mime.ParseMediaType(kind); err == nil && (base == "application/json" || strings.HasSuffix(base, "+json")) {
		return nil
	}
	return badStatus(http.StatusUnsupportedMediaType, "Headers", "the body must be JSON with Content-Type: application/json", nil)
}
