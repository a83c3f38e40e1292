package state

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/modelname"
)

// Catalog is the directory info and the available agents, commands, skills, providers and MCP servers.
type Catalog struct {
	Info      api.Info
	Agents    []lathe.Agent
	Commands  []lathe.Command
	Skills    []lathe.Skill
	Providers lathe.Providers
	Servers   []lathe.ToolServer
	Languages []api.LanguageServer // that were started

	Loaded       bool            // agents and providers were loaded at least once
	InfoLoaded   bool            // Info is loaded, or failed to load
	AcceptsEdits lathe.SessionID // the root session that is known to accept edits without asking
	Epoch        int             // changes with the names of models and colors of agents
}

// Agent looks an agent up, nil for one that is not known.
func (c *Catalog) Agent(name string) *lathe.Agent {
	if i := slices.IndexFunc(c.Agents, func(a lathe.Agent) bool { return a.Name == name }); i >= 0 {
		return &c.Agents[i]
	}
	return nil
}

// IsSelectable reports whether the user can select an agent.
func IsSelectable(a lathe.Agent) bool { return a.Mode != lathe.Subagent && !a.Hidden.On() }

// SelectableAgents are the names of the agents that the user can select.
func (c *Catalog) SelectableAgents() (names []string) {
	for _, a := range c.Agents {
		if IsSelectable(a) {
			names = append(names, a.Name)
		}
	}
	return names
}

// ModelKey names a model as provider/model.
func ModelKey(ref lathe.ModelRef) string { return ref.Provider + "/" + ref.Model }

// FindModel finds a model of the connected providers.
func (c *Catalog) FindModel(ref lathe.ModelRef) (lathe.Model, bool) {
	for _, pr := range c.Providers.Connected {
		if pr.ID != ref.Provider {
			continue
		}
		for _, m := range pr.Models {
			if m.Ref.Model == ref.Model {
				return m, true
			}
		}
	}
	return lathe.Model{}, false
}

// NamedModel finds a model of the connected providers by its full name or a part of it. The provider of the
// configured model comes first, then those of recent ones.
func (c *Catalog) NamedModel(name string, recent []lathe.ModelRef) (lathe.ModelRef, error) {
	var all []modelname.Model
	for _, pr := range c.Providers.Connected {
		for _, m := range pr.Models {
			all = append(all, modelname.Model{Provider: pr.ID, ID: m.Ref.Model, Name: m.Name, Released: m.Released})
		}
	}
	var prefer []string
	if m := c.Providers.Model; m != nil {
		prefer = append(prefer, m.Provider)
	}
	for _, r := range recent {
		prefer = append(prefer, r.Provider)
	}
	m, err := modelname.Find(name, all, prefer)
	return lathe.ModelRef{Provider: m.Provider, Model: m.ID}, err
}

// ModelName is the display name of a model.
func (c *Catalog) ModelName(ref lathe.ModelRef) string {
	if m, ok := c.FindModel(ref); ok {
		return m.Name
	}
	return ref.Model
}

// ModelNames is ModelName for use in a background goroutine.
func (c *Catalog) ModelNames() func(lathe.ModelRef) string {
	names := map[string]string{}
	for _, pr := range c.Providers.Connected {
		for _, m := range pr.Models {
			names[ModelKey(m.Ref)] = m.Name
		}
	}
	return func(r lathe.ModelRef) string {
		return cmp.Or(names[ModelKey(r)], r.Model)
	}
}

// ServerCounts counts the connected and the failed MCP servers.
func (c *Catalog) ServerCounts() (good, bad int) {
	for _, s := range c.Servers {
		switch s.Status {
		case "connected":
			good++
		case "failed", "needs_auth", "needs_client_registration":
			bad++
		}
	}
	return good, bad
}

// Tilde abbreviates the home directory in a path.
func (c *Catalog) Tilde(path string) string {
	if h := c.Info.Home; h != "" && (path == h || strings.HasPrefix(path, h+"/")) {
		return "~" + path[len(h):]
	}
	return path
}
