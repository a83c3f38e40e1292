package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Agents lists those of a directory, the default one first; "" is the directory of the options.
func (c *Client) Agents(ctx context.Context, dir string) (all []lathe.Agent, err error) {
	return all, c.call(ctx, request{method: "GET", path: "/agent", directory: dir, to: &all})
}

// Commands lists the slash commands of a directory.
func (c *Client) Commands(ctx context.Context, dir string) (all []lathe.Command, err error) {
	return all, c.call(ctx, request{method: "GET", path: "/command", directory: dir, to: &all})
}

// Skills lists the skills of a directory.
func (c *Client) Skills(ctx context.Context, dir string) (all []lathe.Skill, err error) {
	return all, c.call(ctx, request{method: "GET", path: "/skill", directory: dir, to: &all})
}

// Provider is one who serves models.
type Provider struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Source string   `json:"source"` // env, config, custom or api
	Env    []string `json:"env"`    // variables that hold its key
	Models []Model  `json:"-"`      // newest first; nil where they were not asked for
}

// Model is one that a provider serves.
type Model struct {
	ID         string
	Provider   string
	Name       string
	Family     string
	Released   string // a date
	Status     string // active, alpha, beta, deprecated
	Reasoning  bool
	Attachment bool
	Images     bool // reads pictures
	Tools      bool
	Context    int     // in tokens
	Output     int     // in tokens
	In, Out    float64 // dollars for a million tokens
	CacheRead  float64
	CacheWrite float64
	Variants   []string // levels of reasoning, by name
}

// wireModel is a model as servers write it.
type wireModel struct {
	ID           string `json:"id"`
	Provider     string `json:"providerID"`
	Name         string `json:"name"`
	Family       string `json:"family"`
	Released     string `json:"release_date"`
	Status       string `json:"status"`
	Capabilities struct {
		Reasoning  bool `json:"reasoning"`
		Attachment bool `json:"attachment"`
		Tools      bool `json:"toolcall"`
		Input      struct {
			Image bool `json:"image"`
		} `json:"input"`
	} `json:"capabilities"`
	Limit struct {
		Context float64 `json:"context"`
		Output  float64 `json:"output"`
	} `json:"limit"`
	Cost struct {
		Input  float64 `json:"input"`
		Output float64 `json:"output"`
		Cache  struct {
			Read  float64 `json:"read"`
			Write float64 `json:"write"`
		} `json:"cache"`
	} `json:"cost"`
	Variants map[string]json.RawMessage `json:"variants"`
}

func (w wireModel) model() Model {
	m := Model{
		ID: w.ID, Provider: w.Provider, Name: w.Name, Family: w.Family, Released: w.Released, Status: w.Status,
		Reasoning: w.Capabilities.Reasoning, Attachment: w.Capabilities.Attachment, Images: w.Capabilities.Input.Image, Tools: w.Capabilities.Tools,
		Context: int(w.Limit.Context), Output: int(w.Limit.Output),
		In: w.Cost.Input, Out: w.Cost.Output, CacheRead: w.Cost.Cache.Read, CacheWrite: w.Cost.Cache.Write,
	}
	for name := range w.Variants {
		m.Variants = append(m.Variants, name)
	}
	slices.SortFunc(m.Variants, byEffort)
	return m
}

// byEffort orders levels of reasoning from little to much, and those with other names behind them.
func byEffort(a, b string) int {
	known := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	at := func(name string) int {
		if i := slices.Index(known, name); i >= 0 {
			return i
		}
		return len(known)
	}
	return cmp.Or(at(a)-at(b), cmp.Compare(a, b))
}

// Providers lists those that can be used in a directory, with their models, and the best model of each.
func (c *Client) Providers(ctx context.Context, dir string) ([]Provider, map[string]string, error) {
	var reply struct {
		Providers []struct {
			Provider
			Models map[string]wireModel `json:"models"`
		} `json:"providers"`
		Default map[string]string `json:"default"`
	}
	if err := c.call(ctx, request{method: "GET", path: "/config/providers", directory: dir, to: &reply}); err != nil {
		return nil, nil, err
	}
	out := make([]Provider, 0, len(reply.Providers))
	for _, p := range reply.Providers {
		one := p.Provider
		one.Models = make([]Model, 0, len(p.Models))
		for _, m := range p.Models {
			one.Models = append(one.Models, m.model())
		}
		slices.SortFunc(one.Models, func(a, b Model) int {
			return cmp.Or(cmp.Compare(b.Released, a.Released), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		})
		out = append(out, one)
	}
	return out, reply.Default, nil
}

// KnownProviders lists all that are known, without their models, and the ids of those that can be used.
func (c *Client) KnownProviders(ctx context.Context, dir string) (all []Provider, usable []string, err error) {
	var reply struct {
		All       []Provider `json:"all"`
		Connected []string   `json:"connected"`
	}
	err = c.call(ctx, request{method: "GET", path: "/provider", directory: dir, to: &reply})
	return reply.All, reply.Connected, err
}

// DefaultModel is the one that the settings of a directory name, as provider/model; "" names none.
func (c *Client) DefaultModel(ctx context.Context, dir string) (string, error) {
	var reply struct {
		Model string `json:"model"`
	}
	err := c.call(ctx, request{method: "GET", path: "/config", directory: dir, to: &reply})
	return reply.Model, err
}

// LoginMethod is a way to log in.
type LoginMethod struct {
	Type  string `json:"type"` // oauth or api
	Label string `json:"label"`
}

// LoginMethods are the ways to log in, by provider. One that is not named takes a key.
func (c *Client) LoginMethods(ctx context.Context, dir string) (all map[string][]LoginMethod, err error) {
	return all, c.call(ctx, request{method: "GET", path: "/provider/auth", directory: dir, to: &all})
}

// Authorization is what a person must do to log in.
type Authorization struct {
	URL          string `json:"url"`
	Method       string `json:"method"` // auto: the end is noticed; code: what the page shows is to be typed
	Instructions string `json:"instructions"`
}

// Authorize begins a login of the given method; nil says that it is one with a key.
func (c *Client) Authorize(ctx context.Context, dir, provider string, method int) (a *Authorization, err error) {
	body := struct {
		Method int `json:"method"`
	}{method}
	return a, c.call(ctx, request{method: "POST", path: "/provider/" + url.PathEscape(provider) + "/oauth/authorize", directory: dir, body: body, to: &a})
}

// CompleteLogin waits for the end of a login that was begun, as long as the user takes, with the code
// that the page showed if it did.
func (c *Client) CompleteLogin(ctx context.Context, dir, provider string, method int, code string) error {
	body := struct {
		Method int    `json:"method"`
		Code   string `json:"code,omitempty"`
	}{method, code}
	return c.call(ctx, request{method: "POST", path: "/provider/" + url.PathEscape(provider) + "/oauth/callback", directory: dir, body: body, endless: true})
}

// SetKey keeps the key of a provider.
func (c *Client) SetKey(ctx context.Context, provider, key string) error {
	body := struct {
		Type string `json:"type"`
		Key  string `json:"key"`
	}{"api", key}
	return c.call(ctx, request{method: "PUT", path: "/auth/" + url.PathEscape(provider), body: body})
}

// RemoveKey forgets what is kept for a provider.
func (c *Client) RemoveKey(ctx context.Context, provider string) error {
	return c.call(ctx, request{method: "DELETE", path: "/auth/" + url.PathEscape(provider)})
}

// ToolServer is how an MCP server is doing.
type ToolServer struct {
	Status string `json:"status"` // connected, disabled, failed, needs_auth or needs_client_registration
	Error  string `json:"error"`
}

// ToolServers are the MCP servers of a directory, by name.
func (c *Client) ToolServers(ctx context.Context, dir string) (all map[string]ToolServer, err error) {
	return all, c.call(ctx, request{method: "GET", path: "/mcp", directory: dir, to: &all})
}

// ConnectTools connects to an MCP server, however long that takes; DisconnectTools switches it off.
func (c *Client) ConnectTools(ctx context.Context, dir, name string) error {
	return c.call(ctx, request{method: "POST", path: "/mcp/" + url.PathEscape(name) + "/connect", directory: dir, endless: true})
}

// DisconnectTools switches an MCP server off until it is connected again.
func (c *Client) DisconnectTools(ctx context.Context, dir, name string) error {
	return c.call(ctx, request{method: "POST", path: "/mcp/" + url.PathEscape(name) + "/disconnect", directory: dir})
}
