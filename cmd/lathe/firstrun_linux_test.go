package main

import (
	"fmt"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// firstSettings are settings without a model, on a machine whose only model server is the scripted
// one, or none.
func firstSettings(server, more string) []string {
	off := `"lmstudio","llama.cpp","vllm"`
	if server == "" {
		off += `,"ollama"`
	}
	return []string{"CI=", "NO_COLOR=1", fmt.Sprintf(`LATHE_CONFIG_CONTENT={"disabled_providers":[%s],"provider":{"ollama":{"options":{"baseURL":%q}}%s}}`, off, server+"/v1", more)}
}

// A server on this machine is found and used, and the prompt that was given is answered.
func TestFirstRun_Local(t *testing.T) {
	s := httptest.NewServer(scripted{modeltest.New(modeltest.MustParse("text \"Here I am.\""))})
	defer s.Close()
	home := t.TempDir()
	x := onTerminal(t, home, firstSettings(s.URL, ""), "run", "--title", "t", "hello")
	seen := x.see("Number or name: ")
	for _, want := range []string{"no provider is configured.", "1  Log in to a provider, or enter an API key (login)", "2  Use Ollama (local) (2 models) (ollama)", "3  Use Big Pickle, a free model of OpenCode Zen, which sees your prompts and may store them (free)", "4  Watch the demo"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is not offered:\n%s", want, seen)
		}
	}
	x.enter("2\r")
	x.see("Model:")
	x.enter("tiny\r")
	code, seen := x.end()
	if code != 0 || !strings.Contains(seen, "Here I am.") || !strings.Contains(seen, `"model": "ollama/tiny"`) {
		t.Errorf("%d\n%s", code, seen)
	}
	if list := must(t, home, "session", "list"); strings.Count(list, "ses_") != 1 {
		t.Errorf("sessions:\n%s", list)
	}
}

// A key is given, and the prompt goes to its provider at once.
func TestFirstRun_Login(t *testing.T) {
	s := modeltest.Start(t, modeltest.MustParse("text \"Here I am.\""))
	home := t.TempDir()
	own := fmt.Sprintf(`,"anthropic":{"options":{"baseURL":%q}}`, s.URL+"/v1")
	x := onTerminal(t, home, append(firstSettings("", own), "ANTHROPIC_API_KEY="), "run", "--title", "t", "hello")
	seen := x.see("Number or name: ")
	if !strings.Contains(seen, "No local model server is running either") || strings.Contains(seen, "Use Ollama") {
		t.Errorf("offered:\n%s", seen)
	}
	x.enter("login\r")
	x.see("Provider:")
	x.enter("anthropic\r")
	x.see("Anthropic API key (input hidden): ")
	x.enter("sk-hidden-1\r")
	code, seen := x.end()
	if code != 0 || !strings.Contains(seen, "Saved the Anthropic API key") || !strings.Contains(seen, "Here I am.") || strings.Contains(seen, "sk-hidden") {
		t.Errorf("%d\n%s", code, seen)
	}
}

// Without a choice the commands are shown; an interrupt is no choice. Neither leaves a session.
func TestFirstRun_Nothing(t *testing.T) {
	home := t.TempDir()
	for key, want := range map[string]struct {
		code     int
		received bool
	}{"\x04": {5, true}, "\x03": {130, false}} {
		for _, args := range [][]string{{"run", "hello"}, {"debug", "ask", "hello"}} {
			x := onTerminal(t, home, firstSettings("", ""), args...)
			x.see("Number or name: ")
			x.enter(key)
			code, seen := x.end()
			if code != want.code || strings.Contains(seen, "lathe auth login  ") != want.received {
				t.Errorf("%v and %q: %d\n%s", args, key, code, seen)
			}
		}
	}
	if list := must(t, home, "session", "list", "--all", "--json"); list != "[]\n" {
		t.Errorf("sessions:\n%s", list)
	}
}

// Who is not watched is not asked, terminal or not.
func TestFirstRun_NotAsked(t *testing.T) {
	home := t.TempDir()
	for _, env := range []string{"CI=1", "CI="} {
		args := []string{"run", "hello"}
		if env == "CI=" {
			args = append(args, "--format", "json")
		}
		code, seen := onTerminal(t, home, append(firstSettings("", ""), env), args...).end()
		if code != 5 || strings.Contains(seen, "Number or name") {
			t.Errorf("%s %v: %d\n%s", env, args, code, seen)
		}
	}
}

// The demo can be seen instead; here it is cut short, since it takes its time.
func TestFirstRun_Demo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the demo runs go")
	}
	home := t.TempDir()
	x := onTerminal(t, home, firstSettings("", ""), "run", "hello")
	x.see("Number or name: ")
	x.enter("demo\r")
	x.see("A small ")
	x.enter("\x03")
	if code, seen := x.end(); code != 130 {
		t.Errorf("%d\n%s", code, seen)
	}
	noneLeft(t, home)
}

// The ways in stand in their order: logins of other tools on this machine, a new login, local servers, a
// free model, the demo. A login that was found answers the prompt at once.
func TestFirstRun_Found(t *testing.T) {
	local := httptest.NewServer(scripted{modeltest.New(nil)})
	defer local.Close()
	s := modeltest.Start(t, modeltest.MustParse("text \"From the plan.\""))
	home := t.TempDir()
	put(t, home, ".codex/auth.json", plan(time.Now().Add(time.Hour)))
	put(t, home, ".claude/.credentials.json", `{"claudeAiOauth":{"accessToken":"sk-ant-oat-1"}}`)
	own := fmt.Sprintf(`,"openai":{"options":{"baseURL":%q}}`, s.URL)
	x := onTerminal(t, home, append(firstSettings(local.URL, own), "XDG_CONFIG_HOME=", "OPENAI_API_KEY="), "run", "--title", "t", "hello")
	seen := x.see("Number or name: ")
	at := -1
	for _, want := range []string{"1  Use the ChatGPT login from Codex (~/.codex/auth.json)", "2  Log in to a provider", "3  Use Ollama (local)", "4  Use Big Pickle, a free model", "5  Watch the demo"} {
		i := strings.Index(seen, want)
		if i <= at {
			t.Errorf("%q is not offered in its place:\n%s", want, seen)
		}
		at = i
	}
	if strings.Contains(seen, "Claude") {
		t.Errorf("a login that is not allowed is offered:\n%s", seen)
	}
	x.enter("1\r")
	if code, seen := x.end(); code != 0 || !strings.Contains(seen, "From the plan.") {
		t.Errorf("%d\n%s", code, seen)
	}
}
