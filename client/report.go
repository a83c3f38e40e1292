package client

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// reports requests the reports of a server. It is a type of its own, which Client embeds, because reports are no part of
// the work on sessions.
type reports struct {
	send func(ctx context.Context, r request) error
}

var _ api.Reports = reports{}

// ContextUse says what fills the context window of a session's model.
func (r reports) ContextUse(ctx context.Context, id lathe.SessionID) (out api.ContextUse, err error) {
	return out, r.send(ctx, request{method: "GET", path: "/lathe/session/" + url.PathEscape(string(id)) + "/context", to: &out})
}

// SessionCost says what a session and those below it have cost.
func (r reports) SessionCost(ctx context.Context, id lathe.SessionID) (out api.SessionCost, err error) {
	return out, r.send(ctx, request{method: "GET", path: "/lathe/session/" + url.PathEscape(string(id)) + "/cost", to: &out})
}

// SessionUsage says where the time and the money of a session went.
func (r reports) SessionUsage(ctx context.Context, id lathe.SessionID) (out api.SessionUsage, err error) {
	return out, r.send(ctx, request{method: "GET", path: "/lathe/session/" + url.PathEscape(string(id)) + "/usage", to: &out})
}

// Settings lists the settings of a directory.
func (r reports) Settings(ctx context.Context, dir string) (out []api.Setting, err error) {
	return out, r.send(ctx, request{method: "GET", path: "/lathe/settings", directory: dir, to: &out})
}

// ChangeSetting writes a setting to the config file of the server's user.
func (r reports) ChangeSetting(ctx context.Context, dir, key string, value json.RawMessage) error {
	body := struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	}{key, value}
	return r.send(ctx, request{method: "PATCH", path: "/lathe/settings", directory: dir, body: body})
}

// Checks names the health checks of a directory.
func (r reports) Checks(ctx context.Context, dir string) (out []string, err error) {
	return out, r.send(ctx, request{method: "GET", path: "/lathe/checks", directory: dir, to: &out})
}

// Check runs one health check.
func (r reports) Check(ctx context.Context, dir, name string) (out api.Check, err error) {
	return out, r.send(ctx, request{method: "GET", path: "/lathe/check", query: url.Values{"name": {name}}, directory: dir, to: &out})
}

// MemoryFiles lists the instruction files of a directory.
func (r reports) MemoryFiles(ctx context.Context, dir string) (out []api.MemoryFile, err error) {
	return out, r.send(ctx, request{method: "GET", path: "/lathe/memory", directory: dir, to: &out})
}

// EditMemory adds a line to an instruction file, or removes it.
func (r reports) EditMemory(ctx context.Context, dir string, e api.MemoryEdit) (out api.MemoryFile, err error) {
	return out, r.send(ctx, request{method: "POST", path: "/lathe/memory", directory: dir, body: e, to: &out})
}

// CheckKey asks a provider whether it accepts an API key, without saving the key.
func (r reports) CheckKey(ctx context.Context, dir, provider, key string) (out api.KeyCheck, err error) {
	body := struct {
		Key string `json:"key"`
	}{key}
	return out, r.send(ctx, request{method: "POST", path: "/lathe/provider/" + url.PathEscape(provider) + "/check", directory: dir, body: body, to: &out})
}
