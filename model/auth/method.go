package auth

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Flow is how a login goes.
type Flow string

// The flows.
const (
	// Browser sends the user to a page that leads back to this machine, with a code that only
	// the process that started the login can use (RFC 7636, RFC 8252).
	Browser Flow = "browser"
	// Device shows a short code that the user types on any machine (RFC 8628).
	Device Flow = "device"
)

// Method is a way to log in to a provider without copying a key. All that differs between
// vendors stands here; what they publish about their logins, and nothing else, fills it in.
type Method struct {
	Provider string
	Label    string // for users to choose by
	Flow     Flow
	// Host replaces {host} in the addresses, for vendors with self-hosted servers.
	Host string

	Authorize string // the page of the browser flow
	Device    string // gives the codes of the device flow
	Token     string // gives tokens
	// Exchange gives a short-lived token for the one that Token gave. It is used for logins
	// that are stored in that form.
	Exchange string

	// ClientID is the public id of the program that asks (client_id). NeedsClientID says that there is no
	// login without one.
	ClientID      string
	NeedsClientID bool
	Scope         string

	// RedirectParam is the name of the parameter with the address to come back to, if it is not
	// redirect_uri. Vendors with their own name for it do not return the state either, so the
	// state is part of the address.
	RedirectParam string
	// GivesKey says that the login gives an API key, asked for in JSON.
	GivesKey bool
	// RefreshPrefix is how tokens begin that renew others; "" means all.
	RefreshPrefix string
}

// Methods lists the logins that vendors document for everyone.
func Methods() []Method {
	return []Method{
		{
			Provider: "github-copilot", Label: "Log in with GitHub", Flow: Device, Host: "github.com",
			Device: "https://{host}/login/device/code", Token: "https://{host}/login/oauth/access_token",
			Exchange:      "https://api.{host}/copilot_internal/v2/token",
			NeedsClientID: true, Scope: "read:user", RefreshPrefix: "ghr_",
		},
		{
			Provider: "openrouter", Label: "Log in with OpenRouter", Flow: Browser,
			Authorize: "https://openrouter.ai/auth", Token: "https://openrouter.ai/api/v1/auth/keys",
			RedirectParam: "callback_url", GivesKey: true,
		},
	}
}

// MethodOf returns the login method of a provider, and whether it has one.
func MethodOf(all []Method, provider string) (Method, bool) {
	if i := slices.IndexFunc(all, func(m Method) bool { return m.Provider == provider }); i >= 0 {
		return all[i], true
	}
	return Method{}, false
}

// ForHost returns the method at a self-hosted server; an empty address changes nothing.
func (m Method) ForHost(server string) (Method, error) {
	host := m.Host
	if server != "" {
		if m.Host == "" {
			return m, lathe.Errorf(lathe.Invalid, "%s has no enterprise servers", m.Provider)
		}
		if !strings.Contains(server, "://") {
			server = "https://" + server
		}
		u, err := url.Parse(server)
		if err != nil || u.Host == "" || !isSafe(u) {
			return m, lathe.Errorf(lathe.Invalid, "%q is not a login URL: write it like https://company.ghe.com", server)
		}
		if host = u.Host; u.Scheme == "http" {
			m = m.plain()
		}
	}
	for _, address := range m.addresses() {
		*address = strings.ReplaceAll(*address, "{host}", host)
	}
	return m, nil
}

func (m *Method) addresses() []*string {
	return []*string{&m.Authorize, &m.Device, &m.Token, &m.Exchange}
}

// plain is the method without encryption, for a server on this machine; there are no names
// below its address.
func (m Method) plain() Method {
	for _, address := range m.addresses() {
		*address = strings.Replace(strings.Replace(*address, "https://", "http://", 1), "//api.{host}", "//{host}", 1)
	}
	return m
}

// isSafe reports whether secrets may be sent to an address.
func isSafe(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}
