package config

import (
	"fmt"
	"strings"
	"testing"
)

// benchFixture is a project with 20 agents, 20 commands and 5 settings files.
func benchFixture(b testing.TB) *fixture {
	w := newFixture(b)
	prompt := strings.Repeat("Read the code before you change it, and say why.\n", 20)
	for i := range 20 {
		w.write(fmt.Sprintf("top/.opencode/agent/agent%02d.md", i), fmt.Sprintf(`---
description: "Agent %d: does one thing"
mode: subagent
temperature: 0.%d
permission:
  bash:
    "git *": ask
    "*": deny
  edit: deny
---
%s`, i, i, prompt))
		w.write(fmt.Sprintf("top/.opencode/command/command%02d.md", i), fmt.Sprintf("---\ndescription: Command %d\nagent: build\n---\nDo $1.\n%s", i, prompt))
	}
	settings := `{
  // What most people have.
  "$schema": "https://opencode.ai/config.json",
  "model": "anthropic/claude-sonnet-4-5",
  "permission": {"bash": {"*": "ask", "git status": "ask", "rm *": "deny"}, "edit": "ask"},
  "provider": {"local": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://localhost:1234/v1"}, "models": {"m": {"name": "M"}}}},
  "mcp": {"a": {"type": "local", "command": ["npx", "-y", "a"]}, "b": {"type": "remote", "url": "https://example.org/mcp"}},
  "instructions": ["CONTRIBUTING.md", "docs/*.md"],
  "agent": {"build": {"temperature": 0.3}, "plan": {"permission": {"edit": "deny"}}},
}
`
	for _, name := range []string{
		"home/.config/opencode/opencode.json", "home/.config/lathe/lathe.jsonc", "top/opencode.json", "top/sub/lathe.json", "top/.opencode/opencode.jsonc",
	} {
		w.write(name, settings)
	}
	w.write("top/AGENTS.md", prompt)
	w.write("top/CONTRIBUTING.md", prompt)
	w.write("top/docs/a.md", prompt)
	return w
}

func BenchmarkLoad(b *testing.B) {
	for name, trust := range map[string]func(string, string) bool{"Trusted": yes, "Untrusted": nil} {
		b.Run(name, func(b *testing.B) {
			w := benchFixture(b)
			w.trust = trust
			o := w.options()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoader_Unchanged(b *testing.B) {
	w := benchFixture(b)
	o := w.options()
	l := NewLoader()
	if _, _, err := l.Load(o); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, fresh, err := l.Load(o); err != nil || fresh {
			b.Fatal(fresh, err)
		}
	}
}

func BenchmarkEdit(b *testing.B) {
	text := []byte(`{
  // keep me
  "model": "a/b",
  "agent": {"a": {"prompt": "x"}}
}
`)
	for b.Loop() {
		if _, err := editText("lathe.json", text, []byte(`{"agent": {"a": {"steps": 5}}, "share": "manual"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
