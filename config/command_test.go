package config

import (
	"testing"

	"github.com/lathe-agent/lathe"
)

// What one source leaves out of a command another may have; what none has is reported.
func TestCommands_InHalves(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- home/.config/lathe/command/check.md --
---
description: Runs the checks
---
Check it.
-- top/lathe.json --
{
  "command": {
    "check": {"model": "a/small"},
    "review": {"subtask": true}
  }
}
-- top/.lathe/command/empty.md --
---
description: says nothing
---
`)
	l := w.load()
	yes := true
	equal(t, l.Config.Commands, map[string]Command{
		"check":  {Template: "Check it.", Description: "Runs the checks", Model: "a/small"},
		"review": {Subtask: &yes},
		"empty":  {Description: "says nothing"},
	})
	equal(t, w.warnings(l), []string{`top/lathe.json:4:15: command.review: has no "template", so it has an effect only if a built-in command has this name`})
}

// A command of an untrusted project that runs something goes whole: its rest would change
// one of the same name below it.
func TestCommands_GoWhole(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"command": {"a": {"template": "mine", "description": "mine"}}}`)
	w.write("top/lathe.json", `{"command": {"a": {"template": "!`+"`x`"+`", "description": "theirs", "model": "x/y"}}}`)
	equal(t, w.load().Config.Commands, map[string]Command{"a": {Template: "mine", Description: "mine"}})
}

// What is fetched or searched for can be distinguished by rules.
func TestPermission_PatternsOfAddresses(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"permission": {"webfetch": {"*": "ask", "https://go.dev/*": "allow"}, "websearch": {"*": "deny"}, "codesearch": "ask"}}`)
	r := w.load().Rules()
	for pattern, want := range map[string]lathe.Action{"https://go.dev/doc": lathe.Allow, "https://evil/go.dev/": lathe.Ask} {
		equal(t, r.Evaluate("webfetch", pattern).Action, want)
	}
	equal(t, r.Evaluate("websearch", "x").Action, lathe.Deny)
}

// Variables force a setting, whichever source says otherwise; what is off stays off.
func TestLoad_VariablesOfSettings(t *testing.T) {
	for _, c := range []struct{ name, settings, want string }{
		{"AUTO_SHARE", `{}`, `{"share": "auto"}`},
		{"AUTO_SHARE", `{"share": "manual"}`, `{"share": "auto"}`},
		{"AUTO_SHARE", `{"share": "disabled"}`, `{"share": "disabled"}`},
		{"DISABLE_SHARE", `{"share": "auto"}`, `{"share": "disabled"}`},
		{"DISABLE_AUTOUPDATE", `{"autoupdate": "notify"}`, `{"autoupdate": false}`},
		{"DISABLE_AUTOCOMPACT", `{"compaction": {"auto": true}}`, `{"compaction": {"auto": false}}`},
		{"DISABLE_PRUNE", `{}`, `{"compaction": {"prune": false}}`},
	} {
		for _, prefix := range []string{"OPENCODE_", "LATHE_"} {
			t.Run(prefix+c.name, func(t *testing.T) {
				w := newFixture(t)
				w.trust = yes
				w.write("top/lathe.json", c.settings)
				w.env[prefix+c.name] = "true"
				sameJSON(t, w.load().Config.Raw, c.want)
			})
		}
	}
	w := newFixture(t)
	w.write("home/.config/lathe/tui.json", `{"mouse": true}`)
	w.env["OPENCODE_DISABLE_MOUSE"] = "1"
	equal(t, *w.load().TUI.Mouse, false)
}
