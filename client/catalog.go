package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// Agents lists the agents of a directory, the default one first; "" means the directory of the options.
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

// wireModel is a model as servers write it.
type wireModel struct {
	ID           string `json:"id"`
	Provider     string `json:"providerID"`
	Name         string `json:"name"`
	Released     string `json:"release_date"`
	Status       string `json:"status"`
	Capabilities struct {
		Reasoning bool `json:"reasoning"`
		Input     struct {
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
			Read float64 `json:"read"`
		} `json:"cache"`
	} `json:"cost"`
	Variants map[string]json.RawMessage `json:"variants"`
}

func (w wireModel) model() lathe.Model {
	m := lathe.Model{
		Ref: lathe.ModelRef{Provider: w.Provider, Model: w.ID}, Name: w.Name, Released: w.Released, Status: w.Status,
		Reasoning: w.Capabilities.Reasoning, Images: w.Capabilities.Input.Image, Context: int(w.Limit.Context), Output: int(w.Limit.Output),
		InputPrice: w.Cost.Input, OutputPrice: w.Cost.Output, CacheReadPrice: w.Cost.Cache.Read,
	}
	if m.Status == "active" { // as nearly all are
		m.Status = ""
	}
	for name := range w.Variants {
		m.Variants = append(m.Variants, name)
	}
	lathe.SortVariants(m.Variants)
	return m
}

// Providers returns the providers of a directory and the model that the config names.
func (c *Client) Providers(ctx context.Context, dir string) (lathe.Providers, error) {
	var usable struct {
		Providers []struct {
			lathe.Provider
			Models map[string]wireModel `json:"models"`
		} `json:"providers"`
		Default map[string]string `json:"default"`
	}
	var known struct {
		All []lathe.Provider `json:"all"`
	}
	var config struct {
		Model string `json:"model"`
	}
	for _, ask := range []request{{path: "/config/providers", to: &usable}, {path: "/provider", to: &known}, {path: "/config", to: &config}} {
		ask.method, ask.directory = "GET", dir
		if err := c.call(ctx, ask); err != nil {
			return lathe.Providers{}, err
		}
	}
	out := lathe.Providers{All: known.All, Default: usable.Default}
	for _, p := range usable.Providers {
		one := p.Provider
		for _, m := range p.Models {
			m.Provider = one.ID
			one.Models = append(one.Models, m.model())
		}
		lathe.SortModels(one.Models)
		out.Connected = append(out.Connected, one)
	}
	if provider, model, ok := strings.Cut(config.Model, "/"); ok {
		out.Model = &lathe.ModelRef{Provider: provider, Model: model}
	}
	return out, nil
}

// LoginMethods returns the login methods by provider. A provider without an entry takes an API key.
func (c *Client) LoginMethods(ctx context.Context, dir string) (all map[string][]lathe.LoginMethod, err error) {
	return all, c.call(ctx, request{method: "GET", path: "/provider/auth", directory: dir, to: &all})
}

// Authorize starts a login with the given method, which must not be an API key.
func (c *Client) Authorize(ctx context.Context, dir, provider string, method int) (lathe.Authorization, error) {
	body := struct {
		Method int `json:"method"`
	}{method}
	var a *lathe.Authorization
	err := c.call(ctx, request{method: "POST", path: "/provider/" + url.PathEscape(provider) + "/oauth/authorize", directory: dir, body: body, to: &a})
	switch {
	case err != nil:
		return lathe.Authorization{}, err
	case a == nil:
		return lathe.Authorization{}, lathe.Errorf(lathe.Invalid, "this login method takes an API key; save it with `lathe auth login`")
	}
	return *a, nil
}

// CompleteLogin waits, without a time limit, until a login ends. The code is the one that the page showed, if any.
func (c *Client) CompleteLogin(ctx context.Context, dir, provider string, method int, code string) error {
	body := struct {
		Method int    `json:"method"`
		Code   string `json:"code,omitempty"`
	}{method, code}
	return c.call(ctx, request{method: "POST", path: "/provider/" + url.PathEscape(provider) + "/oauth/callback", directory: dir, body: body, endless: true})
}

// SetKey saves the API key of a provider.
func (c *Client) SetKey(ctx context.Context, provider, key string) error {
	body := struct {
		Type string `json:"type"`
		Key  string `json:"key"`
	}{"api", key}
	return c.call(ctx, request{method: "PUT", path: "/auth/" + url.PathEscape(provider), body: body})
}

// RemoveKey deletes the saved credential of a provider.
func (c *Client) RemoveKey(ctx context.Context, provider string) error {
	return c.call(ctx, request{method: "DELETE", path: "/auth/" + url.PathEscape(provider)})
}

// ToolServers returns the MCP servers of a directory, by name.
func (c *Client) ToolServers(ctx context.Context, dir string) ([]lathe.ToolServer, error) {
	var all map[string]lathe.ToolServer
	err := c.call(ctx, request{method: "GET", path: "/mcp", directory: dir, to: &all})
	out := make([]lathe.ToolServer, 0, len(all))
	for name, s := range all {
		s.Name = name
		out = append(out, s)
	}
	lathe.SortToolServers(out)
	return out, err
}

// LanguageServers lists the language servers of a directory that were started.
func (c *Client) LanguageServers(ctx context.Context, dir string) (out []api.LanguageServer, err error) {
	err = c.call(ctx, request{method: "GET", path: "/lathe/lsp", directory: dir, to: &out})
	return out, err
}

// FindSymbols finds symbols by name with the language servers that run.
func (c *Client) FindSymbols(ctx context.Context, dir, query string) (out []api.Symbol, err error) {
	err = c.call(ctx, request{method: "GET", path: "/find/symbol", query: url.Values{"query": {query}}, directory: dir, to: &out})
	return out, err
}

// ConnectTools connects to an MCP server, without a time limit, or disables it until it is connected again.
func (c *Client) ConnectTools(ctx context.Context, dir, name string, on bool) error {
	what := "/connect"
	if !on {
		what = "/disconnect"
	}
	return c.call(ctx, request{method: "POST", path: "/mcp/" + url.PathEscape(name) + what, directory: dir, endless: on})
}
