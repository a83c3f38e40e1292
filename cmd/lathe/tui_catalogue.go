package main

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/tui/host"
)

// Agents lists those of the directory.
func (h *tuiHost) Agents(ctx context.Context) ([]lathe.Agent, error) {
	return h.client.Agents(ctx, h.dir)
}

// Commands lists the slash commands.
func (h *tuiHost) Commands(ctx context.Context) ([]lathe.Command, error) {
	return h.client.Commands(ctx, h.dir)
}

// Skills lists the skills.
func (h *tuiHost) Skills(ctx context.Context) ([]lathe.Skill, error) {
	return h.client.Skills(ctx, h.dir)
}

// Providers are who serves models.
func (h *tuiHost) Providers(ctx context.Context) (host.Providers, error) {
	usable, best, err := h.client.Providers(ctx, h.dir)
	if err != nil {
		return host.Providers{}, err
	}
	out := host.Providers{Default: best}
	for _, p := range usable {
		out.Connected = append(out.Connected, hostProvider(p))
	}
	all, _, err := h.client.KnownProviders(ctx, h.dir)
	if err != nil {
		return host.Providers{}, err
	}
	for _, p := range all {
		out.All = append(out.All, hostProvider(p))
	}
	name, err := h.client.DefaultModel(ctx, h.dir)
	if err != nil {
		return host.Providers{}, err
	}
	if provider, model, ok := strings.Cut(name, "/"); ok {
		out.Model = &lathe.ModelRef{Provider: provider, Model: model}
	}
	return out, nil
}

func hostProvider(p client.Provider) host.Provider {
	out := host.Provider{ID: p.ID, Name: p.Name, Env: p.Env}
	for _, m := range p.Models {
		one := host.Model{
			Ref: lathe.ModelRef{Provider: p.ID, Model: m.ID}, Name: m.Name, Released: m.Released, Status: m.Status,
			Reasoning: m.Reasoning, Images: m.Images, Context: m.Context, Output: m.Output,
			In: m.In, Out: m.Out, CacheRead: m.CacheRead, Variants: m.Variants,
		}
		if one.Status == "active" { // as nearly all are
			one.Status = ""
		}
		out.Models = append(out.Models, one)
	}
	return out
}

// Methods are the ways to log in.
func (h *tuiHost) Methods(ctx context.Context) (map[string][]host.LoginMethod, error) {
	all, err := h.client.LoginMethods(ctx, h.dir)
	out := make(map[string][]host.LoginMethod, len(all))
	for id, ways := range all {
		for _, w := range ways {
			out[id] = append(out[id], host.LoginMethod{Browser: w.Type == "oauth", Label: w.Label})
		}
	}
	return out, err
}

// SetKey keeps a key.
func (h *tuiHost) SetKey(ctx context.Context, provider, key string) error {
	return h.client.SetKey(ctx, provider, key)
}

// Authorize begins a login.
func (h *tuiHost) Authorize(ctx context.Context, provider string, method int) (host.Authorization, error) {
	a, err := h.client.Authorize(ctx, h.dir, provider, method)
	if err != nil {
		return host.Authorization{}, err
	}
	if a == nil {
		return host.Authorization{}, lathe.Errorf(lathe.Invalid, "this way to log in wants a key")
	}
	return host.Authorization{URL: a.URL, Instructions: a.Instructions, WantsCode: a.Method == "code"}, nil
}

// Complete waits for the end of a login.
func (h *tuiHost) Complete(ctx context.Context, provider string, method int, code string) error {
	return h.client.CompleteLogin(ctx, h.dir, provider, method, code)
}
