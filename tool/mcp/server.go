package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// DefaultTimeout is how long a server has to connect and to answer a call.
const DefaultTimeout = 30 * time.Second

// Server is one as the settings say: local with a Command, or remote with a URL.
type Server struct {
	Name        string
	Command     []string          // the program, looked up in PATH, and its arguments
	Dir         string            // where it runs, from the hub's directory; "" is that
	Environment map[string]string // added to that of the hub; its values are secrets
	URL         string
	Headers     map[string]string // sent to that host alone; their values are secrets
	OAuth       OAuth
	Disabled    bool
	// Timeout is for connecting and for each call, where progress restarts it; 0 is the hub's.
	Timeout time.Duration
}

// OAuth is how to log in to a remote server; the zero value finds out by itself.
type OAuth struct {
	ClientID, ClientSecret string // "" registers this program at the server
	Scope                  string
	CallbackPort           int    // of the address a login leads back to; 0 is 19876
	RedirectURI            string // that address, where it is another
	Off                    bool   // never log in
}

// State is how a server is doing.
type State string

// The states. All but Connecting are the wire's.
const (
	Connected State = "connected"
	Disabled  State = "disabled"
	Failed    State = "failed"
	NeedsAuth State = "needs_auth"
	// NeedsClient says that the server registers no clients: one must be in the settings.
	NeedsClient State = "needs_client_registration"
	// Connecting is also the time between two attempts.
	Connecting State = "connecting"
)

// Wire is the state in the words of the HTTP API, which has none for a server that is about to
// be connected: clients draw "disabled" as one that does not exist, without alarm.
func (s State) Wire() State {
	if s == Connecting {
		return Disabled
	}
	return s
}

// Status is how a server is doing, and why.
type Status struct {
	State State
	Error string // of Failed and NeedsClient, and of the last attempt while Connecting
	// Tools is how many of its tools are offered.
	Tools int
	// Notes tell people which of its offers were left out or repaired.
	Notes []string
}

// local reports whether it is a program on this machine.
func (s Server) local() bool { return len(s.Command) > 0 }

// near reports whether it can probably reach local files.
func (s Server) near() bool {
	if s.local() {
		return true
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// check refuses what could never be connected to.
func (s Server) check() error {
	bad := func(format string, args ...any) error {
		return lathe.Errorf(lathe.Invalid, "MCP server "+phrase.Shorten(s.Name, 100)+": "+format, args...)
	}
	switch {
	case s.Name == "":
		return lathe.Errorf(lathe.Invalid, "an MCP server needs a name")
	case s.local() && s.URL != "":
		return bad("it has a command and an address; take one away")
	case s.local() && s.Command[0] == "":
		return bad("its command is empty")
	case s.local():
		return nil
	case s.URL == "":
		return bad("it has neither a command nor an address")
	}
	u, err := url.Parse(s.URL)
	switch {
	case err != nil: // whose text would repeat the address and what secrets are in it
		return bad("its address cannot be read")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return bad("its address must begin with https:// or http://")
	}
	return nil
}

// key names the cache entry of the server: another definition is another server. The values of
// secrets are no part of it.
func (s Server) key() string {
	text, err := json.Marshal([]any{
		s.Name, s.Command, s.Dir, slices.Sorted(maps.Keys(s.Environment)), s.URL, slices.Sorted(maps.Keys(s.Headers)), s.OAuth.ClientID,
	})
	if err != nil {
		return "" // texts and lists of texts: it cannot happen
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// secrets are the texts that must never be shown.
func (s Server) secrets() []string {
	out := slices.Collect(maps.Values(s.Environment))
	out = slices.AppendSeq(out, maps.Values(s.Headers))
	out = append(out, s.OAuth.ClientSecret)
	if u, err := url.Parse(s.URL); err == nil {
		for _, vs := range u.Query() {
			out = append(out, vs...)
		}
		if p, ok := u.User.Password(); ok {
			out = append(out, p)
		}
	}
	return out
}
