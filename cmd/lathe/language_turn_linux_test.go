package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/lsptest"
)

const (
	languageRepair = "call edit {\"filePath\":\"a.x\",\"oldString\":\"BAD\",\"newString\":\"good\"}\nfinish tool-calls\n--\n"
	// languageLate is longer than a call waits for results.
	languageLate = "2200ms"
)

// Errors that come after the last call continue the turn, unless the user does not want that.
func TestLanguage_LateErrors(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{``: "one\ngood\n", `"checks": {"checklist": false, "unverified": false, "new_errors": false},`: "one\nBAD\n"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			home, app, m := languageHome(t, languageEdit+languageDone+"--\n"+languageRepair+languageDone, settings, "late", languageLate)
			must(t, home, "run", "-C", app, "--title", "A", "edit it")
			text, err := os.ReadFile(filepath.Join(app, "a.x"))
			if err != nil || string(text) != want {
				t.Errorf("%q, %v: %s", text, err, m.Last())
			}
			if last := m.Last().String(); !strings.Contains(last, "diagnostics not known yet: mine") || strings.Contains(last, `New errors since this change:\na.x:2: bad: BAD\n\nLanguage servers found this after your last call.`) != (settings == "") {
				t.Errorf("%s", last)
			}
		})
	}
}

// A server tells its clients about language servers: their states, errors and symbols, by routes and by events. Errors that
// come after the end of a turn are in the next prompt.
func TestLanguage_Served(t *testing.T) {
	t.Parallel()
	home, app, m := languageHome(t, languageEdit+languageDone+"--\n"+languageDone, "", "late", languageLate)
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	at := "directory=" + app
	var empty []api.LanguageServer
	if s.ask(200, &empty, "GET", "/lathe/lsp?"+at, ""); len(empty) != 0 {
		t.Errorf("before the first edit: %+v", empty)
	}
	var made lathe.Session
	s.ask(200, &made, "POST", "/session?"+at, `{"title":"A"}`)
	seen := map[string]int{}
	s.listen("/event?"+at, "", func(_ string, ev lathe.Event) bool {
		if ev.Fact.Type() == "server.connected" {
			s.ask(204, nil, "POST", "/session/"+string(made.ID)+"/prompt_async?"+at, `{"parts":[{"type":"text","text":"edit it"}]}`)
		}
		if d, ok := ev.Fact.(*lathe.LSPDiagnosed); ok && (d.Server != "mine" || filepath.Base(d.Path) != "a.x") {
			t.Errorf("%+v", d)
		}
		seen[ev.Fact.Type()]++
		return seen["lsp.client.diagnostics"] < 2 // one for the text before the edit, one for that after it
	})
	if seen["lsp.updated"] == 0 {
		t.Errorf("events: %v", seen)
	}
	var all []api.LanguageServer
	s.ask(200, &all, "GET", "/lathe/lsp?"+at, "")
	if len(all) != 1 || all[0].ID != "mine" || all[0].State != "running" || all[0].Errors != 1 || all[0].Memory == 0 || all[0].Root != "." {
		t.Errorf("%+v", all)
	}
	if got := s.ask(200, nil, "GET", "/lsp?"+at, ""); strings.TrimSpace(got) != `[{"id":"mine","name":"mine","root":".","status":"connected"}]` {
		t.Errorf("%s", got)
	}
	var symbols []api.Symbol
	s.ask(200, &symbols, "GET", "/find/symbol?query=Some&"+at, "")
	if len(symbols) != 1 || symbols[0].Name != "SomeFound" || symbols[0].Kind != 12 || symbols[0].Location.URI != "file://"+realDir(t, app)+"/a.x" || symbols[0].Location.Range.Start.Line != 1 {
		t.Errorf("%+v", symbols)
	}
	until(t, func() bool { return !strings.Contains(s.ask(200, nil, "GET", "/session/status?"+at, ""), "busy") })
	s.ask(200, nil, "POST", "/session/"+string(made.ID)+"/message?"+at, `{"parts":[{"type":"text","text":"and now?"}]}`)
	if last := m.Last().String(); !strings.Contains(last, `Since your last answer, language servers and formatters reported:\nNew errors since this change:\na.x:2: bad: BAD`) {
		t.Errorf("%s", last)
	}
	s.end()
}

func realDir(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// A step with several changes reports once, with the state at its end, and files that a command changed count.
func TestLanguage_StepAndCommand(t *testing.T) {
	t.Parallel()
	edit := `edit {"filePath":"a.x","oldString":"two","newString":"BAD a"}` + "\nand " + `edit {"filePath":"b.x","oldString":"two","newString":"BAD b"}` +
		"\nand " + `write {"filePath":"c.x","content":"BAD c\n"}` + "\nfinish tool-calls\n--\n"
	command := `bash {"command":"printf 'one\\ngood\\n' > a.x; printf 'BAD d\\n' >> b.x","description":"change files"}` + "\nfinish tool-calls\n--\n"
	last := "not known yet"
	for tries := 0; tries < 20 && strings.Contains(last, "not known yet"); tries++ { // a busy machine may need longer than a call waits
		home, app, m := languageHome(t, "call "+edit+"call "+command+languageTwice, `"permission": "allow",`)
		languageFile(t, app, "b.x", "one\ntwo\n")
		must(t, home, "run", "-C", app, "--title", "A", "edit it")
		last = m.Last().String()
	}
	for _, want := range []string{`a.x:2: bad: BAD a`, `b.x:2: bad: BAD b`, `c.x:1: bad: BAD c`, `New errors since this change:\nb.x:3: bad: BAD d`} {
		if strings.Count(last, want) != 1 {
			t.Errorf("%d times %q: %s", strings.Count(last, want), want, last)
		}
	}
	if n := strings.Count(last, "New errors since this change:"); n != 2 {
		t.Errorf("%d reports: %s", n, last)
	}
}

// The formatter of an edit keeps to its lines, and undo restores every one of them.
func TestLanguage_FormatAndUndo(t *testing.T) {
	t.Parallel()
	const before = "package x\n\nvar  a   = 1\n\nvar b = 2\n"
	for scope, want := range map[string]string{"edit": "package x\n\nvar  a   = 1\n\nvar b = 3\n", "file": "package x\n\nvar a = 1\n\nvar b = 3\n"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			script := `call edit {"filePath":"a.go","oldString":"var b = 2","newString":"var   b =   3"}` + "\nfinish tool-calls\n--\n" + languageDone
			home, app, m := languageHome(t, script, `"formatter": {"scope": "`+scope+`"},`)
			path := filepath.Join(app, "a.go")
			languageFile(t, app, "a.go", before)
			must(t, home, "run", "-C", app, "--title", "A", "edit it")
			check := func(want string) {
				t.Helper()
				if text, err := os.ReadFile(path); err != nil || string(text) != want {
					t.Fatalf("%q, %v, want %q: %s", text, err, want, m.Last())
				}
			}
			check(want)
			if last := m.Last().String(); !strings.Contains(last, "gofmt formatted a.go. These lines now read:") || !strings.Contains(last, "5: var b = 3") {
				t.Errorf("the model is not told: %s", last)
			}
			must(t, home, "session", "undo", "last", "-C", app)
			check(before)
		})
	}
}

// The real gopls in the sandbox: the error is in the result of the edit, a rename over 30 files can be undone, and nothing
// survives when lathe is killed.
func TestLanguage_RealGopls(t *testing.T) {
	t.Parallel()
	env := lsptest.Env(t, "gopls")
	mark := "LATHE_MARK=" + strconv.Itoa(os.Getpid()) + "-" + t.Name()
	name, value, _ := strings.Cut(mark, "=")
	script := `call lsp {"operation":"rename","symbol":"Kern","filePath":"core.go","newName":"Core"}` + "\nfinish tool-calls\n--\n" + languageDone + "--\n" +
		`call edit {"filePath":"core.go","oldString":"len(s)","newString":"missing(s)"}` + "\nfinish tool-calls\n--\nstall\n"
	home, app, m := languageHome(t, script, `"permission": "allow",`)
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), `"lsp": {`, fmt.Sprintf(`"lsp": {"gopls": {"env": {%q: %q}}, `, name, value), 1))
	if err := os.WriteFile(settings, text, 0o600); err != nil {
		t.Fatal(err)
	}
	languageFile(t, app, "go.mod", "module example.org/x\n\ngo 1.24\n")
	languageFile(t, app, "core.go", "package x\n\nfunc Kern(s string) int { return len(s) }\n")
	for i := range 30 {
		languageFile(t, app, fmt.Sprintf("f%02d.go", i), fmt.Sprintf("package x\n\nvar V%02d = Kern(\"é🙂\") + Kern(\"\")\n", i))
	}
	start := func() {
		t.Helper()
		cmd := command(t, home, "run", "-C", app, "--title", "A", "rename it")
		cmd.Env = append(cmd.Env, env[len(env)-1]) // PATH
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	start()
	renamed := func() (n int) {
		for i := range 30 {
			text, err := os.ReadFile(filepath.Join(app, fmt.Sprintf("f%02d.go", i)))
			if err == nil && string(text) == fmt.Sprintf("package x\n\nvar V%02d = Core(\"é🙂\") + Core(\"\")\n", i) {
				n++
			}
		}
		return n
	}
	if n := renamed(); n != 30 {
		t.Fatalf("%d files renamed: %s", n, m.Last())
	}
	must(t, home, "session", "undo", "last", "-C", app)
	if n := renamed(); n != 0 {
		t.Errorf("%d files still renamed", n)
	}
	until(t, func() bool { return withEnv(mark) == 0 }) // an orderly end leaves none
	cmd := command(t, home, "run", "-C", app, "--title", "B", "edit it")
	cmd.Env = append(cmd.Env, env[len(env)-1])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return len(m.Requests()) == 4 })
	if last := m.Last().String(); !strings.Contains(last, `core.go:3: undefined: missing`) && !strings.Contains(last, "diagnostics not known yet: gopls") {
		t.Errorf("%s", last)
	}
	if withEnv(mark) == 0 {
		t.Error("gopls does not run")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	until(t, func() bool { return withEnv(mark) == 0 })
}

// withEnv counts the processes whose environment has an entry.
func withEnv(entry string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, path := range all {
		if text, err := os.ReadFile(path); err == nil && strings.Contains("\x00"+string(text), "\x00"+entry+"\x00") {
			n++
		}
	}
	return n
}
