package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/cli/debug"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// languageHome is a home with a project app, whose .x files have the server above.
func languageHome(t *testing.T, script, settings string, args ...string) (home, app string, m *modeltest.Server) {
	t.Helper()
	m = modeltest.Start(t, modeltest.MustParse(script))
	home = serveHome(t, m.URL)
	program, err := exec.LookPath("lathe-language")
	if err != nil {
		t.Fatal(err)
	}
	command, err := json.Marshal(append([]string{program}, args...))
	if err != nil {
		t.Fatal(err)
	}
	own := fmt.Sprintf(`{"lsp": {"mine": {"command": %s, "extensions": [".x"]}}, "overview": false, "checks": {"checklist": false, "unverified": false}, %s`, command, settings)
	text := strings.Replace(fmt.Sprintf(debug.ScriptConfig, m.URL), "{", own, 1)
	if err := os.WriteFile(filepath.Join(home, ".config", "lathe", "lathe.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	app = filepath.Join(home, "app")
	languageFile(t, app, "a.x", "one\ntwo\n")
	return home, app, m
}

func languageFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

const (
	languageRead = "call read {\"filePath\":\"a.x\"}\nfinish tool-calls\n--\n"
	languageEdit = "call edit {\"filePath\":\"a.x\",\"oldString\":\"two\",\"newString\":\"BAD\"}\nfinish tool-calls\n--\n"
	languageDone = "text \"Done.\"\nfinish stop\n"
	// languageTwice ends a turn that late errors may continue.
	languageTwice = languageDone + "--\n" + languageDone
)

// Reading starts no server; the first edit does, and its error is in the result of that edit.
func TestLanguage_NothingWithoutEdit(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	script := "when \"read\"\n" + languageRead + "when \"read\"\n" + languageDone + "--\n" + languageEdit + languageTwice
	home, app, m := languageHome(t, script, `"sandbox": "off",`)
	wrapper := filepath.Join(home, "server.sh")
	program, err := exec.LookPath("lathe-language")
	if err != nil {
		t.Fatal(err)
	}
	languageFile(t, home, "server.sh", "#!/bin/sh\ntouch "+mark+"\nexec "+program+"\n")
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(strings.Replace(string(text), program, wrapper, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, home, "run", "-C", app, "--title", "A", "read it")
	if _, err := os.Stat(mark); err == nil {
		t.Error("a server started without an edit")
	}
	must(t, home, "run", "-C", app, "--title", "B", "edit it")
	if _, err := os.Stat(mark); err != nil || !strings.Contains(m.Last().String(), "New errors since this change:\\na.x:2: bad: BAD") {
		t.Errorf("%v: %s", err, m.Last())
	}
}

// A server can neither write to the project nor reach the network; without the sandbox it can do both.
func TestLanguage_Confined(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // it was only dialed
	for settings, want := range map[string]string{``: "wrote=false dialed=false", `"sandbox": "off",`: "wrote=true dialed=true"} {
		got := "not known yet"
		home := ""
		for tries := 0; tries < 20 && strings.Contains(got, "not known yet"); tries++ { // a busy machine may need longer than an edit waits
			var app string
			var m *modeltest.Server
			home, app, m = languageHome(t, languageEdit+languageTwice, settings, "try", l.Addr().String())
			must(t, home, "run", "-C", app, "--title", "A", "edit it")
			got = m.Last().String()
		}
		if settings == "" && strings.Contains(got, "wrote=true dialed=true") && !confines(t, home) {
			t.Skip("this machine has no sandbox")
		}
		if !strings.Contains(got, want) {
			t.Errorf("with %q: %s, want %s", settings, got, want)
		}
	}
}

// confines reports whether this machine can confine commands.
func confines(t *testing.T, home string) bool {
	t.Helper()
	return !strings.Contains(must(t, home, "debug", "sandbox"), "not confined")
}

// Programs of a project that is not trusted do not start, whatever language and formatter they stand for.
func TestLanguage_Untrusted(t *testing.T) {
	t.Parallel()
	script := "call write {\"filePath\":\"a.py\",\"content\":\"x=1\\n\"}\nand write {\"filePath\":\"a.js\",\"content\":\"x=1\\n\"}\nfinish tool-calls\n--\n" + languageDone
	for trust, want := range map[string]bool{"0": false, "1": true} {
		home, app, _ := languageHome(t, script, `"sandbox": "off",`)
		mark := filepath.Join(home, "mark")
		for _, name := range []string{"prettier", "pyright-langserver"} {
			languageFile(t, app, "node_modules/.bin/"+name, "#!/bin/sh\ntouch "+mark+"-"+name+"\n")
		}
		languageFile(t, app, ".prettierrc", "{}")
		cmd := command(t, home, "run", "-C", app, "--title", "A", "write it")
		cmd.Env = append(cmd.Env, "LATHE_TRUST="+trust)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		for _, name := range []string{"prettier", "pyright-langserver"} {
			if _, err := os.Stat(mark + "-" + name); (err == nil) != want {
				t.Errorf("trust %s: whether %s ran is not %v", trust, name, want)
			}
		}
	}
}

// A rename over 30 files is one edit: it needs the permission for every file, the plan agent has none, and undo takes all of it back.
func TestLanguage_Rename(t *testing.T) {
	t.Parallel()
	call := "call lsp {\"operation\":\"rename\",\"symbol\":\"one\",\"filePath\":\"a.x\",\"newName\":\"uno\"}\nfinish tool-calls\n--\n" + languageDone
	for name, tt := range map[string]struct {
		rules, agent string
		renamed      bool
	}{
		"allowed": {`"edit": "allow"`, "build", true}, "one file denied": {`"edit": {"*": "allow", "*f7.x": "deny"}`, "build", false},
		"guarded": {`"edit": "allow"`, "build", false}, "plan": {`"edit": "allow"`, "plan", false}, "explore": {`"edit": "allow"`, "build", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The tool is offered since a server is installed for the language of go.mod.
			call := call
			if name == "explore" { // a subagent, which the first answer starts
				call = "call task {\"description\":\"rename\",\"prompt\":\"rename it\",\"subagent_type\":\"explore\"}\nfinish tool-calls\n--\n" + call + "--\n" + languageDone
			}
			home, app, m := languageHome(t, call, `"subagents": {"brief": 0}, "permission": {`+tt.rules+`},`)
			languageFile(t, app, "go.mod", "module x\n")
			languageFile(t, home, "bin/gopls", "#!/bin/sh\nexit 1\n")
			for i := range 30 {
				languageFile(t, app, fmt.Sprintf("f%d.x", i), "one "+strconv.Itoa(i)+"\n")
			}
			if name == "guarded" {
				languageFile(t, app, ".vscode/tasks.json", "one\n")
				if err := errors.Join(os.Remove(filepath.Join(app, "f0.x")), os.Symlink(".vscode/tasks.json", filepath.Join(app, "f0.x"))); err != nil {
					t.Fatal(err)
				}
			}
			cmd := command(t, home, "run", "-C", app, "--agent", tt.agent, "--title", "A", "rename it")
			cmd.Env = append(cmd.Env, "PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
			out, _ := cmd.CombinedOutput() // a refusal has a code of its own
			if text := m.Last().String(); !strings.Contains(text, "tool lsp\n") {
				t.Fatalf("the tool is not offered: %s", out)
			}
			check := func(want string) {
				t.Helper()
				for i := 1; i < 30; i++ {
					text, err := os.ReadFile(filepath.Join(app, fmt.Sprintf("f%d.x", i)))
					if err != nil || string(text) != want+" "+strconv.Itoa(i)+"\n" {
						t.Fatalf("f%d.x has %q, %v; %s", i, text, err, out)
					}
				}
			}
			if !tt.renamed {
				check("one")
				asked := func(r modeltest.Request) bool { return strings.Contains(r.String(), "was not run") }
				if name != "guarded" && !slices.ContainsFunc(m.Requests(), asked) {
					t.Errorf("it is not denied by a rule: %s", m.Last())
				}
				return
			}
			check("uno")
			must(t, home, "session", "undo", "last", "-C", app)
			check("one")
		})
	}
}

// A server ends with lathe, even if that is killed.
func TestLanguage_DiesWithUs(t *testing.T) {
	t.Parallel()
	mark := "survivor-" + strconv.Itoa(os.Getpid()) + "-" + t.Name()
	home, app, m := languageHome(t, languageEdit+"stall\n", "", mark)
	cmd := command(t, home, "run", "-C", app, "--title", "A", "edit it")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return len(m.Requests()) == 2 })
	until(t, func() bool { return running(mark) > 0 }) // on a busy machine the edit did not wait for it
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	until(t, func() bool { return running(mark) == 0 })
}

// running counts the processes with a word on their command line.
func running(word string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, path := range all {
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), word) {
			n++
		}
	}
	return n
}
