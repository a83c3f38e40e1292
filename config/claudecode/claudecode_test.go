package claudecode

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

var here = Place{Dir: "/repo", Root: "/repo", Home: "/home/dev"}

func shown(d Document) string {
	var b strings.Builder
	b.Write(d.Config)
	for _, w := range d.Warnings {
		b.WriteString("\n" + w.Key + ": " + w.Message)
	}
	return b.String()
}

// Each rule of Claude Code becomes rules of lathe that are as narrow to allow, and as wide to ask and deny.
func TestSettings_Rules(t *testing.T) {
	for _, c := range []struct{ rules, want string }{
		{`{"allow":["Bash"]}`, `{"bash":{"*":"allow"}}`},
		{`{"allow":["Bash(*)"]}`, `{"bash":{"*":"allow"}}`},
		{`{"allow":["Bash(npm run test:*)","Bash(npm run build)","Bash(git * main)"]}`, `{"bash":{"npm run test *":"allow","npm run build":"allow","git * main":"allow"}}`},
		{`{"deny":["Bash(curl:*)"],"ask":["Bash(git push:*)"]}`, `{"bash":{"git push*":"ask","curl*":"deny"}}`},
		{`{"deny":["Bash(rm:*)"],"allow":["Bash"]}`, `{"bash":{"*":"allow","rm*":"deny"}}`},
		{`{"deny":["Bash(x)"],"allow":["Bash(x)"]}`, `{"bash":{"x":"deny"}}`},
		{`{"deny":["Read(./.env)"]}`, `{"read":{".env":"deny",".env/*":"deny"}}`},
		{`{"deny":["Read(.env)"]}`, `{"read":{".env":"deny","*/.env":"deny",".env/*":"deny"}}`},
		{`{"deny":["Read(./secrets/**)","Read(/config/*.key)"]}`, `{"read":{"secrets/*":"deny","config/*.key":"deny","config/*.key/*":"deny"}}`},
		{`{"deny":["Read(**/*.pem)"]}`, `{"read":{"*.pem":"deny","*/*.pem":"deny","*.pem/*":"deny"}}`},
		{`{"deny":["Read(~/.ssh/**)","Read(//etc/passwd)"]}`, `{"external_directory":{"/home/dev/.ssh/*":"deny"},"read":{"../etc/passwd":"deny"}}`},
		{`{"allow":["Edit(src/**)","Write(docs/)"]}`, `{"edit":{"src/*":"allow","docs/*":"allow","*/docs/*":"allow"}}`},
		{`{"allow":["Edit(src/**/*.ts)","Edit(*.md)"]}`, `{"edit":{"src/*.ts":"allow","*.md":"allow","*/*.md":"allow"}}`},
		{`{"allow":["WebFetch(domain:Example.com)"]}`, `{"webfetch":{"https://example.com":"allow","https://example.com/*":"allow","http://example.com":"allow","http://example.com/*":"allow"}}`},
		{`{"allow":["mcp__github__search","mcp__my-db","mcp__github__get_*"]}`, `{"github_search":{"*":"allow"},"my-db_*":{"*":"allow"},"github_get_*":{"*":"allow"}}`},
		{
			`{"allow":["WebSearch","Task(reviewer)","Skill(pdf)","Glob","Grep","LS","TodoWrite"]}`,
			`{"websearch":{"*":"allow"},"task":{"reviewer":"allow"},"skill":{"pdf":"allow"},"glob":{"*":"allow"},"grep":{"*":"allow"},"list":{"*":"allow"},"todowrite":{"*":"allow"}}`,
		},
		{`{"deny":["*"]}`, `{"*":{"*":"deny"}}`},
		{`{"allow":["Edit(src/*.ts)"]}`, `null permissions.allow: Edit(src/*.ts) is ignored: lathe cannot express this pattern as narrowly`},
		{`{"allow":["Read(~/notes.md)"]}`, `null permissions.allow: Read(~/notes.md) is ignored: outside the project lathe allows folders, as Read(~/**)`},
		{`{"allow":["*","mcp__*","BashOutput"]}`, `null permissions.allow: * has no counterpart in lathe and is ignored: write a rule for each tool permissions.allow: mcp__* has no counterpart in lathe and is ignored permissions.allow: BashOutput has no counterpart in lathe and is ignored`},
		{`{"deny":["mcp__*"]}`, `null permissions.deny: mcp__* has no counterpart in lathe and is ignored: write a rule for each server`},
		{`{"allow":"Bash"}`, `null permissions.allow: must be a list of strings and is ignored`},
	} {
		docs, errs := Settings(File{Text: []byte(`{"permissions":` + c.rules + `}`), Place: here})
		if errs[0] != nil {
			t.Fatal(errs[0])
		}
		var got struct {
			Permission json.RawMessage `json:"permission"`
		}
		if err := json.Unmarshal(docs[0].Config, &got); err != nil {
			t.Fatal(err)
		}
		text := string(got.Permission)
		if text == "" {
			text = "null"
		}
		for _, w := range docs[0].Warnings {
			text += " " + w.Key + ": " + w.Message
		}
		if text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.rules, text, c.want)
		}
	}
}

// Without a checkout patterns begin at the root of the disk, and the project is the folder of the settings.
func TestSettings_NoCheckout(t *testing.T) {
	docs, errs := Settings(File{[]byte(`{"permissions":{"deny":["Read(.env)","Read(~/.ssh/**)","Read(~/.netrc)"]}}`), Place{Dir: "/srv/app", Root: "/", Home: "/home/dev"}})
	want := `{"permission":{"read":{"srv/app/.env":"deny","srv/app/*/.env":"deny","srv/app/.env/*":"deny","home/dev/.netrc":"deny"},"external_directory":{"/home/dev/.ssh/*":"deny"}}}`
	if errs[0] != nil || shown(docs[0]) != want {
		t.Error(errs[0], shown(docs[0]))
	}
}

// The user's own rules count in every project: those about the home folder stay there, and no deny is lost.
func TestSettings_User(t *testing.T) {
	docs, errs := Settings(File{[]byte(`{"permissions":{"allow":["Read(~/notes/**)","Edit(docs/**)"],"deny":["Read(./.env)","Read(~/.ssh/**)","Read(~/.netrc)","Read(//etc/shadow)"],"additionalDirectories":["~/other","../up"]}}`), Place{Home: "/home/dev"}})
	want := `{"sandbox":{"write":["/home/dev/other"]},"permission":{"external_directory":{"/home/dev/notes/*":"allow","/home/dev/other/*":"allow","/home/dev/.ssh/*":"deny"},` +
		`"edit":{"docs/*":"allow"},"read":{".env":"deny","*/.env":"deny",".env/*":"deny","*home/dev/.netrc":"deny","*etc/shadow":"deny"}}}` +
		"\npermissions.additionalDirectories: ../up is ignored: lathe does not know the folder that it begins at"
	if errs[0] != nil || shown(docs[0]) != want {
		t.Error(errs[0], shown(docs[0]))
	}
}

// A deny of one file counts before an allow of another, as in Claude Code, and the patterns begin at the top
// of the checkout.
func TestSettings_TwoFiles(t *testing.T) {
	sub := Place{Dir: "/repo/web", Root: "/repo", Home: "/home/dev"}
	docs, errs := Settings(
		File{[]byte(`{"permissions":{"deny":["Bash(curl:*)","Read(./.env)"]}}`), here},
		File{[]byte(`{"permissions":{"allow":["Bash(curl https://x:*)"],"deny":["Read(./.env)"]}}`), sub},
		File{[]byte(`{"env":{"A":"b"}}`), sub},
	)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{}`, `{"permission":{"bash":{"curl https://x *":"allow","curl*":"deny"},"read":{".env":"deny",".env/*":"deny","web/.env":"deny","web/.env/*":"deny"}}}`,
		`{"env":{"A":"b"}}`,
	}
	for i, d := range docs {
		if shown(d) != want[i] {
			t.Errorf("%d: %s", i, shown(d))
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, `{}`},
		{`{"permissions":{"defaultMode":"default"}}`, `{"permission_mode":"ask"}`},
		{`{"permissions":{"defaultMode":"acceptEdits"}}`, `{"permission_mode":"sandbox"}`},
		{`{"permissions":{"defaultMode":"plan"}}`, `{"default_agent":"plan"}`},
		{`{"permissions":{"defaultMode":"bypassPermissions"}}`, "{}\npermissions.defaultMode: \"bypassPermissions\" has no counterpart in lathe and is ignored: use --yes for one run"},
		{
			`{"permissions":{"additionalDirectories":["../docs","~/notes","/srv/x/"]}}`,
			`{"sandbox":{"write":["/docs","/home/dev/notes","/srv/x/"]},"permission":{"external_directory":{"/docs/*":"allow","/home/dev/notes/*":"allow","/srv/x/*":"allow"}}}`,
		},
		{`{"env":{"NODE_ENV":"test","PORT":8080,"X":true,"Y":{}}}`, "{\"env\":{\"NODE_ENV\":\"test\",\"PORT\":\"8080\",\"X\":\"true\"}}\nenv.Y: must be a string and is ignored"},
		{`{"env":{"PATH":"/evil"}}`, "{}\nenv.PATH: is ignored: it decides which programs run"},
		{`{"model":"claude-sonnet-4-5"}`, `{"model":"anthropic/claude-sonnet-4-5"}`},
		{`{"model":"opus"}`, "{}\nmodel: \"opus\" is an alias and is ignored: set \"model\" in lathe.json to provider/model"},
		{`{"disableAllHooks":true,"disabledMcpjsonServers":["db"]}`, `{"disable_hooks":true,"mcp":{"db":{"enabled":false}}}`},
		{`{"apiKeyHelper":"x","statusLine":{}}`, "{}\napiKeyHelper: has no counterpart in lathe and is ignored"},
		{
			`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"check.sh","timeout":5,"statusMessage":"…"}]}],"Stop":[{"hooks":[{"command":"x","args":["y"]}]}]}}`,
			`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"check.sh","timeout":5}]}],"Stop":[{"hooks":[{"type":"command","command":"x","args":["y"]}]}]}}`,
		},
		{
			`{"hooks":{"TeammateIdle":[],"Stop":[{"hooks":[{"type":"prompt","prompt":"x"}]},{"hooks":7},7]}}`,
			"{}\nhooks.TeammateIdle: has no counterpart in lathe and is ignored\nhooks.Stop: must be a list of objects and is ignored",
		},
		{
			`{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"x"}]},{"hooks":7},{"matcher":7,"hooks":[{"command":"x"}]},{"hooks":[{"command":"x","async":true}]}]}}`,
			"{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}\nhooks.Stop: a hook of type \"prompt\" has no counterpart in lathe and is ignored\n" +
				"hooks.Stop: a group has no list of \"hooks\" and is ignored\nhooks.Stop.matcher: must be a string and is ignored\nhooks.Stop.async: has no effect in lathe: the hook runs without it",
		},
	} {
		docs, errs := Settings(File{[]byte(c.text), here})
		if errs[0] != nil || shown(docs[0]) != c.want {
			t.Errorf("%s: %v\n%s", c.text, errs[0], cmp.Diff(c.want, shown(docs[0])))
		}
	}
}

func TestSettings_NotJSON(t *testing.T) {
	for text, at := range map[string]int{`{"a":`: 5, `[]`: 2, `{"a" 1}`: 6, `{]`: 2, `"x"`: 3, `{"a":1`: 6} {
		docs, errs := Settings(File{[]byte(text), here})
		var bad *SyntaxError
		if !errors.As(errs[0], &bad) || bad.Offset > len(text) || string(docs[0].Config) != "{}" {
			t.Errorf("%s: %v %+v, about offset %d", text, errs[0], docs[0], at)
		}
	}
}

func TestBlockedVariable(t *testing.T) {
	for _, name := range []string{
		"LD_PRELOAD", "ld_preload", "DYLD_INSERT_LIBRARIES", "PATH", "Path", "GIT_SSH_COMMAND", "GIT_DIR", "LATHE_TRUST", "OPENCODE_CONFIG", "NODE_OPTIONS", "PYTHONPATH",
		"BASH_ENV", "ENV", "IFS", "BASH_FUNC_ls%%", "SHELLOPTS", "", "A=B", "PROMPT_COMMAND", "npm_config_script_shell",
	} {
		if BlockedVariable(name) == "" {
			t.Errorf("%q may be set", name)
		}
	}
	for _, name := range []string{"NODE_ENV", "DEBUG", "PORT", "MY_PATH", "GITHUB_OWNER", "ENVIRONMENT", "CLAUDE_CODE_X"} {
		if why := BlockedVariable(name); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
}

func TestMCP(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"KEY": "k", "EMPTY": ""}[name]
		return v, ok
	}
	text := `{"mcpServers":{
		"local":{"command":"npx","args":["-y","${PKG:-pkg}"],"env":{"TOKEN":"${KEY}"},"timeout":5000},
		"web":{"type":"http","url":"https://${HOST:-api.example.com}/mcp","headers":{"Authorization":"Bearer ${KEY}"}},
		"old":{"type":"sse","url":"https://x/sse","disabled":true},
		"gone":{"command":"${NONE}","oauth":{}},
		"socket":{"type":"ws","url":"wss://x"},
		"none":{}, "wrong":7
	},"other":1}`
	d, err := MCP([]byte(text), env)
	want := `{"mcp":{"local":{"type":"local","command":["npx","-y","pkg"],"environment":{"TOKEN":"k"},"timeout":5000},` +
		`"web":{"type":"remote","url":"https://api.example.com/mcp","headers":{"Authorization":"Bearer k"}},"old":{"type":"remote","url":"https://x/sse","enabled":false}}}` + `
mcpServers.gone: has no command and is ignored
mcpServers.socket: a server of type "ws" has no counterpart in lathe and is ignored
mcpServers.none: has no command and is ignored
mcpServers.wrong: must be an object and is ignored
other: has no counterpart in lathe and is ignored`
	if diff := cmp.Diff(want, shown(d)); err != nil || diff != "" {
		t.Error(err, diff)
	}
	d, err = MCP([]byte(`{"mcpServers":{"a":{"command":"x","args":["${NONE}","${KEY}"]}}}`), env)
	if want := `{"mcp":{"a":{"type":"local","command":["x","","k"],"enabled":false}}}` + "\nmcpServers.a: is disabled: the variable NONE is not set"; err != nil || shown(d) != want {
		t.Error(err, shown(d))
	}
	d, err = MCP([]byte(`{"mcpServers":{"a":{"command":"x","args":["${KEY}"]}}}`), nil)
	if want := `{"mcp":{"a":{"type":"local","command":["x","${KEY}"]}}}`; err != nil || shown(d) != want {
		t.Error(err, shown(d))
	}
}

func TestAgent(t *testing.T) {
	d := Agent("team/reviewer", json.RawMessage(`{"description":"Reviews","tools":"Read, Grep, Edit, Bash(git:*), mcp__gh__get, Nope","model":"sonnet","color":"red","maxTurns":7,"disallowedTools":["WebFetch"],"skills":["x"]}`), "You review.")
	want := `{"agent":{"reviewer":{"mode":"subagent","description":"Reviews","allowed_tools":["read","grep","edit","write","apply_patch","bash","gh_get"],"color":"error","steps":7,` +
		`"permission":{"webfetch":{"*":"deny"}},"prompt":"You review."}}}` + `
tools: Bash(git:*) counts for every use of the tool
tools: Nope has no counterpart in lathe and is ignored
model: "sonnet" is an alias and is ignored: the agent uses the session's model
skills: has no counterpart in lathe and is ignored`
	if diff := cmp.Diff(want, shown(d)); diff != "" {
		t.Error(diff)
	}
	d = Agent("x", json.RawMessage(`{"name":"own","model":"claude-opus-4-1","permissionMode":"plan","tools":["Read"]}`), "")
	if want := `{"agent":{"own":{"mode":"subagent","model":"anthropic/claude-opus-4-1","permission":{"edit":{"*":"deny"}},"allowed_tools":["read"]}}}`; shown(d) != want {
		t.Error(shown(d))
	}
}

func TestCommand(t *testing.T) {
	d := Command("git/fix", json.RawMessage(`{"description":"Fix an issue","argument-hint":["number"],"allowed-tools":"Bash(git:*)","model":"claude-haiku-4-5","context":"fork"}`), "Fix $1 with $ARGUMENTS: !`git status` @README.md")
	want := "{\"command\":{\"fix\":{\"template\":\"Fix $1 with $ARGUMENTS: !`git status` @README.md\",\"model\":\"anthropic/claude-haiku-4-5\",\"subtask\":true,\"description\":\"Fix an issue [number]\"}}}\n" +
		"allowed-tools: grants nothing in lathe: its rules and the user's answers count"
	if diff := cmp.Diff(want, shown(d)); diff != "" {
		t.Error(diff)
	}
	if d := Command("a", nil, "# Do it\nnow"); shown(d) != `{"command":{"a":{"template":"# Do it\nnow","description":"Do it"}}}` {
		t.Error(shown(d))
	}
}

func TestTools(t *testing.T) {
	servers := []string{"my db", "my", "git-hub"}
	for lathe, claude := range map[string]string{
		"bash": "Bash", "edit": "Edit", "write": "Write", "read": "Read", "webfetch": "WebFetch", "task": "Task", "todowrite": "TodoWrite",
		"my_db_query": "mcp__my_db__query", "my_x": "mcp__my__x", "git-hub_get": "mcp__git-hub__get", "other_x": "other_x",
	} {
		if got := ClaudeTool(lathe, servers); got != claude {
			t.Errorf("%s is %s, not %s", lathe, got, claude)
		}
	}
	in := json.RawMessage(`{"filePath":"/a","oldString":"x","newString":"y","replaceAll":true,"other":[1,{"b":2}]}`)
	out := ClaudeInput("edit", "/repo", in)
	if want := `{"file_path":"/a","old_string":"x","new_string":"y","replace_all":true,"other":[1,{"b":2}]}`; string(out) != want {
		t.Error(string(out))
	}
	if back := LatheInput("edit", out); string(back) != string(in) {
		t.Error(string(back))
	}
	if got := ClaudeInput("read", "/repo", json.RawMessage(`{"filePath":"a/b"}`)); string(got) != `{"file_path":"/repo/a/b"}` {
		t.Error(string(got))
	}
	for _, odd := range []string{``, `7`, `{`, `[]`, `null`} {
		if got := ClaudeInput("edit", "/repo", json.RawMessage(odd)); string(got) != odd {
			t.Errorf("%q became %q", odd, got)
		}
	}
}

// FuzzSettings: no file makes the translation fail, every document is JSON, and no rule that denies or
// asks is dropped without a warning.
func FuzzSettings(f *testing.F) {
	f.Add("Bash(rm:*)", "deny")
	f.Add("Read(//etc/**)", "deny")
	f.Add("Edit([a-z]/{x,y}/!*)", "ask")
	f.Add("mcp____x", "deny")
	f.Add("WebFetch(domain:*.x.com)", "allow")
	f.Fuzz(func(t *testing.T, text, action string) {
		if action != "deny" && action != "ask" {
			action = "allow"
		}
		in, _ := json.Marshal(map[string]any{"permissions": map[string][]string{action: {text}}})
		docs, errs := Settings(File{in, here})
		if errs[0] != nil {
			t.Fatal(errs[0])
		}
		var got struct {
			Permission map[string]map[string]lathe.Action `json:"permission"`
		}
		if err := json.Unmarshal(docs[0].Config, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Permission) == 0 && len(docs[0].Warnings) == 0 {
			t.Errorf("%s %q was dropped silently", action, text)
		}
		for name, rules := range got.Permission {
			for pattern, said := range rules {
				if string(said) != action {
					t.Errorf("%s %q became %s %s %s", action, text, said, name, pattern)
				}
			}
		}
	})
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		matcher, name string
		want          bool
	}{
		{"", "Bash", true},
		{"*", "Bash", true},
		{"Bash", "Bash", true},
		{"Bash", "BashOutput", false},
		{"bash", "Bash", false},
		{"Edit|Write", "Write", true},
		{"Edit, Write", "Edit", true},
		{"Edit|Write", "NotebookWrite", false},
		{"mcp__db", "mcp__db__query", false},
		{"mcp__.*", "mcp__db__query", true},
		{"^Re", "Read", true},
		{"^Re", "NotebookRead", false},
		{"Edit.*", "NotebookEdit", true},
		{"MultiEdit", "Edit", true},
		{"Agent", "Task", true},
		{"(?!Read)", "Read", true},
		{"startup|resume", "resume", true},
		{"code-reviewer", "senior-code-reviewer", false},
	} {
		if got := Matches(c.matcher, c.name); got != c.want {
			t.Errorf("%q %q: %v", c.matcher, c.name, got)
		}
	}
	if CheckMatcher("(?!Read)") == nil || CheckMatcher("mcp__.*") != nil || CheckMatcher("*") != nil {
		t.Error("a matcher is judged wrongly")
	}
}

// The files that a hook runs are found in its text, and files that it only reads are not.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		hook HookCommand
		want []string
	}{
		{HookCommand{Command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh --fast`}, []string{"/repo/.claude/hooks/check.sh"}},
		{HookCommand{Command: `FOO=1 python3 -u tools/a.py README.md && ./b.sh x.txt`}, []string{"/repo/FOO=1", "/repo/python3", "/repo/-u", "/repo/tools/a.py", "/repo/b.sh"}},
		{HookCommand{Command: `cat | jq .x | sh lib/c.sh`}, []string{"/repo/cat", "/repo/jq", "/repo/sh", "/repo/lib/c.sh"}},
		{HookCommand{Command: `cp a.txt .claude/data.json`}, []string{"/repo/cp", "/repo/.claude/data.json"}},
		{HookCommand{Command: "node", Args: []string{"${CLAUDE_PROJECT_DIR}/a b.js", "in.txt"}, Dir: "/repo/web"}, []string{"/repo/web/node", "/repo/web/a b.js"}},
	} {
		if diff := cmp.Diff(c.want, c.hook.Programs("/repo")); diff != "" {
			t.Errorf("%s: %s", c.hook.Command, diff)
		}
	}
}
