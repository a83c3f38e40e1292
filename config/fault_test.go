package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Large files are read, however they are made up. Those with many values are smaller, and
// large enough to hang on anything that grows with the square.
func TestFault_LargeFiles(t *testing.T) {
	const large, size = 10 << 20 / slowdown, 2 << 20 / slowdown
	fill := func(piece func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(piece(i))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"one string":     `{"username": "` + strings.Repeat("x", large) + `"}`,
		"one comment":    "// " + strings.Repeat("x", large) + "\n{}",
		"many keys":      `{` + fill(func(i int) string { return fmt.Sprintf("\"key%d\": %d,\n", i, i) }) + `}`,
		"many agents":    `{"agent": {` + fill(func(i int) string { return fmt.Sprintf("\"a%d\": {\"mode\": \"all\"},\n", i) }) + `}}`,
		"one key often":  `{` + fill(func(int) string { return "\"model\": \"a/b\",\n" }) + `}`,
		"many rules":     `{"permission": {"bash": {` + fill(func(i int) string { return fmt.Sprintf("\"cmd%d *\": \"allow\",\n", i) }) + `}}}`,
		"many variables": `{"username": "` + fill(func(int) string { return "{env:X}" }) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.write("top/lathe.json", text)
			if l := w.load(); len(l.Warnings) > maxProblems {
				t.Errorf("%d warnings", len(l.Warnings))
			}
		})
	}
	t.Run("all wrong", func(t *testing.T) {
		w := newFixture(t)
		w.write("top/lathe.json", `{"agent": {`+fill(func(i int) string { return fmt.Sprintf("\"a%d\": 5,\n", i) })+`}}`)
		if e := w.fail(); len(e.Problems) > maxProblems+1 || len(e.Error()) > 100_000 {
			t.Errorf("%d problems", len(e.Problems))
		}
	})
	t.Run("markdown", func(t *testing.T) {
		w := newFixture(t)
		w.write("top/.lathe/agent/a.md", "---\nmode: all\n---\n"+strings.Repeat("x\n", large/2))
		w.write("top/.lathe/agent/b.md", "---\n"+strings.Repeat("x: y\n", large/5))
		l := w.load()
		equal(t, names(l.Config.Agents), []string{"a"})
	})
	t.Run("too large", func(t *testing.T) {
		w := newFixture(t)
		w.write("top/lathe.json", strings.Repeat(" ", maxFile+1))
		equal(t, w.short(w.fail().Error()), "top/lathe.json: cannot be read: is larger than 16 MB")
	})
}

func TestFault_Bytes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"not UTF-8", "{\n  \"username\": \"a\xffb\"\n}", "top/lathe.json:2:17: is not valid UTF-8\n    \"username\": \"a\uFFFDb\"\n                  ^"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "top/lathe.json:1:1: is not valid UTF-8\n  \uFFFD\uFFFD{ } \n  ^"},
		{"NUL in a string", "{\"username\": \"a\x00b\"}", "top/lathe.json:1:14: a string cannot hold the control character U+0000; write \\u0000\n  {\"username\": \"a b\"}\n               ^"},
		{"NUL outside", "{\x00}", "top/lathe.json:1:2: a value is missing before this\n  { }\n   ^"},
		{"too deep", strings.Repeat(`{"a":`, 100_000), "top/lathe.json:1:2501: is nested more than 500 deep\n  " + strings.Repeat(`{"a":`, 20) + "\n  " + strings.Repeat(" ", 50) + "^"},
		{"too deep a list", `{"a": ` + strings.Repeat(`[`, 1_000_000), "top/lathe.json:1:506: is nested more than 500 deep\n  " + strings.Repeat(`[`, 100) + "\n  " + strings.Repeat(" ", 50) + "^"},
		{"huge number", `{"subagent_depth": ` + strings.Repeat("9", 1000) + `}`, "top/lathe.json:1:20: subagent_depth: " + strings.Repeat("9", 30) + "… is too large\n  {\"subagent_depth\": " + strings.Repeat("9", 81) + "\n                     ^"},
		{"no budget", `{"budget": {"day": {"cost": 0}}}`, "top/lathe.json:1:29: budget.day.cost: 0 is too small: it must be more than 0\n  {\"budget\": {\"day\": {\"cost\": 0}}}\n                              ^"},
		{"tiny number", `{"agent": {"a": {"steps": 1e-400}}}`, "top/lathe.json:1:27: agent.a.steps: 1e-400 is too small: it must be 1 or more\n  {\"agent\": {\"a\": {\"steps\": 1e-400}}}\n                            ^"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.write("top/lathe.json", c.text)
			equal(t, w.short(w.fail().Error()), c.want)
		})
	}
	w := newFixture(t)
	w.write("top/lathe.json", "\ufeff{\r\n  \"username\": \"a\", // x\r\n  \"username\": \"b\",\r\n  \"x\": 1e999, \"agent\": {\"a\": {\"big\": 123456789012345678901234567890}}\r\n}\r\n")
	l := w.load()
	equal(t, l.Config.Username, "b")
	sameJSON(t, l.Config.Raw, `{"username": "b", "x": 1e999, "agent": {"a": {"options": {"big": 123456789012345678901234567890}}}}`)
}

// A folder of a file's name is not read, and said to be none. What cannot be meant is pointed
// out: a permission that is almost one of ours, and a model that does not exist. Tools of
// others have any name, and files of the reference are read as they are, so that neither is
// wrong.
func TestFault_Mistyped(t *testing.T) {
	w := newFixture(t)
	w.write("top/lathe.json", `{
  "model": "opus", "small_model": "", "fallback": ["a/b", "/c"],
  "permission": {"edti": "deny", "github_push": "ask", "Bash": {"*": "ask"}, "*": "ask"},
  "agent": {"a": {"model": "a/b/c", "permission": {"tasks": "deny"}, "fallback": ["x"]}}
}`)
	equal(t, w.warnings(w.load()), []string{
		"top/lathe.json:2:12: model: \"opus\" is not a model: write provider/model, as `lathe models` lists them",
		"top/lathe.json:2:59: fallback.1: \"/c\" is not a model: write provider/model, as `lathe models` lists them",
		`top/lathe.json:3:18: permission.edti: is not a built-in permission; it applies only to a tool with exactly this name; did you mean "edit"?`,
		`top/lathe.json:3:56: permission.Bash: is not a built-in permission; it applies only to a tool with exactly this name; did you mean "bash"?`,
		`top/lathe.json:4:52: agent.a.permission.tasks: is not a built-in permission; it applies only to a tool with exactly this name; did you mean "task"?`,
		"top/lathe.json:4:83: agent.a.fallback.0: \"x\" is not a model: write provider/model, as `lathe models` lists them",
	})
}

func TestFault_FolderForFile(t *testing.T) {
	w := newFixture(t)
	for _, name := range []string{"top/lathe.json", "top/AGENTS.md", "top/.lathe/agent/a.md", "top/.claude/skills/x/SKILL.md", "top/tui.json"} {
		w.write(name+"/x", "")
	}
	w.write("top/.opencode", "a file for a folder")
	l := w.load()
	equal(t, w.warnings(l), []string{"top/lathe.json: is ignored: is not a file", "top/tui.json: is ignored: is not a file"})
	equal(t, len(l.Instructions)+len(l.Skills)+len(l.Config.Agents), 0)
}

// Links may lead in circles.
func TestFault_Links(t *testing.T) {
	w := newFixture(t)
	w.write("dotfiles/agents/deep/a.md", "A.")
	w.write("dotfiles/lathe.json", `{"model": "a/b"}`)
	w.link(w.path("dotfiles/agents"), "home/.config/lathe/agent")
	w.link(w.path("dotfiles/agents"), "dotfiles/agents/deep/loop")
	w.link(w.path("dotfiles/agents/deep"), "dotfiles/agents/other")
	w.link(w.path("dotfiles/lathe.json"), "home/.config/lathe/lathe.json")
	w.link("loop.json", "home/.config/lathe/loop.json")
	w.link("lathe.jsonc", "home/.config/lathe/lathe.jsonc")
	w.link("nowhere", "top/lathe.json")
	w.link(".", "top/docs")
	w.write("top/opencode.json", `{"instructions": ["docs/**/x.md", "docs/docs/y.md"]}`)
	w.write("top/y.md", "x")
	w.write("top/x.md", "x")
	l := w.load()
	equal(t, l.Config.Model, "a/b")
	equal(t, names(l.Config.Agents), []string{"deep/a", "other/a"})
	equal(t, w.warnings(l), []string{"home/.config/lathe/lathe.jsonc: is ignored: too many levels of symbolic links"})
	equal(t, w.instructions(), []string{"project top/docs/x.md", "project top/docs/docs/y.md"})
}

func TestFault_Unreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	w := newFixture(t)
	w.write("top/.lathe/agent/a.md", "A.")
	w.write("top/lathe.json", `{}`)
	chmod := func(name string, mode os.FileMode) {
		if err := os.Chmod(w.path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod("top/.lathe/agent", 0)
	t.Cleanup(func() { chmod("top/.lathe/agent", 0o700) })
	equal(t, w.warnings(w.load()), []string{"top/.lathe/agent: cannot be read: permission denied"})
	chmod("top/.lathe", 0)
	t.Cleanup(func() { chmod("top/.lathe", 0o700) })
	if got := w.warnings(w.load()); len(got) == 0 || !strings.Contains(got[0], "permission denied") {
		t.Errorf("%q", got)
	}
	chmod("top/lathe.json", 0)
	equal(t, w.short(w.fail().Error()), "top/lathe.json: cannot be read: permission denied")
}

// Links make one folder reachable on more ways than can be walked.
func TestFault_LinksThatDouble(t *testing.T) {
	w := newFixture(t)
	for i := range 20 {
		w.write(fmt.Sprintf("top/.lathe/agent/d%d/a.md", i), "A.")
		for _, name := range []string{"x", "y"} {
			w.link(fmt.Sprintf("../d%d", i+1), fmt.Sprintf("top/.lathe/agent/d%d/%s", i, name))
		}
	}
	w.write("home/.lathe/agent/mine.md", "Mine.") // comes later, and is still found
	l := w.load()
	if l.Config.Agents["mine"].Prompt != "Mine." {
		t.Error("the user's own agent is lost")
	}
	if n := len(l.Config.Agents); n < 20 || n > 2*maxLinked {
		t.Errorf("%d agents", n)
	}
	if got := w.warnings(l); !strings.Contains(got[len(got)-1], "too many") {
		t.Errorf("%q", got)
	}
}

// So many files are not all looked through.
func TestFault_TooManyFiles(t *testing.T) {
	d := newFileReader()
	d.looked[Project].entries = maxEntries
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/x", 0o700); err != nil {
		t.Fatal(err)
	}
	equal(t, len(d.list(dir, Project))+len(d.list(dir, Project)), 0)
	equal(t, len(d.list(dir, User)), 1)
	equal(t, len(d.trouble), 1)
}
