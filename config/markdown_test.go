package config

import (
	"strings"
	"testing"
)

func TestMarkdown_AgentsModesCommands(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- home/.config/opencode/agent/review.md --
---
description: Reviews code
mode: subagent
temperature: 0.1
steps: 12
color: "#FF8800"
tools:
  write: false
permission:
  bash:
    "git *": allow
    "*": ask
  webfetch: deny
reasoningEffort: high
topK: 0x10
---

Look hard.

At everything.

-- home/.config/opencode/agents/team/lead/planner.md --
Plan only.
-- home/.config/opencode/agent/other.md --
---
name: renamed
disable: true
---
-- home/.config/opencode/modes/focus.md --
---
mode: subagent
model: a/b
---
Focus.
-- home/.config/opencode/mode/deep/nested.md --
Not a mode.
-- home/.config/opencode/command/test.md --
---
description: Run tests
agent: build
model: a/b
variant: high
subtask: true
---
Run $1 and !` + "`date`" + `.
-- home/.config/opencode/commands/git/commit.md --
Commit $ARGUMENTS
-- home/.config/opencode/commands/empty.md --
-- home/.config/opencode/agent/notes.txt --
Not markdown.
`)
	l := w.load()
	equal(t, w.warnings(l), []string{"home/.config/opencode/agent/review.md:7:1: agent.review.tools: is deprecated: use permission"})
	sameJSON(t, l.Config.Raw, `{
  "command": {
    "test": {"description": "Run tests", "agent": "build", "model": "a/b", "variant": "high", "subtask": true, "template": "Run $1 and !`+"`date`"+`."},
    "empty": {"template": ""},
    "git/commit": {"template": "Commit $ARGUMENTS"}
  },
  "agent": {
    "renamed": {"disable": true},
    "review": {
      "description": "Reviews code", "mode": "subagent", "temperature": 0.1, "steps": 12, "color": "#FF8800",
      "permission": {"edit": "deny", "bash": {"git *": "allow", "*": "ask"}, "webfetch": "deny"},
      "prompt": "Look hard.\n\nAt everything.", "options": {"reasoningEffort": "high", "topK": 16}
    },
    "team/lead/planner": {"prompt": "Plan only."},
    "focus": {"mode": "primary", "model": "a/b", "prompt": "Focus."}
  }
}`)
}

func TestParseMarkdown(t *testing.T) {
	for _, c := range []struct{ name, text, head, body string }{
		{"empty", "", `{}`, ""},
		{"no head", "# Title\n\n---\nnot a head\n---\n", `{}`, "# Title\n\n---\nnot a head\n---"},
		{"empty head", "---\n---\nbody\n", `{}`, "body"},
		{"head of comments", "---\n# nothing\n---\nbody", `{}`, "body"},
		{"no body", "---\na: b\n---", `{"a":"b"}`, ""},
		{"byte order mark", "\ufeff---\na: b\n---\nbody", `{"a":"b"}`, "body"},
		{"carriage returns", "---\r\na: b\r\nc: |\r\n  one\r\n  two\r\n---\r\nbody\r\nmore\r\n", `{"a":"b","c":"one\ntwo\n"}`, "body\r\nmore"},
		{"spaces behind the rules", "---  \na: b\n---\t\nbody", `{"a":"b"}`, "body"},
		{"longer rules are none", "----\na: b\n----\n", `{}`, "----\na: b\n----"},
		{"a rule in the body", "---\na: b\n---\none\n\n---\n\ntwo", `{"a":"b"}`, "one\n\n---\n\ntwo"},
		{
			"scalars", "---\na: 1\nb: -1.50\nc: true\nd: null\ne:\nf: 'it''s'\ng: \"x\\ty\"\nh: 2024-01-01\ni: 1_000\nj: yes\nk: 0o17\n---\n",
			`{"a":1,"b":-1.5,"c":true,"d":null,"e":null,"f":"it's","g":"x\ty","h":"2024-01-01","i":1000,"j":"yes","k":15}`, "",
		},
		{
			"lists and maps", "---\na: [x, 'y']\nb:\n  - 1\n  - k: v\n    l: w\nc: {d: e, \"f g\": 2}\n\"quoted key\": 1\n'single': 2\n---\n",
			`{"a":["x","y"],"b":[1,{"k":"v","l":"w"}],"c":{"d":"e","f g":2},"quoted key":1,"single":2}`, "",
		},
		{"folded", "---\na: >-\n  one\n  two\nb: |\n  x: y\n---\n", `{"a":"one two","b":"x: y\n"}`, ""},
		{"colon", "---\ndescription: Use this: when it breaks\nmode: all\n---\n", `{"description":"Use this: when it breaks","mode":"all"}`, ""},
		{
			"colon and quotes", "---\ndescription: Say \"a\": then <b> & \\c\ntools: {x: false}\npermission:\n  bash:\n    \"git *\": ask\n---\n",
			`{"description":"Say \"a\": then <b> & \\c","tools":{"x":false},"permission":{"bash":{"git *":"ask"}}}`, "",
		},
		{"colon in an address is fine", "---\nurl: https://example.org:80/x\n---\n", `{"url":"https://example.org:80/x"}`, ""},
		{"twice", "---\na: 1\nb: 2\na: 3\n---\n", `{"a":3,"b":2}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &source{name: "x.md", text: []byte(c.text)}
			body, err := s.parseMarkdown()
			if err != nil {
				t.Fatal(err)
			}
			equal(t, string(s.root.appendJSON(nil)), c.head)
			equal(t, body, c.body)
		})
	}
}

func TestParseMarkdown_Fails(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"never ends", "---\na: b\n", "x.md:1:1: the frontmatter that starts here is not closed; add another --- line"},
		{"only a rule", "---", "x.md:1:1: the frontmatter that starts here is not closed; add another --- line"},
		{"not a map", "---\n- a\n---\n", "x.md:2:1: the frontmatter must be lines of keys and values"},
		{"a word", "---\nword\n---\n", "x.md:2:1: the frontmatter must be lines of keys and values"},
		{"bad YAML", "---\na: b\nb: [1, 2\nc: é: [\n---\n", "x.md:4:1: is not YAML: ',' or ']' must be specified"},
		{"tab", "---\na:\n\tb: c\n---\n", "x.md:3:1: is not YAML: found character '\t' that cannot start any token"},
		{"alias", "---\na: &x 1\nb: 2\n---\n", "x.md:2:4: is not a valid frontmatter value; quote it"},
		{"infinity", "---\né: .inf\n---\n", "x.md:2:4: is not a valid frontmatter value; quote it"},
		{"bytes", "---\na: \xff\n---\n", "x.md:2:4: is not valid UTF-8"},
		{"too long", "---\na: " + strings.Repeat("x", maxHead) + "\n---\n", "x.md:2:1: the frontmatter is longer than 16 KB"},
		{"too deep", "---\na: " + strings.Repeat("[", 5000) + "\n---\n", "x.md:2:1: the frontmatter is nested more than 100 levels deep"},
		{"too deep a list", "---\n" + strings.Repeat("- ", 5000) + "\n---\n", "x.md:2:1: the frontmatter is nested more than 100 levels deep"},
		{"too far in", "---\na:\n" + strings.Repeat(" ", 5000) + "b: c\n---\n", "x.md:2:1: the frontmatter is nested more than 100 levels deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &source{name: "x.md", text: []byte(c.text)}
			_, err := s.parseMarkdown()
			if err == nil {
				t.Fatalf("no error but %s", s.root.appendJSON(nil))
			}
			sameJSON(t, err.Wire(), `{"name": "ConfigFrontmatterError", "data": {"path": "x.md", "message": `+jsonOf(t, err.Error())+`}}`)
			got, _, _ := strings.Cut(err.Error(), "\n")
			equal(t, got, c.want)
		})
	}
}

// A head that is not YAML leaves its file out; one that says something wrong is an error.
func TestMarkdown_Broken(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- top/.opencode/agent/broken.md --
---
a: [
---
-- top/.opencode/agent/fine.md --
Fine.
`)
	l := w.load()
	equal(t, names(l.Config.Agents), []string{"fine"})
	equal(t, w.warnings(l), []string{"top/.opencode/agent/broken.md:2:4: is not YAML: sequence end token ']' not found; the file is ignored"})
	w.write("top/.opencode/agent/fine.md", "---\ndescription: x\ntools: Read, Grep\nmode: subagnet\n---\n")
	w.write("top/.opencode/command/c.md", "---\nsubtask: 3\n---\n")
	equal(t, w.short(w.fail().Error()), `top/.opencode/command/c.md:2:10: command.c.subtask: must be true or false, not a number
  subtask: 3
           ^
top/.opencode/agent/fine.md:3:8: agent.fine.tools: must be an object, not a string
  tools: Read, Grep
         ^
top/.opencode/agent/fine.md:4:7: agent.fine.mode: "subagnet" is not allowed: use "subagent", "primary" or "all"; did you mean "subagent"?
  mode: subagnet
        ^`)
}
