package harness_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
)

// claudeRow is the test of one row of docs/claude-code.md.
type claudeRow struct {
	section, name string
	test          func(t *testing.T)
}

// TestClaude_Conformance runs each row of the tables in docs/claude-code.md: real hooks in real turns, with a scripted model.
// A row without a test fails, and so does a test without a row.
func TestClaude_Conformance(t *testing.T) {
	page, err := os.ReadFile("../docs/claude-code.md")
	if err != nil {
		t.Fatal(err)
	}
	r := recordTurn(t)
	rows := slices.Concat(fileRows(), settingRows(), ruleRows(), eventRows(r), fieldRows(r), inputRows(r), outputRows(), toolRows(r), agentRows(), commandRows(), serverRows(r))
	var want []string
	for _, row := range rows {
		want = append(want, row.section+": "+row.name)
	}
	got := claudeTable(string(page))
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("the row %q has no test", name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("the test of %q has no row", name)
		}
	}
	for _, row := range rows {
		t.Run(row.section+"/"+row.name, func(t *testing.T) {
			t.Parallel()
			row.test(t)
		})
	}
}

// claudeTable lists the rows below the heading Conformance, as section and name.
func claudeTable(page string) (out []string) {
	_, rest, _ := strings.Cut(page, "\n## Conformance\n")
	section := ""
	for line := range strings.Lines(rest) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			section = strings.TrimSpace(name)
		}
		cells := strings.Split(line, "|")
		if len(cells) < 4 || section == "" || strings.HasPrefix(cells[1], "---") {
			continue
		}
		if says := strings.TrimSpace(cells[2]); says != "In lathe" && says != "Event and value" { // not the head of a table
			out = append(out, section+": "+strings.Trim(strings.TrimSpace(cells[1]), "`"))
		}
	}
	return out
}

// claudeConfig loads the config of a trusted project.
func claudeConfig(t *testing.T, archive string) *config.Loaded {
	t.Helper()
	l, err := newHooked(t, archive).host.Config()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// warned reports whether a setting is named as one without an effect.
func warned(l *config.Loaded, words string) bool {
	return slices.ContainsFunc(l.Warnings, func(p config.Problem) bool { return strings.Contains(p.String(), words) })
}

func fileRows() []claudeRow {
	loaded := func(name string, archive string, works func(*config.Loaded) bool) claudeRow {
		return claudeRow{"Files", name, func(t *testing.T) {
			if !works(claudeConfig(t, archive)) {
				t.Error("it has no effect")
			}
			w := newHooked(t, archive)
			w.host.Trust = false
			if l, err := w.host.Config(); err != nil || works(l) && !strings.Contains(name, "SKILL") && name != "CLAUDE.md" && !strings.HasPrefix(name, "~") {
				t.Errorf("it needs no trust: %v", err)
			}
		}}
	}
	return []claudeRow{
		loaded(".claude/settings.json", "-- .claude/settings.json --\n{\"env\": {\"A\": \"b\"}}\n", func(l *config.Loaded) bool { return l.Config.Env["A"] == "b" }),
		loaded(".claude/settings.local.json", "-- .claude/settings.json --\n{\"permissions\": {\"deny\": [\"Bash(x)\"]}}\n-- .claude/settings.local.json --\n{\"env\": {\"A\": \"b\"}, \"permissions\": {\"allow\": [\"Bash(x)\"]}}\n",
			func(l *config.Loaded) bool {
				return l.Config.Env["A"] == "b" && l.Rules().Evaluate("bash", "x").Action == lathe.Deny
			}),
		loaded(".claude/agents/*.md", "-- .claude/agents/a.md --\n---\ndescription: A\n---\nBe A.\n", func(l *config.Loaded) bool { return l.Config.Agents["a"].Prompt == "Be A." }),
		loaded(".claude/commands/*.md", "-- .claude/commands/deep/a.md --\nDo A.\n", func(l *config.Loaded) bool { return l.Config.Commands["a"].Template == "Do A." }),
		loaded(".claude/skills/*/SKILL.md", "-- .claude/skills/a/SKILL.md --\n---\nname: a\ndescription: A\n---\nA\n", func(l *config.Loaded) bool { return len(l.Skills) == 1 && l.Skills[0].Name == "a" }),
		loaded(".mcp.json", "-- .mcp.json --\n{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}\n", func(l *config.Loaded) bool { return len(l.Config.MCP["a"].Command) == 1 }),
		loaded("CLAUDE.md", "-- CLAUDE.md --\nBe kind.\n", func(l *config.Loaded) bool {
			return len(l.Instructions) == 1 && strings.HasSuffix(l.Instructions[0].Path, "CLAUDE.md")
		}),
		loaded("~/.claude/settings.json", "-- ../home/.claude/settings.json --\n{\"env\": {\"A\": \"b\"}}\n", func(l *config.Loaded) bool { return l.Config.Env["A"] == "" }),
	}
}

func settingRows() []claudeRow {
	row := func(name, settings string, works func(*config.Loaded) bool) claudeRow {
		return claudeRow{"Settings", name, func(t *testing.T) {
			l := claudeConfig(t, "-- .claude/settings.json --\n"+settings+"\n-- .mcp.json --\n{\"mcpServers\": {\"db\": {\"command\": \"x\"}}}\n")
			if !works(l) {
				t.Errorf("%s: %s %q", settings, l.Config.Raw, l.Warnings)
			}
		}}
	}
	says := func(permission, pattern string, want lathe.Action) func(*config.Loaded) bool {
		return func(l *config.Loaded) bool { return l.Rules().Evaluate(permission, pattern).Action == want }
	}
	return []claudeRow{
		row("permissions.allow", `{"permissions": {"allow": ["Bash(x)"]}}`, says("bash", "x", lathe.Allow)),
		row("permissions.ask", `{"permissions": {"ask": ["Bash(x)"], "allow": ["Bash"]}}`, says("bash", "x", lathe.Ask)),
		row("permissions.deny", `{"permissions": {"deny": ["Bash(x)"], "ask": ["Bash"], "allow": ["Bash(x)"]}}`, says("bash", "x", lathe.Deny)),
		{"Settings", "permissions.defaultMode", func(t *testing.T) {
			for mode, works := range map[string]func(c config.Config) bool{
				"default": func(c config.Config) bool { return c.PermissionMode == "ask" }, "acceptEdits": func(c config.Config) bool { return c.PermissionMode == "sandbox" },
				"plan": func(c config.Config) bool { return c.DefaultAgent == "plan" }, "dontAsk": func(c config.Config) bool { return c.Unattended == "refuse" },
				"bypassPermissions": func(c config.Config) bool { return c.PermissionMode == "" },
			} {
				if l := claudeConfig(t, "-- .claude/settings.json --\n{\"permissions\": {\"defaultMode\": \""+mode+"\"}}\n"); !works(l.Config) {
					t.Errorf("%s: %s", mode, l.Config.Raw)
				}
			}
		}},
		row("permissions.additionalDirectories", `{"permissions": {"additionalDirectories": ["/srv/docs"]}}`, func(l *config.Loaded) bool {
			return slices.Equal(l.Config.Sandbox.Write, []string{"/srv/docs"}) && l.Rules().Evaluate("external_directory", "/srv/docs/*").Action == lathe.Allow
		}),
		row("env", `{"env": {"A": "b", "LD_PRELOAD": "x"}}`, func(l *config.Loaded) bool {
			return len(l.Config.Env) == 1 && l.Config.Env["A"] == "b" && warned(l, "LD_PRELOAD")
		}),
		row("hooks", `{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`, func(l *config.Loaded) bool { return len(l.Config.Hooks["Stop"]) == 1 }),
		row("disableAllHooks", `{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`, func(l *config.Loaded) bool { return len(l.Config.Hooks) == 0 }),
		row("model", `{"model": "claude-sonnet-4-6"}`, func(l *config.Loaded) bool { return l.Config.Model == "anthropic/claude-sonnet-4-6" }),
		row("disabledMcpjsonServers", `{"disabledMcpjsonServers": ["db"]}`, func(l *config.Loaded) bool { return l.Config.MCP["db"].Enabled != nil && !*l.Config.MCP["db"].Enabled }),
		row("enabledMcpjsonServers", `{"enabledMcpjsonServers": []}`, func(l *config.Loaded) bool {
			return l.Config.MCP["db"].Enabled == nil && warned(l, "enabledMcpjsonServers")
		}),
	}
}

// ruleRows judge calls by translated rules. Each pair is a request, and what a rule that allows and one that denies say of it;
// "" means that the rule does not match.
func ruleRows() []claudeRow {
	row := func(rule string, requests map[[2]string][2]lathe.Action) claudeRow {
		return claudeRow{"Rules", rule, func(t *testing.T) {
			for i, list := range []string{"allow", "deny"} {
				l := claudeConfig(t, "-- .claude/settings.json --\n{\"permissions\": {\""+list+"\": [\""+rule+"\"]}}\n")
				for request, says := range requests {
					want := says[i]
					if want == "" {
						want = lathe.Ask // no rule matches
					}
					pattern := strings.ReplaceAll(request[1], "~", l.Sources[0].Name[:strings.Index(l.Sources[0].Name, "/config/")]+"/home")
					if got := l.Rules().Evaluate(request[0], pattern).Action; got != want {
						t.Errorf("%s %s: %s %s is %s, not %s (%v)", list, rule, request[0], pattern, got, want, l.Config.Permission)
					}
				}
			}
		}}
	}
	type says = [2]lathe.Action
	yes, no := says{lathe.Allow, lathe.Deny}, says{}
	type on = map[[2]string]says
	return []claudeRow{
		row("Bash", on{{"bash", "anything"}: yes, {"read", "x"}: no}),
		row("Bash(npm run build)", on{{"bash", "npm run build"}: yes, {"bash", "npm run build x"}: no}),
		row("Bash(npm test:*)", on{{"bash", "npm test"}: yes, {"bash", "npm test x"}: yes, {"bash", "npm tests"}: {"", lathe.Deny}, {"bash", "npm"}: no}),
		row("Bash(git * main)", on{{"bash", "git push origin main"}: yes, {"bash", "git push"}: no}),
		row("Read(./.env)", on{{"read", ".env"}: yes, {"read", "sub/.env"}: no}),
		row("Read(.env)", on{{"read", ".env"}: yes, {"read", "sub/.env"}: yes, {"read", "x.env"}: no}),
		row("Read(~/.ssh/**)", on{{"external_directory", "~/.ssh/*"}: yes, {"external_directory", "~/.ssh/keys/*"}: yes, {"external_directory", "~/*"}: no}),
		row("Edit(src/**)", on{{"edit", "src/a.go"}: yes, {"edit", "src/b/a.go"}: yes, {"edit", "a.go"}: no, {"edit", "lib/src/a.go"}: no}),
		row("Edit(src/*.ts)", on{{"edit", "src/a.ts"}: {"", lathe.Deny}, {"edit", "src/b/a.ts"}: {"", lathe.Deny}, {"edit", "src/a.js"}: no}),
		row("WebFetch(domain:example.com)", on{
			{"webfetch", "https://example.com/x"}: yes, {"webfetch", "http://example.com"}: yes,
			{"webfetch", "https://example.com.evil.org/"}: no, {"webfetch", "https://evil.org/https://example.com/"}: no,
		}),
		row("mcp__github__search", on{{"github_search", "*"}: yes, {"github_delete", "*"}: no}),
		row("mcp__github", on{{"github_search", "*"}: yes, {"gitlab_search", "*"}: no}),
		row("Task(reviewer)", on{{"task", "reviewer"}: yes, {"task", "other"}: no}),
	}
}

func agentRows() []claudeRow {
	const file = `-- .claude/agents/file-name.md --
---
name: reviewer
description: Reviews code
tools: Read, Grep
disallowedTools: WebFetch
model: claude-opus-4-1
color: red
maxTurns: 7
---
You review.
-- .claude/agents/planner.md --
---
permissionMode: plan
model: sonnet
---
Plan.
-- SCRIPT --
call task {"description":"look","prompt":"Look at it.","subagent_type":"limited"}
finish tool-calls
--
call bash {"command":"touch ran.txt"}
and grep {"pattern":"x"}
finish tool-calls
--
text "Seen."
finish stop
--
text "Done."
finish stop
-- .claude/agents/limited.md --
---
description: Only greps
tools: Grep
---
Look.
`
	row := func(name string, works func(c config.Config) bool) claudeRow {
		return claudeRow{"Agents", name, func(t *testing.T) {
			if l := claudeConfig(t, file); !works(l.Config) {
				t.Errorf("%+v", l.Config.Agents)
			}
		}}
	}
	reviewer := func(works func(a config.Agent) bool) func(config.Config) bool {
		return func(c config.Config) bool { return works(c.Agents["reviewer"]) }
	}
	return []claudeRow{
		row("name", func(c config.Config) bool {
			_, other := c.Agents["file-name"]
			return c.Agents["reviewer"].Prompt != "" && !other
		}),
		row("description", reviewer(func(a config.Agent) bool { return a.Description == "Reviews code" && a.Mode == "subagent" })),
		{"Agents", "tools", func(t *testing.T) {
			w := newHooked(t, file)
			got := w.run("delegate")
			if w.file("ran.txt") != "" || !strings.Contains(got, "Seen.") {
				t.Errorf("an agent used a tool that it does not have: %s", got)
			}
			if sent := w.received(); !strings.Contains(sent, "forbids the tool bash") {
				t.Error(sent)
			}
		}},
		row("disallowedTools", reviewer(func(a config.Agent) bool {
			return lathe.Ruleset(a.Permission).Evaluate("webfetch", "https://x/").Action == lathe.Deny
		})),
		row("model", func(c config.Config) bool {
			return c.Agents["reviewer"].Model == "anthropic/claude-opus-4-1" && c.Agents["planner"].Model == ""
		}),
		row("color", reviewer(func(a config.Agent) bool { return a.Color == "error" })),
		row("maxTurns", reviewer(func(a config.Agent) bool { return a.Steps == 7 })),
		row("permissionMode", func(c config.Config) bool {
			return lathe.Ruleset(c.Agents["planner"].Permission).Evaluate("edit", "x").Action == lathe.Deny
		}),
		row("text", reviewer(func(a config.Agent) bool { return a.Prompt == "You review." })),
	}
}

func commandRows() []claudeRow {
	const file = "-- .claude/commands/fix.md --\n---\ndescription: Fix an issue\nargument-hint: [number]\nmodel: claude-haiku-4-5\nagent: plan\ncontext: fork\nallowed-tools: Bash(git:*)\n---\nFix it.\n" +
		"-- .claude/commands/say.md --\nFirst: $1. Second: $2. All: $ARGUMENTS. Shell: !`echo from-the-shell`. File: @notes.txt\n-- notes.txt --\ntext-of-the-notes\n"
	row := func(name string, works func(c config.Command, l *config.Loaded) bool) claudeRow {
		return claudeRow{"Commands", name, func(t *testing.T) {
			l := claudeConfig(t, file)
			if !works(l.Config.Commands["fix"], l) {
				t.Errorf("%+v %q", l.Config.Commands["fix"], l.Warnings)
			}
		}}
	}
	said := func(name, want string) claudeRow {
		return claudeRow{"Commands", name, func(t *testing.T) {
			w := newHooked(t, file)
			w.open()
			s, err := w.harness.Engine.Create(t.Context(), w.project, lathe.NewSession{Title: "Command"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.harness.Engine.Command(t.Context(), s.ID, lathe.CommandCall{Command: "say", Arguments: "one two"}); err != nil {
				t.Fatal(err)
			}
			if got := w.received(); !strings.Contains(got, want) {
				t.Errorf("%q is missing: %s", want, got)
			}
		}}
	}
	return []claudeRow{
		row("description", func(c config.Command, l *config.Loaded) bool {
			return strings.HasPrefix(c.Description, "Fix an issue") && strings.HasPrefix(l.Config.Commands["say"].Description, "First:")
		}),
		row("argument-hint", func(c config.Command, _ *config.Loaded) bool { return strings.HasSuffix(c.Description, "[number]") }),
		row("model", func(c config.Command, _ *config.Loaded) bool { return c.Model == "anthropic/claude-haiku-4-5" }),
		row("agent", func(c config.Command, _ *config.Loaded) bool { return c.Agent == "plan" }),
		row("context", func(c config.Command, _ *config.Loaded) bool { return c.Subtask != nil && *c.Subtask }),
		row("allowed-tools", func(_ config.Command, l *config.Loaded) bool {
			return len(l.Config.Permission) == 0 && warned(l, "allowed-tools")
		}),
		said("$ARGUMENTS", "All: one two."), said("$1", "First: one."), said("shell snippets", "Shell: from-the-shell"), said("@file", "text-of-the-notes"),
	}
}

func serverRows(r *recorded) []claudeRow {
	const file = `-- .mcp.json --
{"mcpServers": {
  "local": {"command": "npx", "args": ["-y", "${NONE:-pkg}"], "env": {"TOKEN": "${DB_TOKEN}"}, "timeout": 5000},
  "web": {"type": "http", "url": "https://x.example/mcp", "headers": {"X": "${DB_TOKEN}"}}, "plain": {"url": "https://y.example"}, "old": {"type": "sse", "url": "https://z.example"},
  "lacks": {"command": "x", "args": ["${NOT_SET}"]}}}
`
	row := func(name string, works func(map[string]config.MCPServer) bool) claudeRow {
		return claudeRow{"MCP servers", name, func(t *testing.T) {
			if l := claudeConfig(t, file); !works(l.Config.MCP) {
				t.Errorf("%+v", l.Config.MCP)
			}
		}}
	}
	called := func(name, want string) claudeRow {
		return claudeRow{"MCP servers", name, func(t *testing.T) {
			if !strings.Contains(r.results, want) {
				t.Errorf("%q is missing: %s", want, r.results)
			}
		}}
	}
	return []claudeRow{
		called("command", "db_query: rows of x"), called("args", "for nobody"), called("env", "with t0ken and settings-value"),
		row("type", func(m map[string]config.MCPServer) bool {
			return m["local"].Type == "local" && m["web"].Type == "remote" && m["plain"].Type == "remote" && m["old"].Type == "remote"
		}),
		row("url", func(m map[string]config.MCPServer) bool { return m["web"].URL == "https://x.example/mcp" }),
		row("headers", func(m map[string]config.MCPServer) bool { return m["web"].Headers["X"] == "t0ken" }),
		row("timeout", func(m map[string]config.MCPServer) bool { return m["local"].Timeout == 5000 }),
		row("${VAR}", func(m map[string]config.MCPServer) bool {
			return m["local"].Environment["TOKEN"] == "t0ken" && m["lacks"].Enabled != nil && !*m["lacks"].Enabled
		}),
		row("${VAR:-default}", func(m map[string]config.MCPServer) bool { return m["local"].Command[2] == "pkg" }),
	}
}
