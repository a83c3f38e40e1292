package server_test

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// backend is an engine as a server wants it. What needs the program around it (settings,
// providers) is tested with the program, in cmd/lathe.
type backend struct{ *engine.Engine }

func (b backend) all(s *settings) server.Backend {
	return b.withFiles(server.Backend{Feed: b, Instances: b, Sessions: b, Messages: b, Turns: b, Commands: b, Own: b, Asks: b, Settings: s, ToolServers: toolServers{s.hub}, Meters: b})
}

func (b backend) Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error) {
	inst, err := b.Instance(ctx, dir)
	return inst.Place, inst.Project, err
}

func (b backend) DisposeAll() {}

func (b backend) Create(ctx context.Context, dir string, in server.NewSession) (lathe.Session, error) {
	return b.Engine.Create(ctx, dir, engine.New(in))
}

func (b backend) Messages(ctx context.Context, id lathe.SessionID, before lathe.Place, limit int) ([]lathe.Message, lathe.Opt[lathe.Place], error) {
	page, err := b.Engine.Messages(ctx, id, before, limit)
	return page.Messages, lathe.Opt[lathe.Place]{Set: page.More, Value: page.Next}, err
}

func (b backend) UpdatePart(ctx context.Context, p lathe.Part) (lathe.Part, error) {
	return b.Engine.UpdatePart(ctx, p, "")
}

func (b backend) Submit(ctx context.Context, id lathe.SessionID, p server.Prompt) (lathe.Message, error) {
	return b.Engine.Submit(ctx, id, engine.Prompt{
		ID: p.ID, Agent: p.Agent, Model: p.Model, Variant: p.Variant, System: p.System, Tools: p.Tools, Format: p.Format,
		Delivery: p.Delivery, NoReply: p.NoReply, Parts: p.Parts,
	})
}

func (b backend) Shell(ctx context.Context, id lathe.SessionID, in server.ShellCommand) (lathe.Message, error) {
	return b.Engine.Shell(ctx, id, engine.Command(in))
}

func (b backend) Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID, p lathe.PartID) (lathe.Session, error) {
	u, err := b.Engine.Revert(ctx, id, engine.Undo{Message: m, Part: p})
	return u.Session, err
}

func (b backend) Unrevert(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	u, err := b.Engine.Unrevert(ctx, id, engine.Redo{})
	return u.Session, err
}

// settings are the same in every directory.
type settings struct {
	loaded config.Loaded
	agents []lathe.Agent
	err    error
	hub    *mcp.Hub
}

func (s *settings) Settings(context.Context, workspace.Place) (*config.Loaded, error) {
	return &s.loaded, s.err
}

func (s *settings) Agents(context.Context, workspace.Place) ([]lathe.Agent, error) {
	return s.agents, s.err
}

func (s *settings) Tools(context.Context, workspace.Place) ([]server.Tool, error) { return nil, s.err }

func (s *settings) Global(context.Context) (json.RawMessage, error) {
	return s.loaded.Config.Raw, s.err
}

func (s *settings) Change(context.Context, workspace.Place, json.RawMessage) error { return s.err }

func (s *settings) ChangeGlobal(context.Context, json.RawMessage) error { return s.err }
