package harness

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/insight"
	"github.com/lathe-agent/lathe/model/provider"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/lsp"
)

// reports makes the reports about this harness and its engine.
func (b *backend) reports() *insight.Reports {
	out := &insight.Reports{
		Engine: b.Engine, Source: reportSource{b}, Now: func() time.Time { return b.app.Now() },
		UserDir: b.app.UserDir(), Home: b.app.Home(), DataDir: b.at.Data, Path: b.app.Env("PATH"),
	}
	if nodes := b.setup.nodes; nodes != nil {
		out.Server = nodes.driver.String()
	}
	return out
}

// reportSource is the harness as reports see it.
type reportSource struct{ *backend }

// Settings returns the settings of steps, with the tools of MCP servers.
func (s reportSource) Settings(ctx context.Context, at workspace.Place) (*engine.StepSettings, error) {
	return s.setup.Settings(ctx, at)
}

// Model returns a model of a directory.
func (s reportSource) Model(ctx context.Context, at workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	return s.setup.Model(ctx, at, ref)
}

// Kernel returns the abilities of the sandbox.
func (s reportSource) Kernel() sandbox.Kernel { return s.setup.Runner.Kernel() }

// ApplyUserConfig writes the user's config and tells clients. Directories read it again by themselves.
func (s reportSource) ApplyUserConfig(ctx context.Context, change json.RawMessage) error {
	if err := s.UpdateGlobalConfig(ctx, change); err != nil {
		return err
	}
	s.Publish(lathe.Event{Fact: &lathe.GlobalDisposed{}})
	return nil
}

// ToolServers lists the MCP servers of a directory by name. Unlike the HTTP API it tells that one is still connecting.
func (s reportSource) ToolServers(ctx context.Context, dir string) (out []lathe.ToolServer, err error) {
	at, _, err := s.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	h, err := s.setup.hub(ctx, at, false)
	if err != nil || h == nil {
		return nil, err
	}
	h.Start()
	for name, st := range h.Status() {
		out = append(out, lathe.ToolServer{Name: name, Status: string(st.State), Error: st.Error, Tools: st.Tools})
	}
	lathe.SortToolServers(out)
	return out, nil
}

// LanguageServers lists the language servers that are installed, with the state of those that were started.
func (s reportSource) LanguageServers(at workspace.Place) (out []insight.LanguageServer, err error) {
	k, err := s.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	p, v := s.setup.Languages.Project(k, at), s.setup.Languages.State().Servers
	states := map[string]lsp.Status{}
	for _, one := range v.Status(p) {
		states[one.ID] = one
	}
	for _, one := range v.Available(p) {
		if one.Program == "" {
			continue
		}
		server := insight.LanguageServer{ID: one.ID, Reason: one.Reason, State: states[one.ID].State}
		if server.State == lsp.Off {
			server.Reason = states[one.ID].Reason
		}
		out = append(out, server)
	}
	return out, nil
}

// WaitServers waits for the MCP servers of a directory.
func (s reportSource) WaitServers(ctx context.Context, dir string) {
	at, _, err := s.Open(ctx, dir)
	if err != nil {
		return
	}
	if h, err := s.setup.hub(ctx, at, false); err == nil && h != nil {
		h.Start()
		h.WaitReady(ctx)
	}
}

// toolServers lists the MCP servers of a directory by name.
func (b *backend) toolServers(ctx context.Context, at workspace.Place) ([]lathe.ToolServer, error) {
	all, err := b.ServerStatus(ctx, at)
	out := make([]lathe.ToolServer, 0, len(all))
	for name, s := range all {
		out = append(out, lathe.ToolServer{Name: name, Status: s.Status, Error: s.Error})
	}
	lathe.SortToolServers(out)
	return out, err
}

// Endpoints lists the addresses of the providers that the user has set up.
func (s reportSource) Endpoints(at workspace.Place) (out []insight.Endpoint, err error) {
	k, err := s.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	for _, one := range k.Providers.Active() {
		if one.Implicit && !k.Providers.isNamed(one.Provider.ID) {
			continue
		}
		e := insight.Endpoint{Name: one.Provider.ID}
		for _, id := range slices.Sorted(maps.Keys(one.Provider.Models))[:min(1, len(one.Provider.Models))] {
			var info provider.Info
			if _, info, e.Err = provider.Open(one.Provider, one.Provider.Models[id], k.Providers.Deps); e.Err == nil {
				e.URL = info.BaseURL
			}
		}
		out = append(out, e)
	}
	return out, nil
}
