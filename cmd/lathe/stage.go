package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// openDemo opens the demo's database with an engine whose model reads from a script.
func (d *demo) openDemo(ctx context.Context) (*engine.Engine, error) {
	script, err := modeltest.Parse(demoScript)
	if err != nil {
		return nil, err
	}
	if d.model, err = modeltest.Listen(script); err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "the scripted model cannot listen on this machine: %w", err)
	}
	return openEngine(ctx, d.app, d.at, d)
}

// Settings are those of the demo: one agent that asks before it edits, and two tools.
func (d *demo) Settings(context.Context, workspace.Place) (*engine.Settings, error) {
	rules := append(natural(d.at.outputs()), lathe.Rule{Permission: "edit", Pattern: "*", Action: lathe.Ask})
	return &engine.Settings{
		Agents:       []engine.Agent{{Agent: lathe.Agent{Name: "build", Mode: lathe.Primary, Rules: rules}}},
		DefaultModel: lathe.ModelRef{Provider: "demo", Model: "script"},
		Tools:        tool.NewSet(demoRead(), demoWrite()),
	}, nil
}

// Model is the script, spoken to as one speaks to a real one.
func (d *demo) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	return &engine.Model{
		Ref: ref, Name: ref.Model, Client: anthropic.New(model.Endpoint{Provider: ref.Provider, BaseURL: d.model.URL + "/v1"}, lathe.NewIDs()),
		Price: model.Price{Input: model.PerMillion(3), Output: model.PerMillion(15), CacheRead: model.PerMillion(0.3)},
	}, nil
}

type demoFile struct {
	Path    string `json:"path" jsonschema:"the file, relative to the directory"`
	Content string `json:"content,omitempty" jsonschema:"the whole text of the file"`
}

func demoRead() tool.Tool {
	spec := tool.Spec{Name: "read", Description: "Reads a file."}
	return tool.Define(spec, func(_ context.Context, c *tool.Call, in demoFile) (tool.Result, error) {
		text, err := os.ReadFile(filepath.Join(c.Dir, in.Path))
		if err != nil {
			return tool.Result{}, tool.Failf("%s cannot be read: %w", in.Path, err)
		}
		return tool.Result{Title: in.Path, Output: string(text)}, nil
	})
}

func demoWrite() tool.Tool {
	spec := tool.Spec{Name: "write", Description: "Writes a file.", Permission: "edit"}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in demoFile) (tool.Result, error) {
		if err := c.Host.Ask(ctx, tool.Permission{Name: "edit", Patterns: []string{in.Path}, Always: []string{"*"}}); err != nil {
			return tool.Result{}, err
		}
		if err := os.WriteFile(filepath.Join(c.Dir, in.Path), []byte(in.Content), 0o600); err != nil {
			return tool.Result{}, tool.Failf("%s cannot be written: %w", in.Path, err)
		}
		return tool.Result{Title: in.Path, Output: "Wrote " + in.Path + "."}, nil
	})
}
