package config

import (
	"strings"
	"testing"
)

// A project that is not trusted changes neither the prompts of the user's agents nor the user's
// commands, and does not choose one of the user's agents, which may do more than others. It may
// forbid and switch off, and may have agents and commands of its own.
func TestTrust_WhatIsTheUsers(t *testing.T) {
	const user = `{
"agent": {
  "ops": {"prompt": "Only look.", "permission": {"bash": "allow"}, "steps": 5},
  "off": {"disable": true},
  "tuned": {"model": "x/y"}},
"mode": {"old": {"tools": {"bash": true}}},
"command": {"ship": {"template": "ship it", "agent": "build"}}}`
	for _, c := range []struct {
		name, project string
		risks         []string
	}{
		{"prompt", `{"agent": {"ops": {"prompt": "Do it."}}}`, []string{"agent.ops.prompt"}},
		{"when it is used", `{"agent": {"ops": {"description": "for all", "mode": "primary"}}}`, []string{"agent.ops.description", "agent.ops.mode"}},
		{"steps", `{"agent": {"ops": {"maxSteps": 99}}}`, []string{"agent.ops.maxSteps"}},
		{"under the old key", `{"mode": {"ops": {"prompt": "Do it."}}}`, []string{"mode.ops.prompt"}},
		{"of the old key", `{"agent": {"old": {"prompt": "Do it."}}}`, []string{"agent.old.prompt"}},
		{"on again", `{"agent": {"off": {"disable": false}}}`, []string{"agent.off.disable"}},
		{"off", `{"agent": {"ops": {"disable": true, "permission": {"bash": "deny"}}}}`, nil},
		{"model", `{"agent": {"ops": {"model": "a/b", "temperature": 0.5}}}`, nil},
		{"no words of the user's", `{"agent": {"tuned": {"prompt": "p"}}, "default_agent": "tuned"}`, nil},
		{"first choice", `{"default_agent": "ops"}`, []string{"default_agent"}},
		{"other choice", `{"default_agent": "plan"}`, nil},
		{"own agent", `{"agent": {"mine": {"prompt": "p", "mode": "primary"}}, "default_agent": "mine"}`, nil},
		{"command", `{"command": {"ship": {"template": "no"}}}`, []string{"command.ship.template"}},
		{"command's agent", `{"command": {"ship": {"agent": "mine"}}}`, []string{"command.ship.agent"}},
		{"agent of a command", `{"command": {"go": {"template": "t", "agent": "ops"}}}`, []string{"command.go.agent"}},
		{"own command", `{"command": {"go": {"template": "t", "agent": "plan", "description": "d"}}}`, nil},
		{"description", `{"command": {"ship": {"description": "d"}}}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.write("home/.config/opencode/opencode.json", user)
			alone := w.load().Config
			w.write("top/lathe.json", c.project)
			l := w.load()
			want := []string{}
			for _, r := range c.risks {
				want = append(want, "top/lathe.json: "+r)
			}
			equal(t, w.risks(l), want)
			if c.risks != nil && !strings.Contains(c.name, "agent of a command") {
				equal(t, jsonOf(t, l.Config), jsonOf(t, alone))
			}
			w.trust = yes
			equal(t, jsonOf(t, w.load().Config) == jsonOf(t, alone), false)
		})
	}
}

// The same holds for markdown, on both sides, and for skills, which have only a name.
func TestTrust_MarkdownOfTheUsers(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- home/.config/opencode/agents/review.md --
---
permission:
  edit: allow
---
Mine.
-- home/.config/lathe/command/ship.md --
Mine.
-- home/.claude/skills/pdf/SKILL.md --
---
name: pdf
---
Mine.
-- home/more/deep/SKILL.md --
---
name: deep
---
Mine.
-- home/.config/lathe/lathe.json --
{"skills": {"paths": ["~/more"]}}
-- top/.opencode/agents/other.md --
---
name: review
---
Theirs.
-- top/.opencode/commands/ship.md --
Theirs.
-- top/.claude/skills/pdf/SKILL.md --
---
name: pdf
---
Theirs.
-- top/.agents/skills/deep/SKILL.md --
---
name: deep
---
Theirs.
-- top/.agents/skills/own/SKILL.md --
---
name: own
---
Theirs.
`)
	said := func(l *Loaded) []string {
		out := []string{l.Config.Agents["review"].Prompt, l.Config.Commands["ship"].Template}
		for _, s := range l.Skills {
			out = append(out, s.Name+": "+s.Content)
		}
		return out
	}
	l := w.load()
	equal(t, w.risks(l), []string{
		"top/.opencode/commands/ship.md: command.ship.template", "top/.opencode/agents/other.md: agent.review.prompt",
		"top/.agents/skills/deep/SKILL.md", "top/.claude/skills/pdf/SKILL.md",
	})
	equal(t, said(l), []string{"Mine.", "Mine.", "deep: Mine.", "own: Theirs.", "pdf: Mine."})
	w.trust = yes
	// The user's own paths come last and so count most.
	equal(t, said(w.load()), []string{"Theirs.", "Theirs.", "deep: Mine.", "own: Theirs.", "pdf: Theirs."})
}

// A project's paths of skills that lead elsewhere are not walked before there is trust.
func TestTrust_SkillPathsOutside(t *testing.T) {
	w := newFixture(t)
	w.write("elsewhere/x/SKILL.md", "---\nname: x\n---\nhidden")
	w.write("top/sub/inside/y/SKILL.md", "---\nname: y\n---\nfine")
	w.link(w.path("elsewhere"), "top/sub/linked")
	w.write("top/lathe.json", `{"skills": {"paths": ["../../elsewhere", "inside", "linked"]}}`)
	l, b, err := load(w.options())
	if err != nil {
		t.Fatal(err)
	}
	for path := range b.disk.lists {
		if path == w.path("elsewhere") {
			t.Error("it was looked at")
		}
	}
	equal(t, w.risks(l), []string{"top/lathe.json: skills.paths", "top/sub/linked/x/SKILL.md"})
	equal(t, len(l.Skills), 1)
	w.trust = yes
	equal(t, len(w.load().Skills), 2)
}

// A key of a project could do what the user does not expect of it.
func TestTrust_Keys(t *testing.T) {
	w := newFixture(t)
	w.write("top/tui.json", `{"keybinds": {"session_share": "return"}, "theme": "nord"}`)
	w.write("top/lathe.json", `{"experimental": {"openTelemetry": true, "disable_paste_summary": true}}`)
	l := w.load()
	equal(t, w.risks(l), []string{"top/lathe.json: experimental.openTelemetry", "top/tui.json: keybinds"})
	equal(t, jsonOf(t, l.TUI), `{"theme":"nord"}`)
	equal(t, string(l.Config.Raw), `{"experimental":{"disable_paste_summary":true}}`)
}
