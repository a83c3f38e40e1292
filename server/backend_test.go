package server_test

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/servertest"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// backend is an engine as a server wants it, with files and programs.
type backend struct{ servertest.Backend }

func (b backend) all(s *settings) server.Backend {
	return b.withFiles(server.Backend{Engine: b, Instances: b, Config: s, ToolServers: toolServers{s.hub}})
}

// settings are the same in every directory.
type settings struct {
	loaded config.Loaded
	agents []lathe.Agent
	err    error
	hub    *mcp.Hub
}

func (s *settings) Config(context.Context, workspace.Place) (*config.Loaded, error) {
	return &s.loaded, s.err
}

func (s *settings) Agents(context.Context, string) ([]lathe.Agent, error) {
	return s.agents, s.err
}

func (s *settings) Tools(context.Context, workspace.Place) ([]server.Tool, error) { return nil, s.err }

func (s *settings) GlobalConfig(context.Context) (json.RawMessage, error) {
	return s.loaded.Config.Raw, s.err
}

func (s *settings) UpdateConfig(context.Context, workspace.Place, json.RawMessage) error {
	return s.err
}

func (s *settings) UpdateGlobalConfig(context.Context, json.RawMessage) error { return s.err }
