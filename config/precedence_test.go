package config

import (
	"fmt"
	"testing"

	"github.com/lathe-agent/lathe"
)

// place of a probe: a file, or a variable that holds settings.
type probe struct{ file, env string }

// probes are all sources of settings, lowest first. A folder of agents has a markdown
// file beside its settings.
func probes() (out []probe) {
	files := func(dir string, names ...string) {
		for _, n := range names {
			out = append(out, probe{file: dir + "/" + n})
		}
	}
	markdown := []string{"agent/probe.md", "agents/probe.md", "mode/probe.md", "modes/probe.md"}
	names := []string{"opencode.json", "opencode.jsonc", "lathe.json", "lathe.jsonc"}
	files("home/.config/opencode", "config.json", "opencode.json", "opencode.jsonc")
	files("home/.config/lathe", "config.json", "lathe.json", "lathe.jsonc")
	files("extra", "reference.json", "ours.json") // OPENCODE_CONFIG, LATHE_CONFIG
	files("top", names...)
	files("top/mid", names...)
	files("top/mid/sub", names...)
	files("home/.config/opencode", markdown...)
	files("home/.config/lathe", markdown...)
	for _, dir := range []string{
		"top/mid/sub/.opencode", "top/mid/sub/.lathe", "top/mid/.opencode", "top/mid/.lathe", "top/.opencode", "top/.lathe",
		"home/.opencode", "home/.lathe", "extra/theirs", "extra/mine",
	} {
		files(dir, names...)
		files(dir, markdown...)
	}
	out = append(out, probe{env: "OPENCODE_CONFIG_CONTENT"}, probe{env: "LATHE_CONFIG_CONTENT"})
	files("etc/opencode", names...)
	files("etc/lathe", names...)
	return out
}

func precedenceFixture(t *testing.T) *fixture {
	w := newFixture(t)
	w.dir = "top/mid/sub"
	w.write("top/mid/sub/main.go", "")
	w.env = map[string]string{
		"OPENCODE_CONFIG": w.path("extra/reference.json"), "LATHE_CONFIG": w.path("extra/ours.json"),
		"OPENCODE_CONFIG_DIR": w.path("extra/theirs"), "LATHE_CONFIG_DIR": w.path("extra/mine"),
	}
	return w
}

// Each source says which it is; every source wins over those before it.
func TestLoad_Precedence(t *testing.T) {
	w := precedenceFixture(t)
	for i, p := range probes() {
		value := fmt.Sprintf("x/%d", i)
		switch {
		case p.env != "":
			w.env[p.env] = fmt.Sprintf(`{"agent": {"probe": {"model": %q}}}`, value)
		case isMarkdown(p.file):
			w.write(p.file, "---\nmodel: "+value+"\n---\n")
		default:
			w.write(p.file, fmt.Sprintf(`{"agent": {"probe": {"model": %q}}, // %s`+"\n}", value, p.file))
		}
		if got := w.load().Config.Agents["probe"].Model; got != value {
			t.Fatalf("%v loses against source %s", p, got)
		}
	}
	if got, want := len(w.load().Sources), len(probes()); got != want {
		t.Errorf("%d sources were read of %d", got, want)
	}
}

// The rules of a variable come last of all.
func TestLoad_PermissionVariable(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"permission": {"bash": "allow", "edit": "allow", "read": "allow", "list": "allow"}}`)
	w.write("etc/lathe/lathe.json", `{"permission": {"bash": "deny", "edit": "deny", "read": "deny"}}`)
	w.env["OPENCODE_PERMISSION"] = `{"bash": "ask", "edit": "ask"}`
	w.env["LATHE_PERMISSION"] = `{"bash": "allow"}`
	equal(t, lathe.Ruleset(w.load().Config.Permission), lathe.Ruleset{
		{Permission: "bash", Pattern: "*", Action: lathe.Allow},
		{Permission: "edit", Pattern: "*", Action: lathe.Ask},
		{Permission: "read", Pattern: "*", Action: lathe.Deny},
		{Permission: "list", Pattern: "*", Action: lathe.Allow},
	})
	w.env["LATHE_PERMISSION"] = `"deny"`
	if got := w.load().Rules().Evaluate("bash", "ls"); got.Action != lathe.Deny {
		t.Errorf("%+v", got)
	}
	w.env["LATHE_PERMISSION"] = `{"bash": "alow"}`
	equal(t, w.fail().Error(), `LATHE_PERMISSION:1:10: permission.bash: "alow" is not allowed: use "ask", "allow" or "deny"; did you mean "allow"?`+
		"\n  {\"bash\": \"alow\"}\n           ^")
}

func TestLoad_DisableProject(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	for _, name := range []string{"top/lathe.json", "top/sub/opencode.json", "top/.lathe/lathe.json", "top/sub/.opencode/opencode.jsonc"} {
		w.write(name, `{"model": "x/project", "instructions": ["more.md"]}`)
	}
	w.files(`
-- top/tui.json --
{"theme": "x"}
-- top/.lathe/agent/a.md --
Be good.
-- top/AGENTS.md --
-- top/more.md --
-- home/.config/lathe/lathe.json --
{"model": "x/user", "instructions": ["more.md"]}
`)
	equal(t, w.load().Config.Model, "x/project")
	for _, name := range []string{"LATHE_DISABLE_PROJECT_CONFIG", "OPENCODE_DISABLE_PROJECT_CONFIG"} {
		w.env = map[string]string{name: "True"}
		l := w.load()
		equal(t, l.Config.Model, "x/user")
		equal(t, len(l.Config.Agents)+len(l.Instructions), 0)
		equal(t, l.TUI.Theme, "")
	}
	w.env["LATHE_DISABLE_PROJECT_CONFIG"] = "0" // ours wins
	equal(t, w.load().Config.Model, "x/project")
}

// A variable that names nothing is worth a word.
func TestLoad_VariableNamesNothing(t *testing.T) {
	w := newFixture(t)
	w.env["LATHE_CONFIG"] = "~/none.json"
	equal(t, w.warnings(w.load()), []string{"~/none.json: is set in LATHE_CONFIG but does not exist"})
}

func TestLoad_Environment(t *testing.T) {
	w := newFixture(t)
	equal(t, string(w.load().Config.Raw), `{}`)
	w.env = map[string]string{"USER": "dev", "OPENCODE_DISABLE_AUTOCOMPACT": "1", "LATHE_DISABLE_PRUNE": "TRUE"}
	w.write("top/lathe.json", `{"compaction": {"auto": true, "prune": true, "reserved": 5}}`)
	l := w.load()
	sameJSON(t, l.Config.Raw, `{"compaction": {"auto": false, "prune": false, "reserved": 5}, "username": "dev"}`)
	equal(t, l.Config.Username, "dev")
	equal(t, *l.Config.Compaction.Auto, false)
	w.write("home/.config/lathe/lathe.json", `{"username": "grace"}`)
	equal(t, w.load().Config.Username, "grace")
}

// What lies in the home folder is the user's own, also above a directory without a checkout.
func TestLoad_NoCheckout(t *testing.T) {
	w := newFixture(t)
	w.write("home/lathe.json", `{"shell": "/bin/mine"}`)
	w.write("home/work/lathe.json", `{"shell": "/bin/theirs", "model": "x/y"}`)
	w.dir = "home/work"
	for _, worktree := range []string{"", "/"} {
		o := w.options()
		o.Worktree = worktree
		l, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, l.Config.Shell, "/bin/mine")
		equal(t, l.Config.Model, "x/y")
		equal(t, l.Untrusted.Root, w.path("home/work"))
	}
}

func TestLoad_NoOptions(t *testing.T) {
	l, err := Load(Options{Managed: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, string(l.Config.Raw), "{}")
}
