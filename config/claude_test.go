package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/claudecode"
)

const claudeProject = `
-- top/.claude/settings.json --
{
  "permissions": {"allow": ["Bash(npm test:*)"], "deny": ["Read(./.env)", "Bash(curl:*)"]},
  "env": {"NODE_ENV": "test", "PATH": "/evil"},
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/check.sh"}]}]}
}
-- top/.claude/settings.local.json --
{"permissions": {"allow": ["Bash(curl https://x:*)"]}, "hooks": {"PreToolUse": [{"hooks": [{"command": "python3 tools/audit.py README.md"}]}]}}
-- top/.claude/hooks/check.sh --
exit 0
-- top/tools/audit.py --
pass
-- top/README.md --
Hello
-- top/.claude/agents/reviewer.md --
---
name: reviewer
description: Reviews code
tools: Read, Grep
---
You review.
-- top/.claude/commands/git/fix.md --
---
description: Fix an issue
argument-hint: [number]
---
Fix $1.
-- top/.claude/skills/pdf/SKILL.md --
---
name: pdf
description: Reads PDFs
---
Read it.
-- top/.mcp.json --
{"mcpServers": {"db": {"command": "npx", "args": ["db", "${DB_HOST:-localhost}"], "env": {"TOKEN": "${DB_TOKEN}"}}}}
`

// A trusted project's files of Claude Code count as they are.
func TestClaude_Trusted(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	w.env["DB_TOKEN"] = "secret"
	w.files(claudeProject)
	l := w.load()
	equal(t, lathe.Ruleset(l.Config.Permission), lathe.Ruleset{
		{Permission: "bash", Pattern: "npm test *", Action: lathe.Allow},
		{Permission: "bash", Pattern: "curl https://x *", Action: lathe.Allow},
		{Permission: "bash", Pattern: "curl*", Action: lathe.Deny},
		{Permission: "read", Pattern: ".env", Action: lathe.Deny},
		{Permission: "read", Pattern: ".env/*", Action: lathe.Deny},
	})
	equal(t, l.Config.Env, map[string]string{"NODE_ENV": "test"})
	equal(t, l.Config.Hooks, map[string][]claudecode.HookGroup{"PreToolUse": {
		{Matcher: "Bash", Hooks: []claudecode.HookCommand{{Type: "command", Command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh`}}},
		{Hooks: []claudecode.HookCommand{{Type: "command", Command: "python3 tools/audit.py README.md"}}},
	}})
	equal(t, l.Config.Agents["reviewer"], Agent{Mode: "subagent", Description: "Reviews code", AllowedTools: []string{"read", "grep"}, Prompt: "You review."})
	equal(t, l.Config.Commands["fix"], Command{Template: "Fix $1.", Description: "Fix an issue [number]"})
	equal(t, l.Config.MCP["db"], MCPServer{Type: "local", Command: []string{"npx", "db", "localhost"}, Environment: map[string]string{"TOKEN": "secret"}})
	if len(l.Skills) != 1 || l.Skills[0].Name != "pdf" {
		t.Errorf("%+v", l.Skills)
	}
	equal(t, w.warnings(l), []string{"top/.claude/settings.json:3:32: env.PATH: is ignored: it decides which programs run"})
}

// Of an untrusted project only rules that ask or deny count. What must be trusted is listed.
func TestClaude_Untrusted(t *testing.T) {
	w := newFixture(t)
	w.env["DB_TOKEN"] = "secret"
	w.files(claudeProject)
	l := w.load()
	c := l.Config
	if len(c.Hooks) > 0 || len(c.Env) > 0 || len(c.Agents) > 0 || len(c.Commands) > 0 || len(c.MCP) > 0 {
		t.Errorf("an untrusted project has an effect: %s", c.Raw)
	}
	equal(t, lathe.Ruleset(c.Permission), lathe.Ruleset{
		{Permission: "bash", Pattern: "curl*", Action: lathe.Deny}, {Permission: "read", Pattern: ".env", Action: lathe.Deny}, {Permission: "read", Pattern: ".env/*", Action: lathe.Deny},
	})
	want := []string{
		"top/.claude/agents/reviewer.md", "top/.claude/commands/git/fix.md", "top/.claude/hooks/", "top/.claude/settings.json: env", "top/.claude/settings.json: hooks.PreToolUse",
		"top/.claude/settings.local.json: hooks.PreToolUse", "top/.claude/settings.local.json: permission.bash.curl https://x *", "top/.claude/settings.local.json: permission.bash.npm test *",
		"top/.mcp.json: mcp.db", "top/tools/audit.py",
	}
	got := w.risks(l)
	slices.Sort(got)
	equal(t, got, want)
	if strings.Contains(string(c.Raw)+strings.Join(got, ""), "secret") {
		t.Error("a variable was put in before there was trust")
	}
}

// Trust ends when a hook, its script, an agent, a command, a server or a variable changes, and not when a
// file changes that a hook only reads.
func TestClaude_TrustEnds(t *testing.T) {
	w := newFixture(t)
	w.files(claudeProject)
	digest := w.load().Untrusted.Digest
	w.trust = func(_, d string) bool { return d == digest }
	if l := w.load(); l.Untrusted != nil {
		t.Fatal("the control is not trusted")
	}
	w.write("top/README.md", "Changed by the model")
	w.env["DB_TOKEN"] = "other"
	if l := w.load(); l.Untrusted != nil {
		t.Error("a file that a hook reads, or a variable of the user's, ends trust")
	}
	for name, text := range map[string]string{
		"top/.claude/settings.json":          `{"hooks": {"Stop": [{"hooks": [{"command": "evil"}]}]}}`,
		"top/.claude/settings.local.json":    `{"env": {"A": "b"}}`,
		"top/.claude/hooks/check.sh":         "evil",
		"top/.claude/hooks/new.sh":           "sourced by check.sh",
		"top/tools/audit.py":                 "evil",
		"top/.claude/agents/reviewer.md":     "evil",
		"top/.claude/commands/new.md":        "evil",
		"top/.mcp.json":                      `{"mcpServers": {"db": {"command": "evil"}}}`,
		"top/sub/.claude/settings.json":      `{"hooks": {"Stop": [{"hooks": [{"command": "evil"}]}]}}`,
		"top/sub/.claude/commands/deeper.md": "evil",
	} {
		again := newFixture(t)
		again.files(claudeProject)
		digest := again.load().Untrusted.Digest
		again.trust = func(_, d string) bool { return d == digest }
		again.write(name, text)
		if l := again.load(); l.Untrusted == nil || len(l.Config.Hooks) > 0 || len(l.Config.Env) > 0 {
			t.Errorf("%s changed and is still trusted", name)
		}
	}
}

// Files that are wrong, or belong to another place, never keep lathe from starting.
func TestClaude_Odd(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	w.write("elsewhere/settings.json", `{"env": {"LINKED": "yes"}}`)
	w.link(w.path("elsewhere"), "top/.claude")
	w.write("home/.claude/settings.json", `{"env": {"HOME_SETTINGS": "yes"}}`)
	w.files(`
-- top/sub/.claude/settings.json --
{"hooks": {"Stop": [
-- top/sub/.claude/settings.local.json --
{"hooks": {"Stop": [{"matcher": "(?!x)", "hooks": [{"command": "x"}]}], "Nope": []}, "disableAllHooks": false}
-- top/sub/.claude/agents/a.md --
---
color: "#nope"
---
-- top/sub/.mcp.json --
[]
`)
	l := w.load()
	equal(t, l.Config.Env, map[string]string{"LINKED": "yes"})
	equal(t, l.Config.Hooks, map[string][]claudecode.HookGroup{"Stop": {{Matcher: "(?!x)", Hooks: []claudecode.HookCommand{{Type: "command", Command: "x", Dir: w.path("top/sub")}}}}})
	if got := len(w.warnings(l)); got != 5 {
		t.Errorf("%d warnings: %q", got, w.warnings(l))
	}
	w.trust = nil
	if l := w.load(); len(l.Config.Env) > 0 || len(l.Config.Hooks) > 0 {
		t.Error("without trust they count")
	}
	w.trust = yes
	w.env["LATHE_DISABLE_CLAUDE_CODE"] = "1"
	if l := w.load(); len(l.Config.Env) > 0 || len(l.Config.Hooks) > 0 {
		t.Error("LATHE_DISABLE_CLAUDE_CODE has no effect")
	}
	w.dir = "home"
	w.env["LATHE_DISABLE_CLAUDE_CODE"] = ""
	if l := w.load(); l.Config.Env["HOME_SETTINGS"] != "" {
		t.Error("the user's own settings of Claude Code were read")
	}
}

// lathe.json has the same hooks, which add to those of other files; a project disables its own only.
func TestHooks_Layers(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	w.write("home/.config/lathe/lathe.json", `{"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}], "Typo": []}, "env": {"LD_PRELOAD": "x", "A": "1"}}`)
	w.write("top/lathe.json", `{"hooks": {"Stop": [{"hooks": [{"command": "theirs", "args": []}]}]}, "env": {"B": "2"}}`)
	l := w.load()
	equal(t, l.Config.Hooks, map[string][]claudecode.HookGroup{"Stop": {{Hooks: []claudecode.HookCommand{{Command: "mine"}}}, {Hooks: []claudecode.HookCommand{{Command: "theirs", Args: []string{}}}}}})
	equal(t, l.Config.Env, map[string]string{"A": "1", "B": "2"})
	if got := w.warnings(l); len(got) != 2 {
		t.Errorf("%q", got)
	}
	w.write("top/sub/lathe.json", `{"disable_hooks": true}`)
	l = w.load()
	equal(t, l.Config.Hooks, map[string][]claudecode.HookGroup{"Stop": {{Hooks: []claudecode.HookCommand{{Command: "mine"}}}}})
	if l.Config.DisableHooks {
		t.Error("a project disables the user's hooks")
	}
	w.trust = nil
	equal(t, w.load().Config.Hooks, map[string][]claudecode.HookGroup{"Stop": {{Hooks: []claudecode.HookCommand{{Command: "mine"}}}}})
}
