package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/bedrock"
	"github.com/lathe-agent/lathe/model/gemini"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/openai"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// risky is the permission that a person is asked for.
const risky = "risky"

// setup is what an engine of the campaign works with.
type setup struct {
	url    string
	client *http.Client
	tools  *tool.Set
}

// openEngine opens the database of a folder. admitted receives the prompts that its tools send
// to sessions below their own.
func openEngine(ctx context.Context, dir, url string, admitted func(key string)) (*engine.Engine, error) {
	d, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "lathe.db")})
	if err != nil {
		return nil, err
	}
	marks := filepath.Join(dir, "marks")
	below := &spawner{dir: dir, admitted: admitted, opened: make(chan struct{})}
	e, err := engine.Open(ctx, engine.Options{
		Driver: d, Blobs: filepath.Join(dir, "blobs"), Outputs: filepath.Join(dir, "outputs"), Version: "torture",
		Environment: &setup{
			url: url, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: slots}},
			tools: tool.NewSet(markTool(marks), slowTool(marks), askTool(marks), below.tool(marks)),
		},
	})
	below.engine = e
	close(below.opened)
	return e, err
}

// Settings allow everything but what is risky.
func (s *setup) Settings(context.Context, workspace.Place) (*engine.StepSettings, error) {
	rules := lathe.Ruleset{
		{Permission: "*", Pattern: "*", Action: lathe.Allow},
		{Permission: risky, Pattern: "*", Action: lathe.Ask},
	}
	return &engine.StepSettings{
		Agents:       []engine.Agent{{Agent: lathe.Agent{Name: "build", Mode: lathe.Primary, Rules: rules}}},
		DefaultModel: lathe.ModelRef{Provider: "test", Model: string(modeltest.Chat)},
		Tools:        s.tools,
	}, nil
}

// Model speaks the protocol that its name says.
func (s *setup) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	ids := lathe.NewIDs()
	at := model.Endpoint{Provider: ref.Provider, BaseURL: s.url, Client: s.client}
	m := &engine.Model{
		Ref: ref, Name: ref.Model, Context: 1_000_000, Output: 8000,
		Target: model.Target{Provider: ref.Provider, Model: ref.Model},
		Price:  model.Price{Input: model.PerMillion(1), Output: model.PerMillion(2)},
	}
	switch modeltest.Protocol(ref.Model) {
	case modeltest.Anthropic:
		m.Client = anthropic.New(at, ids)
	case modeltest.Responses:
		m.Client = openai.NewResponses(at, ids, openai.Dialect{})
	case modeltest.Gemini:
		m.Client = gemini.New(at, ids)
	case modeltest.Bedrock:
		m.Client = bedrock.New(at, ids)
	default:
		m.Client = openai.NewChat(at, ids, openai.Dialect{})
	}
	return m, nil
}

// marking is the input of all tools: the key is never given to two calls.
type marking struct {
	Key string `json:"key" jsonschema:"the mark to leave"`
	MS  int    `json:"ms,omitempty" jsonschema:"how long to take, in milliseconds"`
}

// markTool leaves a mark at once.
func markTool(dir string) tool.Tool {
	return tool.Define(tool.Spec{Name: "mark", Description: "Leaves a mark."}, func(_ context.Context, c *tool.Call, in marking) (tool.Result, error) {
		return leave(dir, c, in.Key)
	})
}

// slowTool takes its time before and after, so that a kill finds it on either side.
func slowTool(dir string) tool.Tool {
	return tool.Define(tool.Spec{Name: "slow", Description: "Leaves a mark in its time."}, func(ctx context.Context, c *tool.Call, in marking) (tool.Result, error) {
		c.Host.Progress("waiting", json.RawMessage(`{"step":1}`))
		half := time.Duration(in.MS) * time.Millisecond / 2
		if !rest(ctx, half) {
			return tool.Result{}, context.Cause(ctx)
		}
		res, err := leave(dir, c, in.Key)
		rest(ctx, half)
		return res, err
	})
}

// askTool leaves a mark when it is allowed to.
func askTool(dir string) tool.Tool {
	return tool.Define(tool.Spec{Name: "ask", Description: "Leaves a mark if it may."}, func(ctx context.Context, c *tool.Call, in marking) (tool.Result, error) {
		if err := c.Host.Ask(ctx, tool.Permission{Name: risky, Patterns: []string{in.Key}}); err != nil {
			return tool.Result{}, err
		}
		return leave(dir, c, in.Key)
	})
}

// leave appends the key to the file of the session. It is on the disk when leave returns.
func leave(dir string, c *tool.Call, key string) (res tool.Result, err error) {
	f, err := os.OpenFile(filepath.Join(dir, string(c.Session)), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return res, err
	}
	if _, err = f.WriteString(key + "\n"); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return tool.Result{Title: key, Output: "left " + key}, err
}

// rest reports whether the time passed before ctx ended.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
