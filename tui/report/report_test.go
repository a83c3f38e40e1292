package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/report"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// samples are the reports of a session in the middle of its work, by name.
func samples(width int) map[string][]report.Row {
	use := api.ContextUse{
		Model: lathe.ModelRef{Provider: "acme", Model: "model-two"}, Window: 200_000, Used: 53_200, Measured: true, Reserve: 32_000, CompactAt: 168_000,
		Parts: []api.ContextPart{
			{Name: api.PartSystem, Tokens: 3100},
			{Name: api.PartTools, Tokens: 9800, Count: 14},
			{Name: api.PartMCP, Tokens: 8000, Count: 22},
			{Name: api.PartInstructions, Tokens: 1200, Count: 2},
			{Name: api.PartFiles, Tokens: 12_000, Count: 6},
			{Name: api.PartMessages, Tokens: 19_100, Count: 31},
		},
		Largest: []api.ContextPart{{Name: "read tui/menu.go", Tokens: 8100}, {Name: "bash go test ./... with a name that is far too long for a narrow screen", Tokens: 5000}, {Name: "MCP docs", Tokens: 4000}},
	}
	line := func(name string, cost float64) api.CostLine {
		return api.CostLine{Name: name, Cost: cost, Requests: 12, Input: 1_200_000, Output: 12_000, CacheRead: 900_000, CacheWrite: 30_000}
	}
	sub := line("", 0.14)
	sub.Sessions = 3
	return map[string][]report.Row{
		"context":       report.Context(use, width),
		"context-empty": report.Context(api.ContextUse{Model: lathe.ModelRef{Provider: "a", Model: "b"}}, width),
		"cost": report.Cost(api.SessionCost{
			Total: line("", 1.24), Models: []api.CostLine{line("acme/model-two", 1.1), line("acme/small", 0.14)}, Subagents: sub, Today: line("", 4.2),
			Budgets: []api.Budget{{Name: "session", Spent: 1.24, Limit: 5}, {Name: "day", Spent: 9.5, Limit: 10}, {Name: "project", Spent: 11, Limit: 10}},
		}, width),
		"checks": report.Checks([]api.Check{
			{Name: "Git", Status: api.CheckOK, Detail: "2.43 in a repository"},
			{Name: "Provider acme", Status: api.CheckFail, Detail: "no answer from https://api.acme.example in 5s", Fix: "Check your network and the proxy, then run /doctor again."},
			{Name: "Sandbox", Status: api.CheckWarn, Detail: "this kernel has no Landlock", Fix: "Update the kernel to 5.13 or later."},
			{Name: "Language servers", Status: api.CheckOff, Detail: "lathe does not use them yet"},
			{Name: "MCP docs"},
		}, width),
		"settings": report.Settings([]api.Setting{
			{Key: "autoupdate", Type: "boolean", Help: "Update at the start.", Default: "true", Origin: "default"},
			{Key: "model", Type: "string", Help: "The model of new sessions, as provider/model.", Value: json.RawMessage(`"acme/model-two"`), Origin: "~/.config/lathe/lathe.json"},
			{Key: "server.password", Type: "string", Help: "The password of the server.", Value: json.RawMessage(`"hunter2"`), Secret: true, Origin: "user"},
		}, "", width),
		"memory": report.Memory([]api.MemoryFile{{Path: "/home/dev/app/AGENTS.md", Owner: "project", Exists: true, Lines: 40, Tokens: 1100}, {Path: "/home/dev/.config/lathe/AGENTS.md", Owner: "user"}}, "/home/dev", width),
	}
}

func TestGolden(t *testing.T) {
	for _, width := range []int{36, 68, 92} {
		for name, rows := range samples(width) {
			styletest.Golden(t, fmt.Sprintf("%s-%d", name, width), report.Text(rows))
			for _, r := range rows {
				if w := style.Width(r.String()); w > width {
					t.Errorf("%s: %d columns in a width of %d: %s", name, w, width, r)
				}
			}
		}
	}
}

// A secret is in no report, and no control character of a text of others.
func TestReports_Hostile(t *testing.T) {
	all := report.Text(samples(80)["settings"])
	if strings.Contains(all, "hunter2") || !strings.Contains(all, "(hidden)") {
		t.Errorf("a secret is shown:\n%s", all)
	}
	for _, text := range append(styletest.Hostile(), "a\x1b]0;title\x07b\x1b[31mred", strings.Repeat("long ", 9000)) {
		rows := report.Context(api.ContextUse{Model: lathe.ModelRef{Provider: text}, Window: -1, Used: -5, Largest: []api.ContextPart{{Name: text, Tokens: -1}}, Parts: []api.ContextPart{{Name: text}}}, 40)
		rows = append(rows, report.Cost(api.SessionCost{Models: []api.CostLine{{Name: text}}, Budgets: []api.Budget{{Name: text}}}, 40)...)
		rows = append(rows, report.Checks([]api.Check{{Name: text, Status: text, Detail: text, Fix: text}, {Name: text, Status: api.CheckFail, Detail: text, Fix: text}}, 40)...)
		rows = append(rows, report.Settings([]api.Setting{{Key: text, Help: text, Origin: text, Value: json.RawMessage(text)}}, "", 40)...)
		rows = append(rows, report.Memory([]api.MemoryFile{{Path: text, Owner: text}}, text, 40)...)
		for _, r := range rows {
			if strings.ContainsAny(r.String(), "\x1b\x07\r\n") || style.Width(r.String()) > 40 {
				t.Errorf("%.30q: %q", text, r.String())
			}
		}
	}
}

// A part that is there is seen in the bar, which always has the whole width.
func TestContext_Bar(t *testing.T) {
	use := api.ContextUse{Window: 1_000_000, Reserve: 1, Parts: []api.ContextPart{{Tokens: 1}, {Tokens: 1}, {Tokens: 0}, {Tokens: 2_000_000}}}
	bar := report.Context(use, 40)[2].String()
	if style.Width(bar) != 40 || !strings.HasPrefix(bar, "█▓▞▞") {
		t.Errorf("the bar is %q", bar)
	}
}
