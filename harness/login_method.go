package harness

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/model/auth"
)

// LoginMethods returns the logins that the program knows, after those of the user's own providers
// (provider.ID.options.oauth), which may replace them.
func (a *Host) LoginMethods(c config.Config) (out []auth.Method) {
	for _, id := range slices.Sorted(maps.Keys(c.Providers)) {
		if m, ok := methodOf(id, c.Providers[id].Options["oauth"]); ok {
			out = append(out, m)
		}
	}
	return append(out, a.Logins...)
}

// methodOf reads a login from the config. One that lacks an address is none; auth.Client refuses those that
// are not safe.
func methodOf(id string, raw json.RawMessage) (auth.Method, bool) {
	var o struct {
		Authorize string `json:"authorizeUrl"`
		Device    string `json:"deviceUrl"`
		Token     string `json:"tokenUrl"`
		ClientID  string `json:"clientId"`
		Scope     string `json:"scope"`
		Label     string `json:"label"`
	}
	if json.Unmarshal(raw, &o) != nil || o.Token == "" || o.Authorize == "" && o.Device == "" {
		return auth.Method{}, false
	}
	m := auth.Method{
		Provider: id, Label: o.Label, Flow: auth.Browser, Authorize: o.Authorize, Device: o.Device, Token: o.Token,
		ClientID: o.ClientID, NeedsClientID: true, Scope: o.Scope,
	}
	if o.Authorize == "" {
		m.Flow = auth.Device
	}
	if m.Label == "" {
		m.Label = "Log in with " + id
	}
	return m, true
}
