// Package servertest is an engine as a server wants it, for the tests of both ends of the wire. What needs the
// program around an engine (settings, providers) is tested with the program, in cmd/lathe. A Backend is as safe for
// use by many goroutines as its engine. Start with Backend.
package servertest

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/openai"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/workspace"
)

// Setup offers one agent, the small tools of tooltest and a scripted model of the provider "test".
type Setup struct{ Server *modeltest.Server }

// Settings are the same in every directory: only the tool look asks.
func (s Setup) Settings(context.Context, workspace.Place) (*engine.Settings, error) {
	rules := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}, {Permission: "look", Pattern: "*", Action: lathe.Ask}}
	return &engine.Settings{
		Agents:       []engine.Agent{{Agent: lathe.Agent{Name: "build", Mode: lathe.Primary, Rules: rules}}},
		DefaultModel: lathe.ModelRef{Provider: "test", Model: "big"},
		Tools:        tool.NewSet(tooltest.All()...),
	}, nil
}

// Model is any of the provider "test".
func (s Setup) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	if ref.Provider != "test" {
		return nil, lathe.Errorf(lathe.NotFound, "Model not found: %s/%s.", ref.Provider, ref.Model)
	}
	at := model.Endpoint{Provider: ref.Provider, BaseURL: s.Server.URL, Client: s.Server.Client}
	return &engine.Model{
		Ref: ref, Name: ref.Model, Context: 200_000, Output: 8000,
		Target: model.Target{Provider: ref.Provider, Model: ref.Model},
		Client: openai.NewChat(at, lathe.NewIDs(), openai.Dialect{}),
	}, nil
}

// Backend is an engine in the server's words.
type Backend struct{ *engine.Engine }

// Open opens the instance of a directory.
func (b Backend) Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error) {
	inst, err := b.Instance(ctx, dir)
	return inst.Place, inst.Project, err
}

// DisposeAll lets nothing go.
func (b Backend) DisposeAll() {}

// Messages is a page of a history.
func (b Backend) Messages(ctx context.Context, id lathe.SessionID, before lathe.Place, limit int) ([]lathe.Message, lathe.Opt[lathe.Place], error) {
	page, err := b.Engine.Messages(ctx, id, before, limit)
	return page.Messages, lathe.Opt[lathe.Place]{Set: page.More, Value: page.Next}, err
}

// UpdatePart changes a part of a session that rests.
func (b Backend) UpdatePart(ctx context.Context, p lathe.Part) (lathe.Part, error) {
	return b.Engine.UpdatePart(ctx, p, "")
}

// Revert takes a message and what came behind it back.
func (b Backend) Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID, p lathe.PartID) (lathe.Session, error) {
	u, err := b.Engine.Revert(ctx, id, lathe.Undo{Message: m, Part: p})
	return u.Session, err
}

// Unrevert brings it again.
func (b Backend) Unrevert(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	u, err := b.Engine.Unrevert(ctx, id, lathe.Undo{})
	return u.Session, err
}

// Commands are those of a directory.
func (b Backend) Commands(ctx context.Context, at workspace.Place) ([]lathe.Command, error) {
	return b.Engine.Commands(ctx, at.Directory)
}

// Skills are those of a directory.
func (b Backend) Skills(ctx context.Context, at workspace.Place) ([]lathe.Skill, error) {
	return b.Engine.Skills(ctx, at.Directory)
}
