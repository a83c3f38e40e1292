package tui

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

func (c *canned) ContextUse(context.Context, lathe.SessionID) (api.ContextUse, error) {
	return api.ContextUse{
		Model: lathe.ModelRef{Provider: "acme", Model: "m-2"}, Window: 200_000, Used: 53_200, Measured: true, Reserve: 32_000, CompactAt: 168_000,
		Parts: []api.ContextPart{
			{Name: api.PartSystem, Tokens: 3100},
			{Name: api.PartTools, Tokens: 9800, Count: 14},
			{Name: api.PartMCP, Tokens: 8000, Count: 22},
			{Name: api.PartInstructions, Tokens: 1200, Count: 2},
			{Name: api.PartFiles, Tokens: 12_000, Count: 6},
			{Name: api.PartMessages, Tokens: 19_100, Count: 31},
		},
		Largest: []api.ContextPart{{Name: "read tui/menu.go", Tokens: 8100}, {Name: "bash go test ./...", Tokens: 5000}, {Name: "MCP server docs", Tokens: 4000}},
	}, c.did("context")
}

func (c *canned) SessionCost(context.Context, lathe.SessionID) (api.SessionCost, error) {
	line := api.CostLine{Name: "acme/m-2", Cost: 1.24, Requests: 12, Input: 1_200_000, Output: 12_000, CacheRead: 900_000, CacheWrite: 30_000}
	return api.SessionCost{Total: line, Models: []api.CostLine{line}, Today: line, Budgets: []api.Budget{{Name: "session", Spent: 1.24, Limit: 5}}}, c.did("cost")
}

func (c *canned) SessionUsage(context.Context, lathe.SessionID) (api.SessionUsage, error) {
	first := api.TimeUse{Model: 62_000, Retries: 4200, Tools: 31_000, Waiting: 12_000}
	return api.SessionUsage{
		From: 1000, To: 400_000, Time: api.TimeUse{Model: 65_000, Retries: 4200, Tools: 31_000, Waiting: 12_000, Idle: 240_000},
		Models: []api.CostLine{{Name: "acme/m-2", Cost: 1.24, Requests: 12, Input: 1_200_000, Output: 12_000, CacheRead: 900_000}},
		Tools:  []api.ToolUse{{Name: "bash", Calls: 9, Failed: 3, Time: 29_000, Bytes: 120_000}, {Name: "read", Calls: 14, Time: 2000, Bytes: 80_000}},
		Events: []api.Finding{
			{Kind: "failure", Name: "bash", Detail: "exit status 1", Count: 3},
			{Kind: "cache-miss", Name: "acme/m-2", Detail: "the pause before was longer than most caches live", Count: 1, Tokens: 52_000},
			{Kind: "result", Name: "bash", Detail: "go test ./...", Count: 1, Bytes: 64_000},
			{Kind: "retry", Name: "acme/m-2", Detail: "slow down", Count: 2},
		},
		Turns: []api.TurnUse{
			{Prompt: "Fix the failing test", At: 1000, Time: first, Cost: 1.2, Steps: 11, Calls: 23, Failed: 3, Sent: 1_100_000, Cached: 900_000},
			{Prompt: "Thank you", At: 397_000, Time: api.TimeUse{Model: 3000, Idle: 240_000}, Cost: 0.04, Steps: 1, Sent: 100_000},
		},
	}, c.did("usage")
}

func (c *canned) Settings(context.Context, string) ([]api.Setting, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.settings), nil
}

func (c *canned) ChangeSetting(_ context.Context, _, key string, value json.RawMessage) error {
	if err := c.did("setting", key, string(value)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.settings {
		if c.settings[i].Key == key {
			c.settings[i].Value, c.settings[i].Origin = value, "user: ~/.config/lathe/lathe.json"
		}
	}
	return nil
}

func (c *canned) Checks(context.Context, string) ([]string, error) {
	return []string{"Config", "Provider acme", "Sandbox", "Slow"}, nil
}

func (c *canned) Check(_ context.Context, _, name string) (api.Check, error) {
	switch name {
	case "Provider acme":
		return api.Check{Name: name, Status: api.CheckFail, Detail: "cannot reach api.acme.example: no answer in 5s", Fix: "Check your network, HTTPS_PROXY and the provider's baseURL."}, nil
	case "Slow":
		if c.away != nil {
			<-c.away
		}
		return api.Check{}, lathe.Errorf(lathe.Unavailable, "it took too long")
	}
	return api.Check{Name: name, Status: api.CheckOK, Detail: "fine"}, nil
}

func (c *canned) MemoryFiles(context.Context, string) ([]api.MemoryFile, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.memories), nil
}

func (c *canned) EditMemory(_ context.Context, _ string, e api.MemoryEdit) (api.MemoryFile, error) {
	err := c.did("memory", e.File, e.Line, e.Remove)
	return api.MemoryFile{Path: "/home/dev/app/AGENTS.md"}, err
}

func sampleSettings() []api.Setting {
	return []api.Setting{
		{Key: "autoupdate", Type: "boolean", Help: "Update lathe at the start", Default: "true", Origin: "default"},
		{Key: "compaction.reserved", Type: "integer", Help: "Tokens kept free for the answer", Origin: "default"},
		{Key: "model", Type: "string", Help: "Model of new sessions, as provider/model", Value: json.RawMessage(`"acme/m-1"`), Origin: "user: ~/.config/lathe/lathe.json"},
		{Key: "provider", Type: "object", Help: "Providers by name", Value: json.RawMessage(`{}`), Secret: true, Origin: "user: ~/.config/lathe/lathe.json"},
		{Key: "share", Type: "choice", Choices: []string{"manual", "auto", "disabled"}, Help: "How sessions are shared", Default: "manual", Origin: "default"},
	}
}

// Settings are found by their help, and changed by a choice or a text. A refused change is reported, and the list
// comes back.
func TestConfig_Change(t *testing.T) {
	onStage(t, sample(), Options{}, func(s *stage) {
		s.slash("config")
		s.typed("shared")
		s.sees("share", "manual", "How sessions are shared", "from default")
		s.press("enter")
		s.typed("disab")
		s.press("enter")
		s.did("setting share \"disabled\"")
		s.sees("Config", "Saved share in your config", "disabled", "from user: ~/.config/lathe/lathe.json")
		s.press("esc")
		s.slash("config")
		s.typed("reserved")
		s.press("enter")
		s.typed("many")
		s.press("enter")
		s.sees("compaction.reserved takes a number")
		s.did()
		s.press("enter")
		s.typed("2000")
		s.press("enter")
		s.did("setting compaction.reserved 2000")
		s.press("enter", "ctrl+u", "enter") // nothing is the default again
		s.did("setting compaction.reserved null")
		s.pass(time.Minute) // the toasts go
		s.engine.fails = map[string]error{"setting": lathe.Errorf(lathe.Invalid, "model is wrong")}
		s.press("esc")
		s.slash("config")
		s.typed("provider/model")
		s.press("enter", "enter")
		s.sees("Could not change model: model is wrong", "Config")
		s.press("esc")
		s.slash("config")
		s.typed("providers by")
		s.press("enter")
		s.sees("Edit provider in your config file", "(hidden)")
	})
}

// Results of health checks appear as they arrive; one that cannot run has failed.
func TestDoctor_Arrive(t *testing.T) {
	e := sample()
	onStage(t, e, Options{Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C"}}, func(s *stage) {
		e.away = make(chan struct{}) // of this bubble
		s.slash("doctor")
		s.sees("✓ Config", "✗ Provider acme", "→ Check your network", "… Slow", "7 of 8 done", "✓ Colors", "24-bit", "! Characters")
		close(e.away)
		s.settle()
		s.sees("✗ Slow", "it took too long", "Failed: 2. Warnings: 1.")
	})
}

// A line that begins with # goes to the project's file and comes out again; a failure gives the text back.
func TestRemember(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.typed("#use tabs")
		s.sees("enter adds this line to AGENTS.md")
		s.press("enter")
		s.did("memory  use tabs false")
		s.sees("Added to ~/app/AGENTS.md. /memory undo removes it")
		s.typed("/memory undo")
		s.press("enter")
		s.did("memory /home/dev/app/AGENTS.md use tabs true")
		s.typed("/memory undo")
		s.press("enter")
		s.sees("Nothing was added")
		s.did()
		s.pass(time.Minute)
		s.engine.fails = map[string]error{"memory": lathe.Errorf(lathe.Denied, "it is read only")}
		s.typed("#use spaces")
		s.press("enter")
		s.sees("Could not write to the instruction file")
		if got := s.p.drafts.edit.Text(); got != "#use spaces" {
			t.Errorf("in the prompt: %q", got)
		}
		s.engine.fails = nil
		s.engine.was()
		s.engine.memories = append(s.engine.memories, api.MemoryFile{Path: "/home/dev/app/web/AGENTS.md", Owner: "project", Exists: true})
		s.press("enter")
		s.sees("Add the line to", "~/app/web/AGENTS.md")
		s.press("down", "enter")
		s.did("memory /home/dev/app/web/AGENTS.md use spaces false")
	})
	onStage(t, sample(), Options{Remote: true}, func(s *stage) {
		s.typed("#")
		s.press("enter", "enter") // alone it lists the files
		s.sees("is on the server")
	})
}

// The list of commands has each action once, and the state of toggles. Commands that were used come first.
func TestPalette_OnceWithState(t *testing.T) {
	dir := t.TempDir()
	onStage(t, sample(), Options{State: dir, Start: Start{Session: sampleID}}, func(s *stage) {
		seen := map[string]bool{}
		for _, a := range s.p.menu.actions {
			if a.title != "" && seen[a.title] {
				t.Errorf("%q is listed twice", a.title)
			}
			seen[a.title] = true
		}
		s.press("ctrl+p")
		s.typed("timestamps")
		s.sees("Timestamps: off")
		s.press("enter", "ctrl+p")
		s.typed("timestamps")
		s.sees("Timestamps: on")
		s.press("esc")
		s.slash("themes")
		s.press("esc")
	})
	onStage(t, sample(), Options{State: dir}, func(s *stage) {
		s.typed("/")
		s.sees("/themes") // by its place among the commands it would not be in sight
	})
}
