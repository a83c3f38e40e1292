package ask_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// permission makes a region as the engine would ask for it.
func permission(t testing.TB, name, metadata string, patterns, always []string) *ask.Permission {
	t.Helper()
	if metadata != "" && !json.Valid([]byte(metadata)) {
		t.Fatalf("not JSON: %s", metadata)
	}
	return ask.NewPermission(styletest.Keys(t), &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{
		ID: "per_1", Session: "ses_1", Permission: name, Patterns: patterns, Always: always, Metadata: json.RawMessage(metadata),
	}}, ask.Options{Diff: plainDiff})
}

func plainDiff(patch string, width int) []style.Line {
	return style.WrapAll(style.Lines(strings.TrimSuffix(patch, "\n"), style.Attr{}), width)
}

func bash(t testing.TB, command string) *ask.Permission {
	t.Helper()
	text, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return permission(t, "bash", string(text), []string{command}, []string{"git push *"})
}

func want(t *testing.T, got, want ask.Result) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("out (-want +got):\n%s", d)
	}
}

func TestPermission_Golden(t *testing.T) {
	all := []string{"*"}
	for name, p := range map[string]*ask.Permission{
		"edit":       permission(t, "edit", `{"filepath":"/home/dev/app/main.go","diff":"--- main.go\n+++ main.go\n@@ -1,2 +1,2 @@\n package main\n-var a = 1\n+var a = 2\n"}`, []string{"main.go"}, all),
		"bash":       bash(t, "git push origin main \\\n  && echo done"),
		"unknown":    permission(t, "bash", `{"command":"eval \"$X\"","unknown":[{"text":"eval \"$X\"","why":"runs a text that is made when it runs"}]}`, []string{"eval"}, nil),
		"sandbox":    permission(t, "sandbox", `{"command":"make install","reason":"it writes to /usr/local","sandbox":"workspace"}`, []string{"make install"}, nil),
		"read":       permission(t, "read", `{}`, []string{"src/.env"}, all),
		"resource":   permission(t, "read", `{"server":"tracker","uri":"issue://42"}`, []string{"mcp:tracker:issue://42"}, []string{"mcp:tracker:*"}),
		"glob":       permission(t, "glob", `{"pattern":"**/*.go","path":"/home/dev"}`, []string{"**/*.go"}, all),
		"grep":       permission(t, "grep", `{"pattern":"func main","path":"","include":"*.go"}`, []string{"func main"}, all),
		"task":       permission(t, "task", `{"description":"Look for uses","subagent_type":"explore"}`, []string{"explore"}, all),
		"webfetch":   permission(t, "webfetch", `{"url":"https://example.org/a/very/long/address/that/does/not/fit/into/a/narrow/window?q=1","format":"text"}`, []string{"https://example.org"}, all),
		"websearch":  permission(t, "websearch", `{"query":"go generics"}`, []string{"go generics"}, all),
		"directory":  permission(t, "external_directory", `{"command":"ls /etc /opt","directories":["/etc","/opt"],"patterns":["/etc/*","/opt/*"]}`, []string{"/etc/*", "/opt/*"}, []string{"/etc/*", "/opt/*"}),
		"file":       permission(t, "external_directory", `{"filepath":"/etc/hosts","parentDir":"/etc"}`, []string{"/etc/*"}, []string{"/etc/*"}),
		"loop":       permission(t, "doom_loop", `{"tool":"bash","input":{"command":"ls","n":1}}`, []string{"bash"}, []string{"bash"}),
		"skill":      permission(t, "skill", ``, []string{"release"}, []string{"release"}),
		"todo":       permission(t, "todowrite", ``, all, all),
		"lsp":        permission(t, "lsp", `{"operation":"hover","filePath":"main.go","line":3}`, all, all),
		"tool":       permission(t, "tracker_close", `{"issue":42,"comment":"done"}`, all, all),
		"long":       bash(t, strings.Repeat("echo line\n", 60)+"rm -rf build"),
		"hidden":     bash(t, "echo safe\x1b[2K\rrm -rf ~ \u202e txt.exe\u200b\u00a0x \xff"),
		"blank":      bash(t, "echo safe"+strings.Repeat("\n", 200)+"rm -rf ~"),
		"whitespace": bash(t, "echo safe"+strings.Repeat(" ", 500)+"; rm -rf ~"),
	} {
		t.Run(name, func(t *testing.T) { golden(t, "permission-"+name, p) })
	}
}

func TestPermission_GoldenStages(t *testing.T) {
	p := bash(t, "git push origin main")
	send(p, "2")
	golden(t, "permission-session", p)
	want(t, send(p, "3", "enter"), ask.None{})
	golden(t, "permission-always", p)
	want(t, send(p, "2", "enter"), ask.None{})
	golden(t, "permission-editing", p)
	send(p, "x")
	golden(t, "permission-edited", p)
	want(t, send(p, "esc", "esc", "4", "enter"), ask.None{})
	p.Paste("use the other branch\nplease")
	golden(t, "permission-reason", p)

	files := permission(t, "edit", `{"filepath":"src/a.go"}`, []string{"src/a.go", "src/b.go"}, []string{"*"}) // never for every file
	send(files, "3", "enter")
	golden(t, "permission-files", files)

	both := ask.NewPermission(styletest.Keys(t), &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{
		Permission: "bash", Patterns: []string{"cat /etc/hosts"}, Always: []string{"cat *"}, Metadata: json.RawMessage(`{"command":"cat /etc/hosts .env"}`),
	}}, ask.Options{Also: []lathe.PermissionRequest{
		{Permission: "external_directory", Patterns: []string{"/etc/*"}, Always: []string{"/etc/*"}, Metadata: json.RawMessage(`{"directories":["/etc"]}`)},
		{Permission: "read", Patterns: []string{".env"}, Always: nil},
	}})
	golden(t, "permission-both", both)
	want(t, send(both, "3", "enter"), ask.None{})
	golden(t, "permission-both-always", both)
	want(t, send(both, "enter"), ask.Grant{Scope: grant.Project, Patterns: [][]string{{"cat *"}, {"/etc/*"}, nil}})

	sub := ask.NewPermission(styletest.Keys(t), &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{Permission: "bash", Patterns: []string{"ls"}}}, ask.Options{From: "explore"})
	sub.SetWaiting(2)
	golden(t, "permission-subagent", sub)

	full := bash(t, strings.Repeat("echo line\n", 60))
	send(full, "ctrl+f", "end")
	golden(t, "permission-full", full)
	if !full.Fullscreen() {
		t.Error("not full screen")
	}
}

func TestPermission_Choices(t *testing.T) {
	once := ask.Reply{Reply: lathe.Once}
	always := ask.Grant{Scope: grant.Project, Patterns: [][]string{{"git push *"}}}
	session := ask.Grant{Scope: grant.Session, Patterns: [][]string{{"git push *"}}}
	for _, c := range []struct {
		keys string
		out  ask.Result
	}{
		{"enter", once},
		{"1", ask.None{}}, // a digit selects
		{"1 enter", once},
		{"3 1 enter", once},
		{"right left enter", once},
		{"2 enter", ask.None{}}, // its patterns were not drawn, so it asks again
		{"2 draw enter", session},
		{"tab draw enter", session},
		{"2 enter enter", session},
		{"3 enter", ask.None{}},
		{"3 draw enter", ask.None{}},
		{"3 enter enter", always},
		{"3 enter 3 enter", ask.None{}}, // cancel
		{"3 enter esc", ask.None{}},
		{"3 enter esc enter", ask.None{}}, // back at "always", which asks again
		{"3 enter 1", ask.None{}},
		{"3 enter 1 enter", always},
		{"3 enter 2 enter", ask.None{}}, // edit
		{"3 enter 2 enter enter", ask.None{}},
		{"3 enter 2 enter enter enter", always},
		{"3 enter 2 enter tab enter enter", ask.Grant{Scope: grant.Project, Patterns: [][]string{{"git push"}}}},
		{"3 enter 2 enter tab tab enter enter", always},
		{"3 enter 2 enter backspace backspace enter enter", ask.Grant{Scope: grant.Project, Patterns: [][]string{{"git push"}}}},
		{"3 enter 2 enter x y enter enter enter", ask.None{}}, // it does not match, and nothing is saved
		{"3 enter 2 enter x y esc enter", always},             // esc brings the proposal back
		{"3 enter 2 enter ctrl+u enter enter", ask.None{}},    // empty
		{"2 enter 2 enter tab enter enter", ask.Grant{Scope: grant.Session, Patterns: [][]string{{"git push"}}}},
		{"4 enter", ask.None{}},
		{"4 enter enter", ask.Reply{Reply: lathe.Reject}},
		{"left enter enter", ask.Reply{Reply: lathe.Reject}},
		{"esc enter", ask.Reply{Reply: lathe.Reject}},
		{"esc esc", ask.Reply{Reply: lathe.Reject}},
		{"ctrl+c ctrl+c", ask.Reply{Reply: lathe.Reject}},
		{"4 enter n o enter", ask.Reply{Reply: lathe.Reject, Message: "no"}},
		{"4 enter up enter", ask.None{}}, // at Reject, not at Allow
		{"4 enter n o esc", ask.None{}},  // back, and the words are kept
		{"4 enter n o esc enter enter", ask.Reply{Reply: lathe.Reject, Message: "no"}},
		{"n o enter", ask.Reply{Reply: lathe.Reject, Message: "no"}},
		{"h enter", ask.Reply{Reply: lathe.Reject, Message: "h"}},
		{"l enter", ask.Reply{Reply: lathe.Reject, Message: "l"}},
		{"5 enter", ask.Reply{Reply: lathe.Reject, Message: "5"}},
		{"space 1 enter", ask.Reply{Reply: lathe.Reject, Message: "1"}},
		{"3 enter n enter", ask.Reply{Reply: lathe.Reject, Message: "n"}}, // also where always is confirmed
		{"n backspace up 1 enter", ask.Reply{Reply: lathe.Reject, Message: "1"}},
		{"n esc 1 enter", once}, // esc is the way back
		{"n backspace esc 1 enter", once},
		{"ctrl+p", ask.Unused{}},
	} {
		p := bash(t, "git push")
		frame(t, p, 80, 20)
		t.Run(c.keys, func(t *testing.T) {
			var out ask.Result
			for i, keys := range strings.Split(c.keys, " draw ") {
				if i > 0 {
					frame(t, p, 80, 20)
				}
				out = send(p, strings.Fields(keys)...)
			}
			want(t, out, c.out)
		})
	}
}

// What has no pattern to allow for ever does not offer it.
func TestPermission_WithoutAlways(t *testing.T) {
	p := permission(t, "sandbox", `{"command":"x"}`, []string{"x"}, nil)
	if text := frame(t, p, 80, 20); strings.Contains(text, "lways") {
		t.Errorf("offers always:\n%s", text)
	}
	want(t, send(p, "2", "enter", "enter"), ask.Reply{Reply: lathe.Reject})
	want(t, send(permission(t, "sandbox", ``, nil, nil), "3", "enter"), ask.Reply{Reply: lathe.Reject, Message: "3"})
}

// Keys meant for the prompt never answer: not in the first moment, and not while somebody goes on typing.
func TestPermission_HoldsKeysBack(t *testing.T) {
	p := bash(t, "rm -rf ~")
	p.StartGuard(start)
	at := start
	for _, r := range "yes do it 1 2\n" {
		at = at.Add(100 * time.Millisecond)
		name := string(r)
		switch r {
		case ' ':
			name = "space"
		case '\n':
			name = "enter"
		}
		want(t, p.Key(styletest.Press(name), at), ask.None{})
	}
	want(t, p.Key(styletest.Press("enter"), at.Add(ask.Quiet-time.Millisecond)), ask.None{})
	want(t, p.Key(styletest.Press("enter"), at.Add(2*ask.Quiet)), ask.None{}) // nothing is selected any longer
	want(t, p.Key(styletest.Press("1"), at.Add(3*ask.Quiet)), ask.None{})
	want(t, p.Key(styletest.Press("enter"), at.Add(3*ask.Quiet)), ask.Reply{Reply: lathe.Once})

	never := bash(t, "x") // Shown was forgotten: the first key only begins the wait
	want(t, never.Key(styletest.Press("enter"), start), ask.None{})
	want(t, never.Key(styletest.Press("enter"), start.Add(ask.Quiet)), ask.Reply{Reply: lathe.Once})

	held := bash(t, "x")
	held.StartGuard(start)
	k := styletest.Press("enter")
	k.IsRepeat = true
	want(t, held.Key(k, ready), ask.None{})

	twice := bash(t, "x") // two quick presses do not allow for ever
	twice.StartGuard(start)
	twice.Key(styletest.Press("3"), ready)
	twice.Key(styletest.Press("enter"), ready)
	want(t, twice.Key(styletest.Press("enter"), ready.Add(50*time.Millisecond)), ask.None{})
	want(t, twice.Key(styletest.Press("enter"), ready.Add(time.Second)), ask.Grant{Scope: grant.Project, Patterns: [][]string{{"git push *"}}})

	// A reason is typed at once, and all of it.
	why := bash(t, "x")
	why.StartGuard(start)
	write(why, "no")
	want(t, why.Key(styletest.Press("enter"), ready), ask.Reply{Reply: lathe.Reject, Message: "no"})
}

func TestPermission_PasteNeverAnswers(t *testing.T) {
	for _, stage := range []string{"f5", "2", "3", "4"} {
		p := bash(t, "x")
		send(p, stage)
		for _, text := range []string{"1", "\r", "\n\n", "1\r\n", "y\n", "\x1b[200~1\r"} {
			want(t, p.Paste(text), ask.None{})
		}
	}
}

func TestPermission_Mouse(t *testing.T) {
	p := bash(t, "ls")
	p.StartGuard(start)
	lines := strings.Split(frame(t, p, 80, 20), "\n")
	for y, l := range lines {
		at := strings.Index(l, "4 Reject")
		if at < 0 {
			continue
		}
		x := style.Width(l[:at])
		want(t, p.Click(x, y, start), ask.None{}) // too early
		want(t, p.Click(x, y, ready), ask.None{})
		if _, _, ok := p.Cursor(); !ok {
			t.Error("a click on Reject does not ask for a reason")
		}
		return
	}
	t.Fatalf("no button in:\n%s", strings.Join(lines, "\n"))
}

func TestPermission_Scrolls(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("echo %d.", i))
	}
	p := bash(t, strings.Join(lines, "\n"))
	if text := frame(t, p, 60, 16); !strings.Contains(text, "echo 0.") || !strings.Contains(text, "more lines below") {
		t.Errorf("does not say that there is more:\n%s", text)
	}
	send(p, "down", "pgdown")
	if text := frame(t, p, 60, 16); strings.Contains(text, "echo 1.") || !strings.Contains(text, "above") {
		t.Errorf("not scrolled:\n%s", text)
	}
	seen := ""
	send(p, "home")
	for range 100 {
		seen += frame(t, p, 60, 16)
		p.Wheel(1)
	}
	for _, l := range lines {
		if !strings.Contains(seen, l) {
			t.Fatalf("%q is never seen", l)
		}
	}
}

func TestPermission_Colors(t *testing.T) {
	th := style.Default(true)
	colors := func(p *ask.Permission) (bar style.Color, marked string) {
		lines := p.View(th, 80, 20)
		for _, l := range lines {
			for _, s := range l {
				if s.Attr.FG == th.Warning && strings.HasPrefix(s.Text, `\`) {
					marked += s.Text
				}
				if !s.Attr.BG.IsSet() {
					t.Errorf("%q has no background", s.Text)
				}
			}
		}
		return lines[0][0].Attr.FG, marked
	}
	if bar, _ := colors(bash(t, "ls")); bar != th.Warning {
		t.Errorf("bar of a command is %v", bar)
	}
	for _, meta := range []string{`{"command":"ls","sandbox":"off"}`, `{"command":"ls","sandbox":{"mode":"off","network":true}}`} {
		if bar, _ := colors(permission(t, "bash", meta, nil, nil)); bar != th.Error {
			t.Errorf("bar of a command without sandbox is %v", bar)
		}
	}
	if bar, _ := colors(permission(t, "bash", `{"command":"ls","sandbox":"workspace"}`, nil, nil)); bar != th.Warning {
		t.Errorf("bar of a command with a sandbox is %v", bar)
	}
	if _, marked := colors(bash(t, "a\x1b[2K\x07b\r")); marked != `\e\x07\r` {
		t.Errorf("hidden characters are marked as %q", marked)
	}
}

func TestPermission_HiddenInChange(t *testing.T) {
	for patch, want := range map[string]bool{"+a\u202eb": true, "+a\r\n+b": false, "+a\rb": true, "+plain é 日本": false} {
		meta, err := json.Marshal(map[string]string{"filepath": "a", "diff": patch})
		if err != nil {
			t.Fatal(err)
		}
		text := frame(t, permission(t, "edit", string(meta), nil, nil), 80, 20)
		if got := strings.Contains(text, "hidden characters"); got != want {
			t.Errorf("%q: told %v:\n%s", patch, got, text)
		}
	}
}

// Whatever a tool sends as metadata, the region stands, and tells what it can.
func TestPermission_StrangeMetadata(t *testing.T) {
	for _, meta := range []string{``, `null`, `[]`, `"x"`, `12`, `{"command":12,"unknown":"x"}`, `{"diff":{"a":1},"filepath":["x"]}`, `{"unknown":[{"text":"a"},null]}`} {
		for _, name := range []string{"edit", "bash", "sandbox", "external_directory", "doom_loop", "lsp", "task", "glob", "webfetch", "x"} {
			p := permission(t, name, meta, []string{"the pattern"}, nil)
			for _, width := range []int{20, 40, 80} {
				frame(t, p, width, 12)
			}
		}
	}
	if text := frame(t, permission(t, "bash", ``, []string{"the pattern"}, nil), 80, 12); !strings.Contains(text, "the pattern") {
		t.Errorf("does not say what is asked:\n%s", text)
	}
}

// Where a choice is made, no keys that contain another printable one ever allow anything: only esc, which says that the
// words were not meant, leads back to a choice. Of the keys of the first moment, which belong to the prompt, no enter is
// left over either: something must be selected behind them.
func TestPermission_WordsNeverAllow(t *testing.T) {
	selects := []string{"1", "2", "3", "4", "left", "right", "tab", "shift+tab"}
	neither := []string{"enter", "enter", "up", "down", "home", "end", "pgup", "pgdown", "backspace", "delete", "ctrl+f", "ctrl+u", "ctrl+w"}
	others := []string{"h", "l", "j", "k", "g", "G", "y", "Y", "a", "n", "x", "space", "0", "5", "9", "日", "!", "/", ","}
	all := slices.Concat(selects, neither, others)
	rapid.Check(t, func(rt *rapid.T) {
		p := bash(t, "rm -rf ~")
		if rapid.Bool().Draw(rt, "without always") {
			p = permission(t, "sandbox", `{"command":"x"}`, []string{"x"}, nil)
		}
		frame(t, p, 80, 20)
		early := rapid.Bool().Draw(rt, "early")
		at, typed, selected := start, false, true
		p.StartGuard(at)
		for range rapid.IntRange(1, 20).Draw(rt, "keys") {
			pause := time.Second
			if early {
				pause = rapid.SampledFrom([]time.Duration{time.Millisecond, ask.Quiet, time.Second}).Draw(rt, "pause")
			}
			at = at.Add(pause)
			name := rapid.SampledFrom(all).Draw(rt, "key")
			typed = typed || slices.Contains(others, name)
			selected = selected && !slices.Contains(others, name) || slices.Contains(selects, name)
			out := p.Key(styletest.Press(name), at)
			reply, ok := out.(ask.Reply)
			_, granted := out.(ask.Grant)
			if (granted || ok && reply.Reply != lathe.Reject) && (typed && !early || !selected) {
				rt.Fatalf("%s gave the permission: %+v", name, out)
			}
			if ok || granted || strings.Contains(frame(t, p, 80, 20), "Pattern for") { // what is typed there is a pattern
				return
			}
		}
	})
}
