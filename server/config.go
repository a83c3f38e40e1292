package server

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/workspace"
)

// ConfigStore reads and changes the config.
type ConfigStore interface {
	// Config returns the effective config of a directory; a mistake in it is a *config.Error.
	Config(ctx context.Context, at workspace.Place) (*config.Loaded, error)
	// Agents lists the usable agents, the default one first.
	Agents(ctx context.Context, dir string) ([]lathe.Agent, error)
	// Tools lists the tools of the models.
	Tools(ctx context.Context, at workspace.Place) ([]Tool, error)
	// GlobalConfig returns the user's own config file.
	GlobalConfig(ctx context.Context) (json.RawMessage, error)
	// UpdateConfig merges a change into the config of a directory, UpdateGlobalConfig into the user's own.
	UpdateConfig(ctx context.Context, at workspace.Place, change json.RawMessage) error
	UpdateGlobalConfig(ctx context.Context, change json.RawMessage) error
}

// Tool is a tool as a model sees it.
type Tool struct {
	ID          string          `json:"id"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// configAPI serves the config, and its agents and tools.
type configAPI struct {
	settings  ConfigStore
	instances Instances
	engine    Engine
}

func (a configAPI) routes() []row {
	bad := []failure{failsBad}
	return []row{
		answer(route("GET /config", "config.get", "config", mayAll,
			"Get the effective config of the directory, without API keys and tokens", bad), a.getConfig),
		answer(route("PATCH /config", "config.update", "config", mayAll,
			"Change the config of the directory", bad), inPlace(a.patchConfig)),
		answer(route("GET /global/config", "global.config.get", "global", mayAll,
			"Get the user's own settings; keys and tokens are left out", bad, withoutDirectory), a.getGlobalConfig),
		answer(route("PATCH /global/config", "global.config.update", "global", mayAll,
			"Change the user's config", bad, withoutDirectory), a.patchGlobalConfig),
		answer(route("GET /agent", "app.agents", "instance", mayRead, "List the agents, the default one first", bad), inPlace(a.listAgents)),
		answer(route("GET /experimental/tool", "tool.list", "experimental", mayRead,
			"List the tools with their parameters", bad), func(c *call, _ toolQuery, _ none) ([]Tool, error) { return a.tools(c) }),
		answer(route("GET /experimental/tool/ids", "tool.ids", "experimental", mayRead, "List the names of the tools", bad), a.toolNames),
	}
}

func (a configAPI) getConfig(c *call, _, _ none) (configBody, error) {
	at, _, err := c.place()
	if err != nil {
		return nil, err
	}
	l, err := a.settings.Config(c.Context(), at)
	if err != nil {
		return nil, err
	}
	return withoutSecrets(l.Config.Raw)
}

func (a configAPI) getGlobalConfig(c *call, _, _ none) (configBody, error) {
	own, err := a.settings.GlobalConfig(c.Context())
	if err != nil {
		return nil, err
	}
	return withoutSecrets(own)
}

// patchConfig disposes of the instance, so that the next request reads the new config.
func (a configAPI) patchConfig(c *call, at workspace.Place, _ none, in configBody) (configBody, error) {
	if err := a.settings.UpdateConfig(c.Context(), at, withoutMarks(json.RawMessage(in))); err != nil {
		return nil, err
	}
	a.instances.Dispose(at.Directory)
	return a.getConfig(c, none{}, none{})
}

func (a configAPI) patchGlobalConfig(c *call, _ none, in configBody) (configBody, error) {
	if err := a.settings.UpdateGlobalConfig(c.Context(), withoutMarks(json.RawMessage(in))); err != nil {
		return nil, err
	}
	if !isModeAlone(json.RawMessage(in)) {
		a.instances.DisposeAll()
	}
	a.engine.Publish(lathe.Event{Fact: &lathe.GlobalDisposed{}})
	return a.getGlobalConfig(c, none{}, none{})
}

// isModeAlone reports whether a change sets only the permission mode. Such a change is allowed during
// a turn and restarts no MCP servers or plugins.
func isModeAlone(change json.RawMessage) bool {
	var keys map[string]json.RawMessage
	return json.Unmarshal(change, &keys) == nil && len(keys) == 1 && keys["permission_mode"] != nil
}

func (a configAPI) listAgents(c *call, at workspace.Place, _, _ none) ([]lathe.Agent, error) {
	return a.settings.Agents(c.Context(), at.Directory)
}

type toolQuery struct {
	Provider string `query:"provider"`
	Model    string `query:"model"`
}

// tools are those of the directory of the request. They are the same for all models.
func (a configAPI) tools(c *call) ([]Tool, error) {
	at, _, err := c.place()
	if err != nil {
		return nil, err
	}
	return a.settings.Tools(c.Context(), at)
}

func (a configAPI) toolNames(c *call, _, _ none) ([]string, error) {
	all, err := a.tools(c)
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.ID
	}
	return names, err
}

// configBody is settings as JSON.
type configBody object

// UnmarshalJSON takes objects only.
func (b *configBody) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return lathe.Errorf(lathe.Invalid, "Expected object, got null")
	}
	return (*object)(b).UnmarshalJSON(data)
}

// AppendJSON appends it as it is.
func (b configBody) AppendJSON(dst []byte) []byte { return append(dst, b...) }
