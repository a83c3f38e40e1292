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
	modernProvider struct {
		ID          string        `json:"id"`
		Integration string        `json:"integrationID"`
		Name        string        `json:"name"`
		API         modernAPI     `json:"api"`
		Request     modernRequest `json:"request"`
	}
	// modernAPI is how a provider or a model is reached: the package names the protocol.
	modernAPI struct {
		ID       string                     `json:"id,omitempty" doc:"of the model at its provider"`
		Type     string                     `json:"type" enum:"aisdk"`
		Package  string                     `json:"package"`
		URL      string                     `json:"url,omitempty"`
		Settings map[string]json.RawMessage `json:"settings,omitempty"`
	}
	modernModel struct {
		ID           string             `json:"id"`
		Provider     string             `json:"providerID"`
		Family       string             `json:"family,omitempty"`
		Name         string             `json:"name"`
		API          modernAPI          `json:"api"`
		Capabilities modernCapabilities `json:"capabilities"`
		Request      modernRequest      `json:"request"`
		Variants     []modernVariant    `json:"variants"`
		Time         modernTime         `json:"time"`
		Cost         []modernCost       `json:"cost" doc:"in dollars for a million tokens; the first has no tier"`
		Status       string             `json:"status" enum:"alpha,beta,deprecated,active"`
		Enabled      bool               `json:"enabled"`
		Limit        modernLimit        `json:"limit"`
	}
	modernCapabilities struct {
		Tools  bool     `json:"tools"`
		Input  []string `json:"input"`
		Output []string `json:"output"`
	}
	modernVariant struct {
		ID      string                     `json:"id"`
		Headers map[string]string          `json:"headers"`
		Body    map[string]json.RawMessage `json:"body"`
	}
	modernTime struct {
		Released int64 `json:"released" doc:"in milliseconds; 0 is not known"`
	}
	modernCost struct {
		Tier   *modernTier  `json:"tier,omitempty"`
		Input  float64      `json:"input"`
		Output float64      `json:"output"`
		Cache  classicCache `json:"cache"`
	}
	modernTier struct {
		Type string `json:"type" enum:"context"`
		Size int64  `json:"size"`
	}
	modernLimit struct {
		Context int64 `json:"context"`
		Input   int64 `json:"input,omitempty"`
		Output  int64 `json:"output"`
	}
)

func (modernProvider) schemaName() string { return "ProviderV2Info" }
func (modernModel) schemaName() string    { return "ModelV2Info" }
func (modernCost) schemaName() string     { return "ModelCost" }
func (modernAPI) schemaName() string      { return "ModelApi" }

// The part of a model of the classic API that the next one tells as well.
type (
	classicModel struct {
		ID, ProviderID, Name, Family string
		API                          struct{ ID, URL, NPM string }
		Capabilities                 struct {
			ToolCall      bool
			Input, Output classicMedia
		}
		Cost struct {
			classicRates
			Tiers []struct {
				classicRates
				Tier struct{ Size float64 }
			}
			Over200K *classicRates `json:"experimentalOver200K"`
		}
		Limit       struct{ Context, Input, Output float64 }
		Status      string
		Options     map[string]json.RawMessage
		Headers     map[string]string
		ReleaseDate string `json:"release_date"`
		Variants    map[string]map[string]json.RawMessage
	}
	classicMedia struct{ Text, Audio, Image, Video, PDF bool }
	classicRates struct {
		Input  float64      `json:"input"`
		Output float64      `json:"output"`
		Cache  classicCache `json:"cache"`
	}
	classicCache struct {
		Read  float64 `json:"read"`
		Write float64 `json:"write"`
	}
)

func (s *Server) modernProviders(c *call, at workspace.Place) ([]modernProvider, error) {
	all, err := s.Providers.Providers(c.Context(), at, false)
	out := make([]modernProvider, len(all))
	for i, p := range all {
		settings, address := withoutKeys(p.Options), p.Address
		if own := settings["baseURL"]; json.Unmarshal(own, &address) == nil { // what the user says counts more
			delete(settings, "baseURL")
		}
		out[i] = modernProvider{
			ID: p.ID, Integration: p.ID, Name: p.Name,
			API:     modernAPI{Type: "aisdk", Package: p.Package, URL: withoutLogin(address), Settings: settings},
			Request: modernRequest{Headers: map[string]string{}, Body: map[string]json.RawMessage{}},
		}
	}
	return out, err
}

// modernModels are those of all providers that can be used, the newest first; those of one day by
// provider and id.
func (s *Server) modernModels(c *call, at workspace.Place) ([]modernModel, error) {
	all, err := s.Providers.Providers(c.Context(), at, false)
	if err != nil {
		return nil, err
	}
	var out []modernModel
	for _, p := range all {
		for _, raw := range p.Models {
			m, err := modernModelOf(raw)
			if err != nil {
				return nil, err
			}
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b modernModel) int {
		return cmp.Or(cmp.Compare(b.Time.Released, a.Time.Released), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

func modernModelOf(raw json.RawMessage) (modernModel, error) {
	var m classicModel
	if err := json.Unmarshal(raw, &m); err != nil {
		return modernModel{}, err
	}
	out := modernModel{
		ID: m.ID, Provider: m.ProviderID, Family: m.Family, Name: m.Name,
		API:          modernAPI{ID: m.API.ID, Type: "aisdk", Package: m.API.NPM, URL: withoutLogin(m.API.URL)},
		Capabilities: modernCapabilities{Tools: m.Capabilities.ToolCall, Input: m.Capabilities.Input.names(), Output: m.Capabilities.Output.names()},
		Request:      modernRequest{Headers: map[string]string{}, Body: withoutKeys(m.Options)},
		Variants:     []modernVariant{}, Time: modernTime{released(m.ReleaseDate)},
		Status: cmp.Or(m.Status, "active"), Enabled: true,
		Limit: modernLimit{Context: int64(m.Limit.Context), Input: int64(m.Limit.Input), Output: int64(m.Limit.Output)},
	}
	maps.Copy(out.Request.Headers, m.Headers)
	for _, name := range slices.Sorted(maps.Keys(m.Variants)) {
		out.Variants = append(out.Variants, modernVariant{ID: name, Headers: map[string]string{}, Body: withoutKeys(m.Variants[name])})
	}
	out.Cost = []modernCost{m.Cost.from(nil)}
	for _, t := range m.Cost.Tiers {
		out.Cost = append(out.Cost, t.from(&modernTier{"context", int64(t.Tier.Size)}))
	}
	if m.Cost.Over200K != nil && len(m.Cost.Tiers) == 0 {
		out.Cost = append(out.Cost, m.Cost.Over200K.from(&modernTier{"context", 200_000}))
	}
	return out, nil
}

// from are the prices of requests from a tier on.
func (r classicRates) from(tier *modernTier) modernCost {
	return modernCost{Tier: tier, Input: r.Input, Output: r.Output, Cache: r.Cache}
}

func (m classicMedia) names() []string {
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

// released is when a model came out, in milliseconds; 0 if the catalogue does not know.
func released(date string) int64 {
	for _, form := range []string{time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(form, date); err == nil {
			return t.UnixMilli()
		}
	}
	return 0
}

// withoutLogin is an address without a name, a password and a query, where keys may be; "" if it
// is none.
func withoutLogin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// Integration is what a user can log in to, the ways to, and what is there already. Nothing in it
// is secret.
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

// Connection is a credential that was found: one of the file (credential, with ID and Label), or a
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

func (s *Server) integrations(c *call, at workspace.Place) ([]Integration, error) {
	return s.Providers.Integrations(c.Context(), at)
}
