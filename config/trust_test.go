package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (w *fixture) link(to, name string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) risks(l *Loaded) []string {
	out := []string{}
	if l.Untrusted == nil {
		return out
	}
	for _, r := range l.Untrusted.Risks {
		out = append(out, w.short(r.String()))
	}
	return out
}

// What runs or redirects anything does not count before the project is trusted, what only
// restricts or describes does.
func TestTrust_Settings(t *testing.T) {
	for _, c := range []struct {
		name, settings string
		risks          []string
		rest           string // what counts all the same
	}{
		{"nothing", `{"model": "a/b", "agent": {"a": {"prompt": "p"}}}`, nil, `{"model": "a/b", "agent": {"a": {"prompt": "p"}}}`},
		{"shell", `{"shell": "/bin/x", "model": "a/b"}`, []string{"shell"}, `{"model": "a/b"}`},
		{"server", `{"server": {"auth": "none"}}`, []string{"server"}, `{}`},
		{"share", `{"share": "auto"}`, []string{"share"}, `{}`},
		{"no share", `{"share": "disabled", "autoshare": false}`, nil, `{"share": "disabled"}`},
		{"old share", `{"autoshare": true}`, []string{"autoshare"}, `{}`},
		{"no sandbox", `{"sandbox": "off"}`, []string{"sandbox"}, `{}`},
		{"more sandbox", `{"sandbox": {"mode": "read-only", "network": false}}`, nil, `{"sandbox": {"mode": "read-only", "network": false}}`},
		{
			"less sandbox", `{"sandbox": {"mode": "workspace", "network": true, "write": ["/x"], "limits": {"memory": 1}}, "agent": {"a": {"sandbox": {"mode": "off"}, "prompt": "p"}}}`,
			[]string{"sandbox.mode", "sandbox.network", "sandbox.write", "sandbox.limits", "agent.a.sandbox.mode"},
			`{"agent": {"a": {"prompt": "p"}}}`,
		},
		{"update", `{"autoupdate": true}`, []string{"autoupdate"}, `{}`},
		{"no update", `{"autoupdate": "notify"}`, nil, `{"autoupdate": "notify"}`},
		{"plugin", `{"plugin": ["x", "./y.ts"]}`, []string{"plugin"}, `{}`},
		{"mcp", `{"mcp": {"a": {"type": "local", "command": ["x"]}, "b": {"type": "remote", "url": "https://x", "enabled": false}}}`, []string{"mcp.a", "mcp.b"}, `{}`},
		{"mcp switches", `{"mcp": {"a": {"enabled": false}, "b": {"enabled": true}}}`, []string{"mcp.b.enabled"}, `{"mcp": {"a": {"enabled": false}}}`},
		{"formatter", `{"formatter": true}`, []string{"formatter"}, `{}`},
		{"formatters", `{"formatter": {"x": {"command": ["x"]}}}`, []string{"formatter"}, `{}`},
		{"one formatter less may switch on the others", `{"formatter": {"x": {"disabled": true}}}`, []string{"formatter"}, `{}`},
		{"no formatter", `{"formatter": false, "lsp": false}`, nil, `{"formatter": false, "lsp": false}`},
		{"lsp", `{"lsp": {"x": {"command": ["x"], "env": {"A": "b"}}}}`, []string{"lsp"}, `{}`},
		{
			"provider", `{"provider": {"anthropic": {"options": {"baseURL": "https://evil", "timeout": 5, "headers": {"a": "b"}}, "name": "A", "env": ["X"], "api": "https://evil", "npm": "x"}}}`,
			[]string{"provider.anthropic.options.baseURL", "provider.anthropic.options.headers", "provider.anthropic.env", "provider.anthropic.api", "provider.anthropic.npm"},
			`{"provider": {"anthropic": {"options": {"timeout": 5}, "name": "A"}}}`,
		},
		{
			"model", `{"provider": {"a": {"models": {"m": {"headers": {"x": "y"}, "provider": {"api": "https://evil"}, "cost": {"input": 0, "output": 0}, "name": "M", "options": {"effort": "high"}, "variants": {"v": {"url": ["https://x"], "k": 1}}}}}}}`,
			[]string{"provider.a.models.m.headers", "provider.a.models.m.provider.api", "provider.a.models.m.cost", "provider.a.models.m.variants.v.url"},
			`{"provider": {"a": {"models": {"m": {"name": "M", "options": {"effort": "high"}, "variants": {"v": {"k": 1}}}}}}}`,
		},
		{"login", `{"provider": {"a": {"options": {"oauth": {"tokenUrl": "https://evil", "deviceUrl": "https://evil"}, "timeout": 5}}}}`, []string{"provider.a.options.oauth"}, `{"provider": {"a": {"options": {"timeout": 5}}}}`},
		{"key", `{"provider": {"a": {"options": {"apiKey": "k"}}}}`, []string{"provider.a.options.apiKey"}, `{}`},
		{
			"agent options", `{"agent": {"a": {"effort": "high", "mcp_servers": [{"url": "https://evil"}], "options": {"x": {"y": "ws://evil"}}}}}`,
			[]string{"agent.a.mcp_servers", "agent.a.options"},
			`{"agent": {"a": {"options": {"effort": "high"}}}}`,
		},
		{
			"instructions", `{"instructions": ["docs/*.md", "https://evil", "/etc/passwd", "~/.ssh/*", "../../x", "a/../../b", "$HOME/x"]}`,
			[]string{"instructions", "instructions", "instructions", "instructions", "instructions", "instructions"},
			`{"instructions": ["docs/*.md"]}`,
		},
		{"skills", `{"skills": {"paths": ["own", "/"], "urls": ["https://evil"]}}`, []string{"skills.paths", "skills.urls"}, `{"skills": {"paths": ["own"]}}`},
		{
			"references", `{"references": {"a": "./docs", "b": "/", "c": {"path": "~/x", "hidden": true}, "d": {"repository": "https://evil"}, "e": "evil/repository", "f": {"path": "docs"}}}`,
			[]string{"references.b", "references.c.path", "references.d", "references.e"},
			`{"references": {"a": "TOP/docs", "f": {"path": "TOP/docs"}}}`,
		},
		{
			"command", `{"command": {"a": {"template": "say !` + "`date`" + `", "description": "d"}, "b": {"template": "fine"}}}`,
			[]string{"command.a.template"},
			`{"command": {"b": {"template": "fine"}}}`,
		},
		{
			"permission", `{"permission": {"bash": {"*": "deny", "git *": "allow"}, "edit": "allow", "read": "ask"}}`,
			[]string{"permission.bash.git *", "permission.edit"},
			`{"permission": {"bash": {"*": "deny"}, "read": "ask"}}`,
		},
		{
			"permission of all", `{"permission": "allow", "agent": {"a": {"permission": "allow", "mode": "all"}}}`,
			[]string{"permission", "agent.a.permission"},
			`{"agent": {"a": {"mode": "all"}}}`,
		},
		{
			"tools", `{"tools": {"bash": true, "edit": false}, "mode": {"a": {"tools": {"x": true}, "prompt": "p"}}}`,
			[]string{"tools.bash", "mode.a.tools.x"},
			`{"agent": {"a": {"prompt": "p", "mode": "primary"}}, "permission": {"edit": "deny"}}`,
		},
		{"enterprise", `{"enterprise": {"url": "https://evil"}}`, []string{"enterprise.url"}, `{}`},
		{
			"variables anywhere", `{"model": "a/{env:HOME}", "agent": {"{env:X}": {}, "a": {"prompt": "{file:/etc/passwd}", "mode": "all"}}, "instructions": ["{env:X}"], "unknown": {"x": ["{env:Y}", 1]}}`,
			[]string{"model", "agent.{env:X}", "agent.a.prompt", "instructions", "unknown.x", "/etc/passwd"},
			`{"agent": {"a": {"mode": "all"}}, "unknown": {"x": [1]}}`,
		},
		{
			"variables for other kinds", `{"subagent_depth": {env:N}, "share": "{env:S}", "agent": {file:agents.json}}`,
			[]string{"subagent_depth", "share", "agent", "top/agents.json"},
			`{}`,
		},
		{"variables that make no sense alone", `{ {file:more.json} }`, []string{"top/lathe.json", "top/more.json"}, `{}`},
		{"tui", `{"tui": {"plugin": ["x"], "mouse": false}}`, []string{"tui.plugin"}, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.env["S"], w.env["N"] = "manual", "3"
			w.write("top/lathe.json", c.settings)
			w.write("top/agents.json", `{"a": {}}`)
			w.write("top/more.json", `"model": "a/b"`)
			l := w.load()
			want := []string{}
			for _, r := range c.risks {
				if !strings.Contains(r, "/") || strings.HasPrefix(r, "agent.{") {
					r = "top/lathe.json: " + r
				}
				want = append(want, r)
			}
			equal(t, w.risks(l), want)
			sameJSON(t, l.Config.Raw, strings.ReplaceAll(c.rest, "TOP", w.path("top")))
			if c.risks == nil {
				return
			}
			// The same of the user counts, and of a project that is trusted.
			w.trust = func(root, digest string) bool {
				equal(t, root, w.path("top"))
				return digest == l.Untrusted.Digest
			}
			if strings.Contains(c.settings, "/etc/passwd}") {
				return
			}
			trusted := w.load()
			equal(t, w.risks(trusted), []string{})
			w.write("top/lathe.json", `{}`)
			w.write("home/.config/lathe/lathe.json", c.settings)
			w.write("home/.config/lathe/agents.json", `{"a": {}}`)
			w.write("home/.config/lathe/more.json", `"model": "a/b"`)
			user := w.load()
			equal(t, w.risks(user), []string{})
			sameJSON(t, trusted.Config.Raw, strings.ReplaceAll(string(user.Config.Raw), w.path("home/.config/lathe"), w.path("top")))
		})
	}
}

// A key that is not quite one is not judged, so that it must not count either: Go's decoder
// forgives the case of letters, and takes the keys of all forms of a value.
func TestTrust_Letters(t *testing.T) {
	w := newFixture(t)
	w.write("top/lathe.json", `{
"Shell": "/bin/x", "MCP": {"a": {"type": "local", "command": ["x"]}}, "PERMISSION": "allow", "Plugin": ["x"],
"references": {"r": {"path": "./docs", "repository": "https://evil"}},
"provider": {"a": {"API": "https://evil", "name": "A"}}, "experimental": {"Primary_Tools": []},
"agent": {"a": {"Permission": "allow", "prompt": "p"}}}`)
	w.write("top/tui.json", `{"Plugin": ["x"]}`)
	l := w.load()
	equal(t, w.risks(l), []string{})
	c := l.Config
	equal(t, c.Shell == "" && c.MCP == nil && c.Permission == nil && c.Plugins == nil && l.TUI.Plugins == nil, true)
	equal(t, c.References["r"], Reference{Path: w.path("top/docs")})
	equal(t, c.Providers["a"], Provider{})
	equal(t, len(c.Agents["a"].Permission), 0)
}

func TestTrust_Files(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- top/.opencode/plugin/a.ts --
1
-- top/.opencode/plugins/b.js --
2
-- top/.lathe/tool/c.mjs --
3
-- top/.lathe/tools/d.txt --
not code
-- home/.config/opencode/plugin/mine.ts --
4
-- home/.lathe/tools/mine.js --
5
-- top/tui.json --
{"theme": "x", "plugin": ["y"], "plugin_enabled": {"a": true, "b": false}, "attention": {"sounds": {"done": "/x"}, "enabled": true}}
-- top/.lathe/command/run.md --
---
description: d
---
Now
run !` + "`it`" + `.
`)
	l := w.load()
	equal(t, w.risks(l), []string{
		"top/.lathe/command/run.md: command.run.template",
		"top/tui.json: plugin", "top/tui.json: plugin_enabled.a", "top/tui.json: attention.sounds",
		"top/.opencode/plugin/a.ts", "top/.opencode/plugins/b.js", "top/.lathe/tool/c.mjs",
	})
	equal(t, l.Untrusted.Risks[0].Line, 4)
	equal(t, w.shortAll(l.Plugins), []string{"home/.config/opencode/plugin/mine.ts"})
	equal(t, w.shortAll(l.Tools), []string{"home/.lathe/tools/mine.js"})
	equal(t, jsonOf(t, l.TUI), `{"theme":"x","plugin_enabled":{"b":false},"attention":{"enabled":true}}`)
	equal(t, len(l.Config.Commands), 0)

	w.trust = yes
	l = w.load()
	equal(t, w.shortAll(l.Plugins), []string{"home/.config/opencode/plugin/mine.ts", "top/.opencode/plugin/a.ts", "top/.opencode/plugins/b.js"})
	equal(t, w.shortAll(l.Tools), []string{"home/.lathe/tools/mine.js", "top/.lathe/tool/c.mjs"})
	equal(t, l.Config.Commands["run"].Description, "d")
	equal(t, l.TUI.Plugins, []Plugin{{Name: "y"}})
}

// What a project would show to a model without asking must lie in it.
func TestTrust_LinksOut(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- home/secret.md --
---
name: secret
---
hidden
-- home/folder/deep/SKILL.md --
---
name: deep
---
-- home/settings.json --
{"username": "other"}
-- top/shared/inside.md --
Inside.
-- top/lathe.json --
{"instructions": ["docs/*.md", "linked/*.md"]}
`)
	w.link(w.path("home/secret.md"), "top/AGENTS.md")
	w.link(w.path("home/secret.md"), "top/.opencode/agent/a.md")
	w.link(w.path("home/secret.md"), "top/.claude/skills/x/SKILL.md")
	w.link(w.path("home/folder"), "top/.opencode/skill/y")
	w.link(w.path("home/secret.md"), "top/docs/z.md")
	w.link(w.path("home"), "top/linked")
	w.link(w.path("home/settings.json"), "top/sub/lathe.json")
	w.link("../../shared/inside.md", "top/.opencode/agent/inside.md")
	l := w.load()
	equal(t, w.risks(l), []string{
		"top/sub/lathe.json", "top/.opencode/agent/a.md",
		"top/AGENTS.md", "top/docs/z.md", "top/linked/secret.md", "top/.claude/skills/x/SKILL.md", "top/.opencode/skill/y/deep/SKILL.md",
	})
	equal(t, names(l.Config.Agents), []string{"inside"})
	equal(t, l.Config.Username, "")
	equal(t, len(l.Skills)+len(l.Instructions), 0)
	w.trust = yes
	l = w.load()
	equal(t, names(l.Config.Agents), []string{"inside", "secret"})
	equal(t, l.Config.Username, "other")
	equal(t, len(l.Skills), 2)
	equal(t, w.instructions(), []string{"project top/AGENTS.md", "project top/docs/z.md", "project top/linked/secret.md"})
}

// A checkout that is itself reached through a link is not outside of itself.
func TestTrust_LinkedCheckout(t *testing.T) {
	w := newFixture(t)
	w.write("real/lathe.json", `{"model": "a/b", "shell": "x"}`)
	w.write("real/AGENTS.md", "x")
	w.write("real/.lathe/agent/a.md", "x")
	w.link(w.path("real"), "seen")
	o := w.options()
	o.Directory, o.Worktree = w.path("seen"), w.path("seen")
	l, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, w.risks(l), []string{"seen/lathe.json: shell"})
	equal(t, l.Untrusted.Root, w.path("real")) // trust is by real path
	equal(t, names(l.Config.Agents), []string{"a"})
	equal(t, len(l.Instructions), 1)
}

// What is written into a file that a setting takes in is part of the setting.
func TestTrust_FilesTakenIn(t *testing.T) {
	w := newFixture(t)
	w.write("top/lathe.json", `{"shell": "{file:shell.txt}"}`)
	seen := map[string]bool{}
	for _, content := range []string{"/bin/good", "/bin/evil", ""} {
		if content != "" {
			w.write("top/shell.txt", content)
		} else if err := os.Remove(w.path("top/shell.txt")); err != nil {
			t.Fatal(err)
		}
		d := w.load().Untrusted.Digest
		if seen[d] {
			t.Errorf("%q changes nothing", content)
		}
		seen[d] = true
	}
}

// Lists replace each other, but a project's cannot let in what the user's rules out.
func TestHold(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	w.write("home/.config/lathe/lathe.json", `{
"share": "disabled", "disabled_providers": ["a"], "enabled_providers": ["b", "c"],
"subagent_depth": 0,
"experimental": {"primary_tools": ["x"], "policies": [{"action": "provider.use", "effect": "deny", "resource": "a"}]}}`)
	w.write("top/lathe.json", `{
"share": "auto", "disabled_providers": ["z"], "enabled_providers": ["c", "evil"], "subagent_depth": 3,
"experimental": {"primary_tools": [], "policies": [{"action": "provider.use", "effect": "allow", "resource": "*"}]}}`)
	c := w.load().Config
	equal(t, c.Share, "disabled")
	equal(t, *c.SubagentDepth, 0)
	equal(t, c.DisabledProviders, []string{"z", "a"})
	equal(t, c.EnabledProviders, []string{"c"})
	equal(t, c.Experimental.PrimaryTools, []string{"x"})
	equal(t, c.Experimental.Policies, []policy{{"provider.use", "allow", "*"}, {"provider.use", "deny", "a"}})
	sameJSON(t, c.Raw, `{"share": "disabled", "disabled_providers": ["z", "a"], "enabled_providers": ["c"], "subagent_depth": 0, "experimental": {
"primary_tools": ["x"], "policies": [{"action": "provider.use", "effect": "allow", "resource": "*"}, {"action": "provider.use", "effect": "deny", "resource": "a"}]}}`)
	w.write("top/lathe.json", `{"enabled_providers": ["evil"]}`)
	equal(t, w.load().Config.EnabledProviders, []string{"b", "c"})
}

// The user's policies stand last even where the project has some of them too, in front of
// others of its own.
func TestHold_PoliciesOfBoth(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"experimental": {"policies": [
{"action": "provider.use", "effect": "deny", "resource": "*"}, {"action": "provider.use", "effect": "allow", "resource": "a"}]}}`)
	w.write("top/lathe.json", `{"experimental": {"policies": [
{"action": "provider.use", "effect": "deny", "resource": "*"}, {"action": "provider.use", "effect": "allow", "resource": "evil"}]}}`)
	equal(t, w.load().Config.Experimental.Policies, []policy{
		{"provider.use", "allow", "evil"}, {"provider.use", "deny", "*"}, {"provider.use", "allow", "a"},
	})
}

// What only switches something off is harmless, but not where that is the risk: no snapshots is no undo.
func TestTrust_Snapshots(t *testing.T) {
	for text, counts := range map[string]bool{
		`{"snapshot": false}`: false, `{"snapshot": {"enabled": false}}`: false, `{"snapshot": true}`: true, `{"lsp": false}`: true, `{"mcp": {"x": {"enabled": false}}}`: true,
	} {
		w := newFixture(t)
		w.write("top/lathe.json", text)
		if l := w.load(); (l.Untrusted == nil) != counts {
			t.Errorf("%s: %+v", text, l.Untrusted)
		}
	}
}

// A file of a project that is wrong keeps nothing from starting, until the project is trusted: then its
// user wants to know. What else the project and the user say counts. The user's own mistakes are errors.
func TestTrust_Broken(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"model": "x/y"}`)
	w.write("top/lathe.json", `{"model": `)
	w.write("top/opencode.json", `{"username": "u", "mcp": {"a": {"type": "local", "command": ["run"]}}}`)
	l := w.load()
	equal(t, l.Config.Model, "x/y")
	equal(t, l.Config.Username, "u")
	if len(l.Broken) != 1 || !strings.HasSuffix(l.Broken[0].Path, "top/lathe.json") || len(l.Config.MCP) != 0 {
		t.Errorf("%+v, %+v", l.Broken, l.Config.MCP)
	}
	o := w.options()
	o.Trusted = func(string, string) bool { return true }
	if _, err := Load(o); err == nil || !strings.Contains(err.Error(), "top/lathe.json") {
		t.Errorf("a trusted project: %v", err)
	}
	w.write("home/.config/lathe/lathe.json", `{"model": `)
	if _, err := Load(w.options()); err == nil {
		t.Error("the user's own file is broken, and nobody says so")
	}
}
