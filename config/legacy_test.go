package config

import (
	"testing"

	"github.com/lathe-agent/lathe"
)

// Raw is what GET /config shows: all sources, old forms rewritten, keys in their order.
func TestLoad_Raw(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	w.files(`
-- home/.config/opencode/opencode.json --
{
  "$schema": "https://opencode.ai/config.json",
  "theme": "tokyonight",
  "layout": "stretch",
  "autoshare": true,
  "model": "anthropic/claude",
  "tools": {"write": false, "bash": true, "mymcp_*": false},
  "permission": {"edit": {"src/**": "allow"}, "webfetch": "ask"},
  "plugin": ["a@1", "./mine.ts"],
  "instructions": ["one.md"],
  "reference": {"docs": "./docs", "both": "old"},
  "references": {"both": "new"},
  "mode": {"plan": {"model": "x/plan", "tools": {"bash": false}}},
  "agent": {"plan": {"temperature": 0.5, "model": "x/agent"}, "quick": {"maxSteps": 5, "reasoningEffort": "low", "options": {"a": null}}},
  "later": {"version": [1, null]}
}
-- top/opencode.json --
{
  "permission": {"webfetch": "deny", "bash": {"rm *": "deny"}},
  "plugin": ["a@2", ["b", {"x": 1}]],
  "instructions": ["two.md", "one.md"],
  "agent": {"quick": {"steps": 7, "prompt": "Be quick."}},
  "autoupdate": "notify", "subagent_depth": 2.0
}
`)
	l := w.load()
	sameJSON(t, []byte(w.short(string(l.Config.Raw))), `{
  "$schema": "https://opencode.ai/config.json",
  "model": "anthropic/claude",
  "permission": {
    "edit": {"*": "deny", "src/**": "allow"},
    "bash": {"*": "allow", "rm *": "deny"},
    "mymcp_*": "deny",
    "webfetch": "deny"
  },
  "plugin": ["file://home/.config/opencode/mine.ts", "a@2", ["b", {"x": 1}]],
  "instructions": ["one.md", "two.md"],
  "references": {"both": "new", "docs": "home/.config/opencode/docs"},
  "agent": {
    "plan": {"temperature": 0.5, "model": "x/plan", "permission": {"bash": "deny"}, "mode": "primary"},
    "quick": {"options": {"a": null, "reasoningEffort": "low"}, "steps": 7, "prompt": "Be quick."}
  },
  "later": {"version": [1, null]},
  "autoupdate": "notify",
  "subagent_depth": 2,
  "share": "auto"
}`)
	equal(t, l.TUI.Theme, "tokyonight")
	equal(t, jsonOf(t, l.Config.Agents["quick"].Options), `{"a":null,"reasoningEffort":"low"}`)
}

func TestLoad_DeprecatedReported(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{
"mode": {"a": {"maxSteps": 3, "tools": {"x": true}}}, "tools": {}, "reference": {}, "autoshare": false,
"layout": "auto", "theme": "x", "keybinds": {}, "tui": {"scroll_speed": 3}}`)
	equal(t, w.warnings(w.load()), []string{
		"home/.config/lathe/lathe.json:2:1: mode: is deprecated: use agent",
		"home/.config/lathe/lathe.json:2:16: mode.a.maxSteps: is deprecated: use steps",
		"home/.config/lathe/lathe.json:2:31: mode.a.tools: is deprecated: use permission",
		"home/.config/lathe/lathe.json:2:55: tools: is deprecated: use permission",
		"home/.config/lathe/lathe.json:2:68: reference: is deprecated: use references",
		"home/.config/lathe/lathe.json:2:85: autoshare: is deprecated: use \"share\": \"auto\"",
		"home/.config/lathe/lathe.json:3:1: layout: is deprecated: it has no effect",
		"home/.config/lathe/lathe.json:3:19: theme: is deprecated: it belongs in tui.json",
		"home/.config/lathe/lathe.json:3:33: keybinds: is deprecated: it belongs in tui.json",
		"home/.config/lathe/lathe.json:3:49: tui: is deprecated: it belongs in tui.json",
	})
}

func TestLoad_UnknownKeysReported(t *testing.T) {
	w := newFixture(t)
	w.write("top/lathe.json", `{"modle": "x/y", "compaction": {"prunes": true}, "agent": {"a": {"any": 1}}, "zzz": 1, "zzz": 2}`)
	l := w.load()
	equal(t, w.warnings(l), []string{
		`top/lathe.json:1:88: "zzz" appears twice; the last one wins`,
		`top/lathe.json:1:2: modle: is not a config key and has no effect; did you mean "model"?`,
		`top/lathe.json:1:33: compaction.prunes: is not a config key and has no effect; did you mean "prune"?`,
		`top/lathe.json:1:88: zzz: is not a config key and has no effect`,
	})
	sameJSON(t, l.Config.Raw, `{"modle": "x/y", "compaction": {"prunes": true}, "agent": {"a": {"options": {"any": 1}}}, "zzz": 2}`)
}

// A null says nothing where a value is expected, so that a project cannot undo with it
// what the user has set.
func TestLoad_Null(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"permission": {"bash": "ask"}, "model": "x/y", "agent": {"a": {"prompt": "p"}}}`)
	w.write("top/lathe.json", `{"permission": null, "model": null, "agent": {"a": {"prompt": null}, "b": null}, "compaction": {"auto": null}}`)
	sameJSON(t, w.load().Config.Raw, `{"permission": {"bash": "ask"}, "model": "x/y", "agent": {"a": {"prompt": "p"}}, "compaction": {}}`)
	w.write("top/lathe.json", `{"permission": {"bash": null}, "instructions": ["a", null]}`)
	equal(t, w.fail().Problems[0].Message, "must be a string, not null")
}

func TestLoad_Permission(t *testing.T) {
	rules := func(all ...string) (out lathe.Ruleset) {
		for i := 0; i < len(all); i += 3 {
			out = append(out, lathe.Rule{Permission: all[i], Pattern: all[i+1], Action: lathe.Action(all[i+2])})
		}
		return out
	}
	for _, c := range []struct {
		name        string
		user, later string
		want        lathe.Ruleset
	}{
		{"one action", `"ask"`, `{}`, rules("*", "*", "ask")},
		{
			"both shapes in the order written", `{"zed": "deny", "bash": {"z*": "ask", "a*": "allow", "*": "deny"}, "*": "ask", "edit": "allow"}`, `{}`,
			rules("zed", "*", "deny", "bash", "z*", "ask", "bash", "a*", "allow", "bash", "*", "deny", "*", "*", "ask", "edit", "*", "allow"),
		},
		{
			"a key keeps its first place", `{"*": "ask", "bash": "allow"}`, `{"edit": "deny", "*": "deny"}`,
			rules("*", "*", "deny", "bash", "*", "allow", "edit", "*", "deny"),
		},
		{
			"a pattern too", `{"bash": {"b": "ask", "a": "ask"}}`, `{"bash": {"c": "deny", "b": "deny"}}`,
			rules("bash", "b", "deny", "bash", "a", "ask", "bash", "c", "deny"),
		},
		{
			"an action replaces patterns", `{"bash": {"*": "ask", "git *": "allow"}, "edit": "ask"}`, `{"bash": "deny"}`,
			rules("bash", "*", "deny", "edit", "*", "ask"),
		},
		{
			"patterns add to an action", `{"bash": "ask", "edit": "ask"}`, `{"bash": {"git *": "deny"}}`,
			rules("bash", "*", "ask", "bash", "git *", "deny", "edit", "*", "ask"),
		},
		{
			"home", `{"external_directory": {"~/a/*": "allow", "$HOME/b": "ask", "~": "deny", "$HOME": "ask", "x/~/y": "deny", "~x": "ask"}, "~": "deny"}`, `{}`,
			rules("external_directory", "/home/a/*", "allow", "external_directory", "/home/b", "ask", "external_directory", "/home", "deny",
				"external_directory", "/home", "ask", "external_directory", "x/~/y", "deny", "external_directory", "~x", "ask", "~", "*", "deny"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.write("home/.config/lathe/lathe.json", `{"permission": `+c.user+`, "agent": {"a": {"permission": `+c.user+`}}}`)
			w.write("top/lathe.json", `{"permission": `+c.later+`, "agent": {"a": {"permission": `+c.later+`}}}`)
			l := w.load()
			for i := range c.want { // the home of this test lies elsewhere
				if p := c.want[i].Pattern; len(p) >= 5 && p[:5] == "/home" {
					c.want[i].Pattern = w.path(p[1:])
				}
			}
			equal(t, lathe.Ruleset(l.Config.Permission), c.want)
			equal(t, lathe.Ruleset(l.Config.Agents["a"].Permission), c.want)
		})
	}
}

// survey is the old name of overview: it still works, and a later source wins under either name.
func TestLoad_OldOverviewKey(t *testing.T) {
	for name, c := range map[string]struct {
		user, project string
		want          bool
	}{
		"old":          {`{"survey": false}`, `{}`, false},
		"both":         {`{"survey": true, "overview": false}`, `{}`, false},
		"old over new": {`{"overview": true}`, `{"survey": false}`, false},
		"new over old": {`{"survey": false}`, `{"overview": true}`, true},
		"only the new": {`{"overview": false}`, `{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.write("home/.config/lathe/lathe.json", c.user)
			w.write("top/lathe.json", c.project)
			if got := w.load().Config.Overview; got == nil || *got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
