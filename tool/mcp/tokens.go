package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filelock"
)

// Tokens are the logins to remote servers, in a file that all processes of a user share. What of
// it is not known here stays as it is.
type Tokens struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	kept map[string]renewed
}

// renewed is a grant that may not be written down yet, though what it came from is worth nothing.
type renewed struct {
	from string // the refresh token that gave it
	grant
}

// OpenTokens returns the file at path; nothing is read yet, and it need not exist.
func OpenTokens(path string) *Tokens {
	return &Tokens{path: path, now: time.Now, kept: map[string]renewed{}}
}

// entry is the file's entry for one server.
type entry struct {
	Tokens    *grant  `json:"tokens,omitempty"`
	Client    *client `json:"clientInfo,omitempty"`
	Verifier  string  `json:"codeVerifier,omitempty"`
	State     string  `json:"oauthState,omitempty"`
	ServerURL string  `json:"serverUrl,omitempty"`
}

// grant is a token and what renews it. Times are in seconds since 1970.
type grant struct {
	Access  string  `json:"accessToken"`
	Refresh string  `json:"refreshToken,omitempty"`
	Expires float64 `json:"expiresAt,omitempty"`
	Scope   string  `json:"scope,omitempty"`
}

// client is this program's registration at a server.
type client struct {
	ID            string  `json:"clientId"`
	Secret        string  `json:"clientSecret,omitempty"`
	IssuedAt      float64 `json:"clientIdIssuedAt,omitempty"`
	SecretExpires float64 `json:"clientSecretExpiresAt,omitempty"`
}

// spare is how long before its end a token is renewed.
const spare = 30 * time.Second

// good reports whether a token can be used; stale is one that the server has refused.
func (g *grant) good(now time.Time, stale string) bool {
	return g != nil && g.Access != "" && g.Access != stale && (g.Expires == 0 || float64(now.Add(spare).Unix()) < g.Expires)
}

// Login is how far the login to a server has come.
type Login string

// The logins.
const (
	LoggedIn  Login = "authenticated"
	LoggedOut Login = "not authenticated"
	// Expired says that the token has ended and nothing can renew it.
	Expired Login = "expired"
)

// Login returns the state of the login to the server of that name at that address.
func (t *Tokens) Login(name, url string) (Login, error) {
	e, err := t.entry(name, url)
	switch {
	case err != nil:
		return LoggedOut, err
	case e.Tokens == nil:
		return LoggedOut, nil
	case e.Tokens.good(t.now(), "") || e.Tokens.Refresh != "":
		return LoggedIn, nil
	}
	return Expired, nil
}

// Has reports whether anything is stored for a server, at any address.
func (t *Tokens) Has(name string) (bool, error) {
	all, err := t.load()
	_, kept := all[name]
	return kept, err
}

// Remove forgets all of a server; there need not be anything.
func (t *Tokens) Remove(ctx context.Context, name string) error {
	t.mu.Lock()
	delete(t.kept, name)
	t.mu.Unlock()
	return t.change(ctx, func(all map[string]json.RawMessage) error {
		delete(all, name)
		return nil
	})
}

// entry is what is known of a server; empty where the file tells of another address.
func (t *Tokens) entry(name, url string) (entry, error) {
	all, err := t.load()
	if err != nil {
		return entry{}, err
	}
	e := readEntry(all[name], url)
	t.mu.Lock()
	defer t.mu.Unlock()
	if k, ok := t.kept[name]; ok && e.Tokens != nil && e.Tokens.Refresh == k.from {
		e.Tokens = &k.grant
	}
	return e, nil
}

func readEntry(raw json.RawMessage, url string) entry {
	var e entry
	if json.Unmarshal(raw, &e) != nil || e.ServerURL != url {
		return entry{}
	}
	return e
}

// edit changes the entry of a server. What the file says of another address is forgotten.
func (t *Tokens) edit(ctx context.Context, name, url string, change func(*entry)) error {
	return t.change(ctx, func(all map[string]json.RawMessage) error {
		e := readEntry(all[name], url)
		old := all[name]
		if e.ServerURL == "" {
			old = nil
		}
		e.ServerURL = url
		change(&e)
		raw, err := merge(old, e)
		all[name] = raw
		return err
	})
}

// merge writes an entry over an old one and keeps members that are not known here, at both levels.
func merge(old json.RawMessage, e entry) (json.RawMessage, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	var was, is map[string]json.RawMessage
	_ = json.Unmarshal(old, &was) // nothing was there
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, err
	}
	out := without(was, "tokens", "clientInfo", "codeVerifier", "oauthState", "serverUrl")
	maps.Copy(out, is)
	for name, known := range map[string][]string{
		"tokens":     {"accessToken", "refreshToken", "expiresAt", "scope"},
		"clientInfo": {"clientId", "clientSecret", "clientIdIssuedAt", "clientSecretExpiresAt"},
	} {
		var before, now map[string]json.RawMessage
		if json.Unmarshal(was[name], &before) != nil || json.Unmarshal(is[name], &now) != nil {
			continue
		}
		inner := without(before, known...)
		maps.Copy(inner, now)
		if out[name], err = json.Marshal(inner); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

func without(m map[string]json.RawMessage, names ...string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for k, v := range m {
		if !slices.Contains(names, k) {
			out[k] = v
		}
	}
	return out
}

// errRefused says that a server takes a refresh token no more.
var errRefused = errors.New("the login has ended")

// fresh is a token that can be used, renewed if need be; "" means that there is none. However
// many goroutines and processes ask at once, one renews and the others get what it got: a
// refresh token works once. stale is a token that the server has refused.
func (t *Tokens) fresh(ctx context.Context, name, url, stale string, renew func(context.Context, entry) (grant, error)) (string, error) {
	e, err := t.entry(name, url)
	if err != nil || e.Tokens == nil || e.Tokens.good(t.now(), stale) {
		return access(e), err
	}
	if e.Tokens.Refresh == "" {
		return "", nil
	}
	release, err := t.lock(ctx, name)
	if err != nil {
		return "", err
	}
	defer release()
	e, err = t.entry(name, url) // another may have renewed it meanwhile
	if err != nil || e.Tokens == nil || e.Tokens.good(t.now(), stale) {
		return access(e), err
	}
	used := e.Tokens.Refresh
	g, err := renew(ctx, e)
	if errors.Is(err, errRefused) {
		return "", t.edit(ctx, name, url, func(e *entry) {
			if e.Tokens != nil && e.Tokens.Refresh == used {
				e.Tokens = nil
			}
		})
	}
	if err != nil {
		return "", err
	}
	if g.Refresh == "" { // the old one stays valid
		g.Refresh = used
	}
	t.mu.Lock()
	t.kept[name] = renewed{used, g}
	t.mu.Unlock()
	err = t.edit(context.WithoutCancel(ctx), name, url, func(e *entry) { e.Tokens = &g })
	return g.Access, err
}

func access(e entry) string {
	if e.Tokens == nil {
		return ""
	}
	return e.Tokens.Access
}

// lock keeps all others from renewing the token of one server. It is not the lock of the file,
// so that a slow server does not block others.
func (t *Tokens) lock(ctx context.Context, name string) (func(), error) {
	sum := sha256.Sum256([]byte(name))
	return t.locked(ctx, t.path+"."+hex.EncodeToString(sum[:4])+".lock")
}

func (t *Tokens) locked(ctx context.Context, path string) (func(), error) {
	err := os.MkdirAll(filepath.Dir(t.path), 0o700)
	if err == nil {
		var release func()
		if release, err = filelock.Lock(ctx, path); err == nil {
			return release, nil
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, lathe.Errorf(lathe.Unavailable, "lock the logins to MCP servers: %w", err)
}

// change edits the file under an exclusive lock.
func (t *Tokens) change(ctx context.Context, edit func(map[string]json.RawMessage) error) error {
	release, err := t.locked(ctx, t.path+".lock")
	if err != nil {
		return err
	}
	defer release()
	all, err := t.load()
	if err != nil {
		return err
	}
	if err := edit(all); err != nil {
		return lathe.Errorf(lathe.Internal, "write the logins to MCP servers: %w", err)
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return lathe.Errorf(lathe.Internal, "write the logins to MCP servers: %w", err)
	}
	path := t.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays one
	}
	if err := atomicfile.Write(path, append(text, '\n')); err != nil {
		return lathe.Errorf(lathe.Unavailable, "write the logins to MCP servers: %w", err)
	}
	return nil
}

// mostTokens is the largest file that is read, in bytes.
const mostTokens = 16 << 20

// load reads all entries. What the file holds is in no error.
func (t *Tokens) load() (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, lathe.Errorf(lathe.Unavailable, "read the logins to MCP servers: %w", err)
	case !info.Mode().IsRegular(): // a pipe would never end
		return nil, lathe.Errorf(lathe.Invalid, "%s is not a file with logins; move it away", t.path)
	}
	f, err := os.Open(t.path)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "read the logins to MCP servers: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, mostTokens+1))
	switch {
	case err != nil:
		return nil, lathe.Errorf(lathe.Unavailable, "read the logins to MCP servers: %w", err)
	case len(data) == 0:
		return all, nil
	case len(data) > mostTokens || json.Unmarshal(data, &all) != nil || all == nil:
		return nil, lathe.Errorf(lathe.Invalid, "%s: not a JSON object of logins; correct it, or move it away and log in again", t.path)
	}
	return all, nil
}
