// Package servertest is an engine for the tests of server and client. Features that need the program around an
// engine (config, providers) are tested with the program, in cmd/lathe. A Backend is as safe for use by many
// goroutines as its engine. Start with Backend.
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
func (s Setup) Settings(context.Context, workspace.Place) (*engine.StepSettings, error) {
	rules := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}, {Permission: "look", Pattern: "*", Action: lathe.Ask}}
	return &engine.StepSettings{
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

// Backend is an engine and its instances.
type Backend struct{ *engine.Engine }

// Open opens the instance of a directory.
func (b Backend) Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error) {
	inst, err := b.Instance(ctx, dir)
	return inst.Place, inst.Project, err
}

// DisposeAll does nothing.
func (b Backend) DisposeAll() {}
