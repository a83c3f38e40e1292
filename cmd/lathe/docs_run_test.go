package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// What the documents show is run here, in order, each document in a home and its own project.

// otherwise is a line of a document that is not run as it is.
type otherwise struct {
	doc  string
	line string // how the line begins
	run  string // what is run instead; "" is nothing
	why  string
}

const (
	serves      = "serves" // it starts, answers, and is stopped
	typed       = "it is typed on a terminal; TestTerminal_Login does that"
	noNetwork   = "it fetches a program from the network"
	takesScreen = "it takes a terminal; the tests called TestTUIScreen run it on one"
)

func otherwiseRun() []otherwise {
	return []otherwise{
		{"README.md", "lathe auth login anthropic", "echo sk-x | lathe auth login anthropic", typed},
		{"README.md", "source <(lathe completion bash)", "source <(lathe completion bash) && complete -p lathe", "it is seen to have had an effect"},
		{"docs/tui.md", "lathe ~/src/app", "", takesScreen},
		{"docs/tui.md", "lathe -c", "", takesScreen},
		{"docs/tui.md", "lathe --mini", "", takesScreen},
		{"docs/tui.md", "lathe --accessible", "", takesScreen},
		{"docs/tui.md", "lathe --prompt", "", takesScreen},
		{"docs/tui.md", "lathe attach", "", takesScreen},
		{"docs/tui.md", "lathe demo --tui", "", takesScreen},
		{"README.md", "lathe run --resume", "", "nothing was interrupted; TestSignal_DuringATurn does that"},
		{"README.md", "lathe --mini", "", takesScreen},
		{"README.md", "lathe doctor", "lathe auth logout anthropic && lathe doctor", "the provider's own server cannot be reached from a test"},
		{"README.md", "lathe serve", serves, "it has no end"},
		{"docs/install.md", "lathe upgrade", "", noNetwork + "; TestUpgrade_Binary does it on loopback"},
		{"docs/install.md", "lathe doctor", "lathe doctor --json >/dev/null || true", "the scripted provider is one of two"},
		{"docs/mcp.md", "lathe mcp list", "", noNetwork},
		{"docs/server.md", "lathe serve  ", serves, "it has no end"},
		{"docs/web.md", "lathe serve  ", serves, "it has no end"},
		{"docs/web-devices.md", "lathe web", "", "it opens a browser and has no end; TestServe_Pair has it"},
		{"docs/web-devices.md", "lathe serve --hostname 0.0.0.0", "", "it listens on every address; TestServe_TLS has it"},
		{"docs/web-devices.md", "  lathe serve --port 4096", "", "the port may be another's; TestServe_Pair has it"},
		{"docs/web-devices.md", "lathe device revoke", "lathe device list", "no device is paired here; device.txtar has it"},
		{"docs/server.md", "lathe serve --socket", serves, "it has no end"},
		{"docs/server.md", "lathe run --attach http://127.0.0.1:4096", `lathe run --attach "$SERVER" "What is in this project?"`, "the port may be another's"},
		{"docs/permissions.md", "lathe permission revoke", "lathe permission list", "only an answer on a terminal approves; permission.txtar has it"},
		{"docs/tour.md", "lathe run -c \"Fix both\"", "", "the figures are those of another model; budget.txtar has it"},
		{"docs/tour.md", "lathe session fork last --at", "lathe session fork 4fc0 --at msg_b03f57f01001Zr", "the newest session here is another"},
		{"docs/tour.md", "lathe session archive e2289549", "lathe session archive \"$(lathe session list --archived | grep -o 'ses_[0-9A-Za-z]*')\" --undo", "ids are new each time"},
		{"docs/tour.md", "lathe session delete 4fc0", "lathe session delete 4fc0 --yes", "nobody is there to answer"},
		{"docs/tour.md", "lathe auth login anthropic", "echo sk-x | lathe auth login anthropic", typed},
		{"docs/login.md", "lathe auth login anthropic", "echo sk-x | lathe auth login anthropic", typed},
		{"docs/tour.md", "lathe export 4fc0 -o", "lathe import checkout.json && lathe export 4fc0 -o copy.json", "it was deleted above"},
	}
}

// docFixture is where the lines of one document run.
type docFixture struct {
	*testing.T
	home, project string
	env           []string
	exported      string // lines of export, which hold for what follows
}

// answering is a model that does what the documents need: it writes a file where something must
// be fixed, fills what a schema asks for, and else says a word.
func answering(r modeltest.Request) modeltest.Answer {
	body := string(r.Body)
	done := modeltest.Answer{modeltest.Text{"Done."}, modeltest.Usage{Input: 100, Output: 10}, modeltest.Finish("stop")}
	last := r.Prompt.Messages[len(r.Prompt.Messages)-1]
	switch {
	case strings.Contains(body, engine.TitleRequest):
		return modeltest.Answer{modeltest.Text{"A title"}, modeltest.Finish("stop")}
	case last.Role != "user":
		return done
	case strings.Contains(body, "StructuredOutput"):
		return modeltest.MustParse("call StructuredOutput {\"bugs\":1}\nfinish tool-calls")[0]
	case strings.Contains(fmt.Sprint(last), "Fix the flaky test"), strings.Contains(fmt.Sprint(last), "What is a Go module"):
		return modeltest.MustParse("call write {\"filePath\":\"CHANGES.md\",\"content\":\"- mended\\n\"}\nfinish tool-calls")[0]
	}
	return done
}

// newDocFixture makes a home whose settings name a scripted model, and a repository with two commits.
func newDocFixture(t *testing.T, doc string) *docFixture {
	server := modeltest.Start(t, nil)
	server.Respond(answering)
	w := &docFixture{T: t, home: t.TempDir()}
	w.project = filepath.Join(w.home, "app")
	settings := fmt.Sprintf(`{"model":"script/m","permission":{"bash":"allow"},"disabled_providers":["opencode"],"provider":{
"script":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%[1]q,"apiKey":"none"},"models":{"m":{"limit":{"context":131072,"output":2000},"cost":{"input":1,"output":2}}}},
"own":{"name":"Own server","npm":"@ai-sdk/openai-compatible","env":["OWN_KEY"],"options":{"baseURL":%[1]q},"models":{"coder-30b":{}}}}}`, server.URL+"/v1")
	checkout, err := os.ReadFile(sample(t, "first.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		".config/lathe/lathe.json": settings, ".local/share/man/man1/x": "", "app/checkout.json": string(checkout),
		"app/a.go": "package app\n", "app/docs/testing.md": "Run go test.\n", "app/cmd.txt": "ls\n",
	}
	if doc == "docs/sandbox.md" {
		files["app/lathe.json"] = `{"mcp":{"x":{"type":"local","command":["npx","some-server"]}},"permission":{"bash":"allow"}}`
	}
	for name, text := range files {
		path := filepath.Join(w.home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append(os.Environ(), "HOME="+w.home, "TZ=UTC", "GORACE=atexit_sleep_ms=0", "LATHE_DATA=", "LATHE_TRUST=",
		"XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "KEY=sk-own", "CI=", "HTTPS_PROXY=http://127.0.0.1:9",
		"GIT_CONFIG_GLOBAL="+filepath.Join(w.home, "none.gitconfig"), "GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.org", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.org")
	w.must(`git init -q -b main . && git add a.go && git commit -qm one && git update-ref refs/remotes/origin/main HEAD &&
echo "// New." >> a.go && git add -A && git commit -qm two && echo "// Newer." >> a.go`)
	if doc != "docs/migrate.md" { // the others show sessions before they say where those come from
		w.must("lathe import checkout.json")
	}
	return w
}

func (w *docFixture) shell(line string) (said string, err error) {
	cmd := exec.Command("bash", "-o", "pipefail", "-c", w.exported+line)
	cmd.Dir, cmd.Env = w.project, w.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

func (w *docFixture) must(line string) {
	w.Helper()
	if said, err := w.shell(line); err != nil {
		w.Fatalf("%s: %v\n%s", line, err, said)
	}
}

// serve starts a server as a line says, and ends it with the test.
func (w *docFixture) serve(line string) {
	w.Helper()
	calls, err := ourCalls(line)
	if err != nil || len(calls) != 1 {
		w.Fatalf("%s: %v, %v", line, calls, err)
	}
	args := calls[0][1:]
	for i, a := range args {
		args[i] = strings.Replace(a, "~", w.home, 1)
	}
	s := startServe(w.T, w.home, w.env, args...)
	w.env = append(w.env, "SERVER="+s.url)
	w.Cleanup(s.end)
}

// shown is a command of a document, and whether the document shows that it fails.
type shown struct {
	where, line string
	fails       bool
}

// shownIn are the commands of a document, in order.
func shownIn(doc string, fences []fence) (out []shown) {
	for _, f := range fences {
		if !strings.HasPrefix(f.where, doc+":") || f.lang != "" && f.lang != "sh" && f.lang != "console" {
			continue
		}
		for _, c := range f.commands() {
			calls, err := ourCalls(c)
			if err == nil && (len(calls) > 0 || strings.HasPrefix(c, "export ") || strings.HasPrefix(c, "echo ")) {
				out = append(out, shown{f.where, c, f.fails(c)})
			}
		}
	}
	return out
}

// fails reports whether the output shown below a command has a line of error.
func (f fence) fails(command string) bool {
	below := false
	for _, line := range f.lines {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			below = c == command
		} else if below && strings.HasPrefix(line, "Error: ") {
			return true
		}
	}
	return false
}

func TestDocs_Run(t *testing.T) {
	needUnix(t)
	for _, program := range []string{"bash", "git", "jq", "grep"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the documents use %s, which is not here", program)
		}
	}
	fences, _ := documents(t)
	table := otherwiseRun()
	docs := map[string]bool{}
	for _, f := range fences {
		doc, _, _ := strings.Cut(f.where, ":")
		docs[doc] = true
	}
	total := 0
	for doc := range docs {
		lines := shownIn(doc, fences)
		total += len(lines)
		needed := map[string]bool{}
		for _, o := range table {
			if o.doc == doc {
				needed[o.line] = true
			}
		}
		if len(lines) == 0 && len(needed) == 0 {
			continue
		}
		t.Run(doc, func(t *testing.T) {
			t.Parallel()
			w := newDocFixture(t, doc)
			for _, l := range lines {
				w.run(doc, l, table, needed)
			}
			for line := range needed {
				t.Errorf("%s has no line %q: its entry in the table is not needed", doc, line)
			}
		})
	}
	if total < 80 {
		t.Errorf("only %d commands were found: this test has lost its way", total)
	}
}

// run runs one line, or what the table says instead.
func (w *docFixture) run(doc string, l shown, table []otherwise, needed map[string]bool) {
	w.Helper()
	line := l.line
	for _, o := range table {
		if o.doc == doc && strings.HasPrefix(l.line, o.line) {
			delete(needed, o.line)
			if o.run == serves {
				w.serve(l.line)
				return
			}
			if line = o.run; line == "" {
				return
			}
			break
		}
	}
	if strings.HasPrefix(line, "export ") {
		w.exported += line + "\n"
	}
	said, err := w.shell(line)
	if (err != nil) != l.fails {
		w.Errorf("%s: %s\nit ended with %v, and the document says otherwise:\n%s", l.where, line, err, said)
	}
	if regexp.MustCompile(`(?m)^Error: `).MatchString(said) != l.fails {
		w.Errorf("%s: %s\nwhether it tells an error is not %v:\n%s", l.where, line, l.fails, said)
	}
}
