package server

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/lathe-agent/lathe/workspace"
)

type (
	v2Provider struct {
		ID          string    `json:"id"`
		Integration string    `json:"integrationID"`
		Name        string    `json:"name"`
		API         v2Access  `json:"api"`
		Request     v2Request `json:"request"`
	}
	// v2Access is how a provider or a model is reached: the package names the protocol.
	v2Access struct {
		ID       string                     `json:"id,omitempty" doc:"of the model at its provider"`
		Type     string                     `json:"type" enum:"aisdk"`
		Package  string                     `json:"package"`
		URL      string                     `json:"url,omitempty"`
		Settings map[string]json.RawMessage `json:"settings,omitempty"`
	}
	v2Model struct {
		ID           string         `json:"id"`
		Provider     string         `json:"providerID"`
		Family       string         `json:"family,omitempty"`
		Name         string         `json:"name"`
		API          v2Access       `json:"api"`
		Capabilities v2Capabilities `json:"capabilities"`
		Request      v2Request      `json:"request"`
		Variants     []v2Variant    `json:"variants"`
		Time         v2Time         `json:"time"`
		Cost         []v2Cost       `json:"cost" doc:"in dollars for a million tokens; the first has no tier"`
		Status       string         `json:"status" enum:"alpha,beta,deprecated,active"`
		Enabled      bool           `json:"enabled"`
		Limit        v2Limit        `json:"limit"`
	}
	v2Capabilities struct {
		Tools  bool     `json:"tools"`
		Input  []string `json:"input"`
		Output []string `json:"output"`
	}
	v2Variant struct {
		ID      string                     `json:"id"`
		Headers map[string]string          `json:"headers"`
		Body    map[string]json.RawMessage `json:"body"`
	}
	v2Time struct {
		Released int64 `json:"released" doc:"in milliseconds; 0 is not known"`
	}
	v2Cost struct {
		Tier   *v2Tier `json:"tier,omitempty"`
		Input  float64 `json:"input"`
		Output float64 `json:"output"`
		Cache  v1Cache `json:"cache"`
	}
	v2Tier struct {
		Type string `json:"type" enum:"context"`
		Size int64  `json:"size"`
	}
	v2Limit struct {
		Context int64 `json:"context"`
		Input   int64 `json:"input,omitempty"`
		Output  int64 `json:"output"`
	}
)

func (v2Provider) schemaName() string { return "ProviderV2Info" }
func (v2Model) schemaName() string    { return "ModelV2Info" }
func (v2Cost) schemaName() string     { return "ModelCost" }
func (v2Access) schemaName() string   { return "ModelApi" }

// The part of a v1 model that v2 has as well.
type (
	v1Model struct {
		ID, ProviderID, Name, Family string
		API                          struct{ ID, URL, NPM string }
		Capabilities                 struct {
			ToolCall      bool
			Input, Output v1Media
		}
		Cost struct {
			v1Rates
			Tiers []struct {
				v1Rates
				Tier struct{ Size float64 }
			}
			Over200K *v1Rates `json:"experimentalOver200K"`
		}
		Limit       struct{ Context, Input, Output float64 }
		Status      string
		Options     map[string]json.RawMessage
		Headers     map[string]string
		ReleaseDate string `json:"release_date"`
		Variants    map[string]map[string]json.RawMessage
	}
	v1Media struct{ Text, Audio, Image, Video, PDF bool }
	v1Rates struct {
		Input  float64 `json:"input"`
		Output float64 `json:"output"`
		Cache  v1Cache `json:"cache"`
	}
	v1Cache struct {
		Read  float64 `json:"read"`
		Write float64 `json:"write"`
	}
)

func (a v2API) listProviders(c *call, at workspace.Place) ([]v2Provider, error) {
	all, err := a.providers.Providers(c.Context(), at, false)
	out := make([]v2Provider, len(all))
	for i, p := range all {
		settings, address := withoutKeys(p.Options), p.Address
		if own := settings["baseURL"]; json.Unmarshal(own, &address) == nil { // the user's config takes precedence
			delete(settings, "baseURL")
		}
		out[i] = v2Provider{
			ID: p.ID, Integration: p.ID, Name: p.Name,
			API:     v2Access{Type: "aisdk", Package: p.Package, URL: stripCredentials(address), Settings: settings},
			Request: v2Request{Headers: map[string]string{}, Body: map[string]json.RawMessage{}},
		}
	}
	return out, err
}

// v2Models are those of all providers that can be used, the newest first; those of one day by
// provider and id.
func (a v2API) listModels(c *call, at workspace.Place) ([]v2Model, error) {
	all, err := a.providers.Providers(c.Context(), at, false)
	if err != nil {
		return nil, err
	}
	var out []v2Model
	for _, p := range all {
		for _, raw := range p.Models {
			m, err := v2ModelOf(raw)
			if err != nil {
				return nil, err
			}
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b v2Model) int {
		return cmp.Or(cmp.Compare(b.Time.Released, a.Time.Released), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

func v2ModelOf(raw json.RawMessage) (v2Model, error) {
	var m v1Model
	if err := json.Unmarshal(raw, &m); err != nil {
		return v2Model{}, err
	}
	out := v2Model{
		ID: m.ID, Provider: m.ProviderID, Family: m.Family, Name: m.Name,
		API:          v2Access{ID: m.API.ID, Type: "aisdk", Package: m.API.NPM, URL: stripCredentials(m.API.URL)},
		Capabilities: v2Capabilities{Tools: m.Capabilities.ToolCall, Input: m.Capabilities.Input.names(), Output: m.Capabilities.Output.names()},
		Request:      v2Request{Headers: map[string]string{}, Body: withoutKeys(m.Options)},
		Variants:     []v2Variant{}, Time: v2Time{releaseTime(m.ReleaseDate)},
		Status: cmp.Or(m.Status, "active"), Enabled: true,
		Limit: v2Limit{Context: int64(m.Limit.Context), Input: int64(m.Limit.Input), Output: int64(m.Limit.Output)},
	}
	maps.Copy(out.Request.Headers, m.Headers)
	for _, name := range slices.Sorted(maps.Keys(m.Variants)) {
		out.Variants = append(out.Variants, v2Variant{ID: name, Headers: map[string]string{}, Body: withoutKeys(m.Variants[name])})
	}
	out.Cost = []v2Cost{m.Cost.from(nil)}
	for _, t := range m.Cost.Tiers {
		out.Cost = append(out.Cost, t.from(&v2Tier{"context", int64(t.Tier.Size)}))
	}
	if m.Cost.Over200K != nil && len(m.Cost.Tiers) == 0 {
		out.Cost = append(out.Cost, m.Cost.Over200K.from(&v2Tier{"context", 200_000}))
	}
	return out, nil
}

// from are the prices of requests from a tier on.
func (r v1Rates) from(tier *v2Tier) v2Cost {
	return v2Cost{Tier: tier, Input: r.Input, Output: r.Output, Cache: r.Cache}
}

func (m v1Media) names() []string {
	out := []string{}
	for _, one := range []struct {
		name string
		is   bool
	}{{"text", m.Text}, {"audio", m.Audio}, {"image", m.Image}, {"video", m.Video}, {"pdf", m.PDF}} {
		if one.is {
			out = append(out, one.name)
		}
	}
	return out
}

// releaseTime is when a model came out, in milliseconds; 0 if the catalog does not know.
func releaseTime(date string) int64 {
	for _, form := range []string{time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(form, date); err == nil {
			return t.UnixMilli()
		}
	}
	return 0
}

// stripCredentials is an address without a name, a password and a query, where keys may be; "" if it
// is none.
func stripCredentials(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// Integration is a provider with its login methods and connections. It contains no secrets.
type Integration struct {
	ID          string              `json:"id"`
	Name        string              `json:"name"`
	Methods     []IntegrationMethod `json:"methods"`
	Connections []Connection        `json:"connections"`
}

// IntegrationMethod is a way to log in: a page (oauth, with ID and Label), a key, or variables
// of the environment (env, with Names).
type IntegrationMethod struct {
	Type  string   `json:"type" enum:"oauth,key,env"`
	ID    string   `json:"id,omitempty"`
	Label string   `json:"label,omitempty"`
	Names []string `json:"names,omitempty"`
}

// Connection is an existing credential: from the credential file (credential, with ID and Label) or a
// variable (env, with Name).
type Connection struct {
	Type  string `json:"type" enum:"credential,env"`
	ID    string `json:"id,omitempty"`
	Label string `json:"label,omitempty"`
	Name  string `json:"name,omitempty"`
}

func (Integration) schemaName() string       { return "IntegrationInfo" }
func (IntegrationMethod) schemaName() string { return "IntegrationMethod" }
func (Connection) schemaName() string        { return "ConnectionInfo" }

func (a v2API) integrations(c *call, at workspace.Place) ([]Integration, error) {
	return a.providers.Integrations(c.Context(), at)
}
