package config

import (
	"os"
	"slices"
	"testing"
)

func (w *fixture) instructions() []string {
	w.t.Helper()
	out := []string{}
	for _, i := range w.load().Instructions {
		out = append(out, string(i.Layer)+" "+w.short(i.Path)+i.URL)
	}
	return out
}

func TestInstructions(t *testing.T) {
	w := newFixture(t)
	equal(t, w.instructions(), []string{})
	w.write("home/.codex/AGENTS.md", "x")
	equal(t, w.instructions(), []string{"user home/.codex/AGENTS.md"})
	w.write("home/.gemini/GEMINI.md", "x")
	equal(t, w.instructions(), []string{"user home/.gemini/GEMINI.md"})
	w.write("home/.claude/CLAUDE.md", "x")
	equal(t, w.instructions(), []string{"user home/.claude/CLAUDE.md"})
	w.write("home/.config/opencode/AGENTS.md", "x")
	equal(t, w.instructions(), []string{"user home/.config/opencode/AGENTS.md"})
	w.write("home/.config/lathe/AGENTS.md", "x")
	equal(t, w.instructions(), []string{"user home/.config/lathe/AGENTS.md"})

	own := "user home/.config/lathe/AGENTS.md"
	w.write("top/CRUSH.md", "x")
	equal(t, w.instructions(), []string{own, "project top/CRUSH.md"})
	w.write("top/sub/CONTEXT.md", "x")
	w.write("top/CONTEXT.md", "x")
	equal(t, w.instructions(), []string{own, "project top/sub/CONTEXT.md", "project top/CONTEXT.md"})
	w.write("top/GEMINI.md", "x")
	equal(t, w.instructions(), []string{own, "project top/GEMINI.md"})
	if err := os.Remove(w.path("top/GEMINI.md")); err != nil {
		t.Fatal(err)
	}
	w.write("top/CLAUDE.md", "x") // the name counts, wherever it is
	equal(t, w.instructions(), []string{own, "project top/CLAUDE.md"})
	w.env["LATHE_DISABLE_CLAUDE_CODE_PROMPT"] = "1"
	equal(t, w.instructions(), []string{own, "project top/sub/CONTEXT.md", "project top/CONTEXT.md"})
	w.env = map[string]string{}
	w.write("top/AGENTS.md", "x")
	w.write("top/sub/AGENTS.md", "x")
	w.write("AGENTS.md", "above the checkout")
	equal(t, w.instructions(), []string{own, "project top/sub/AGENTS.md", "project top/AGENTS.md"})
	w.env["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
	equal(t, w.instructions(), []string{own})
}

// Programs whose folder is elsewhere have their file there.
func TestInstructions_OtherFolders(t *testing.T) {
	for variable, name := range map[string]string{"CODEX_HOME": "AGENTS.md", "CLAUDE_CONFIG_DIR": "CLAUDE.md"} {
		w := newFixture(t)
		w.write("elsewhere/"+name, "x")
		w.env[variable] = w.path("elsewhere")
		equal(t, w.instructions(), []string{"user elsewhere/" + name})
	}
}

func TestInstructions_ClaudeOff(t *testing.T) {
	for _, name := range []string{"OPENCODE_DISABLE_CLAUDE_CODE", "LATHE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT"} {
		w := newFixture(t)
		w.write("home/.claude/CLAUDE.md", "x")
		w.write("top/CLAUDE.md", "x")
		w.env[name] = "true"
		equal(t, w.instructions(), []string{})
	}
}

func TestInstructions_Named(t *testing.T) {
	w := newFixture(t)
	for _, name := range []string{
		"top/AGENTS.md", "top/docs/a.md", "top/docs/b.md", "top/docs/deep/c.md", "top/sub/docs/d.md", "top/sub/.hidden.md",
		"home/rules/x.md", "home/rules/y.txt", "above/z.md", "top/sub/[odd]/e.md", "top/docs/folder.md/f.txt",
	} {
		w.write(name, "x")
	}
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{"docs/*.md", []string{"project top/sub/docs/d.md", "project top/docs/a.md", "project top/docs/b.md"}},
		{"./docs/a.md", []string{"project top/docs/a.md"}},
		{"docs/**/c.md", []string{"project top/docs/deep/c.md"}},
		{"**/d.md", []string{"project top/sub/docs/d.md"}},
		{"AGENTS.md", nil}, // there already
		{"~/rules/*.md", []string{"user home/rules/x.md"}},
		{"$HOME/rules/y.txt", []string{"user home/rules/y.txt"}},
		{w.path("above") + "/*.md", []string{"user above/z.md"}},
		{"../../above/z.md", []string{"project above/z.md"}},
		{"docs/{a,b}.md", []string{"project top/docs/a.md", "project top/docs/b.md"}},
		{`\[odd\]/*`, []string{"project top/sub/[odd]/e.md"}},
		{".hidden.md", []string{"project top/sub/.hidden.md"}},
		{"none/*.md", nil},
		{"docs/[", nil},
		{"", nil},
		{"https://example.org/rules.md", []string{"user https://example.org/rules.md"}},
	} {
		w.write("home/.config/lathe/lathe.json", `{"instructions": [`+jsonOf(t, c.pattern)+`, `+jsonOf(t, c.pattern)+`]}`)
		if got := w.instructions(); !slices.Equal(got, append([]string{"project top/AGENTS.md"}, c.want...)) {
			t.Errorf("%s: %q", c.pattern, got)
		}
	}
}

// The user's own patterns look in the user's folder when the project is not to count.
func TestInstructions_WithoutProject(t *testing.T) {
	w := newFixture(t)
	w.env = map[string]string{"LATHE_DISABLE_PROJECT_CONFIG": "1", "LATHE_CONFIG_DIR": "~/conf"}
	w.write("home/conf/rules.md", "x")
	w.write("top/rules.md", "x")
	w.write("home/.config/lathe/lathe.json", `{"instructions": ["rules.md"]}`)
	equal(t, w.instructions(), []string{"user home/conf/rules.md"})
}

// A pattern that would take for ever is refused, in words.
func TestInstructions_Greedy(t *testing.T) {
	w := newFixture(t)
	w.write("top/lathe.json", `{"instructions": ["**/**/**/**/**/x", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "ok.md"]}`)
	w.write("top/ok.md", "x")
	equal(t, w.instructions(), []string{"project top/ok.md"})
	equal(t, len(w.load().Warnings), 2)
}
