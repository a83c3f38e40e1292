package othertool

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

// machine is a user's home with these files, which only the user can read.
func machine(t *testing.T, files map[string]string) Machine {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Machine{Home: home, Env: func(string) string { return "" }, Variables: []Variable{
		{"ANTHROPIC_API_KEY", "anthropic"}, {"OPENAI_API_KEY", "openai"}, {"DEEPSEEK_API_KEY", "deepseek"}, {"OPENROUTER_API_KEY", "openrouter"},
	}}
}

func jwt(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

var (
	ends   = time.Unix(2_000_000_000, 0)
	access = jwt(`{"exp":2000000000,"https://api.openai.com/auth":{"chatgpt_account_id":"acc-2"}}`)
)

// describe shows a login with its secrets, for comparison.
func describe(l Login) string {
	out := fmt.Sprintf("%s %s [%s] ", l.Tool, l.Provider, l.Entry)
	switch c := l.Credential.(type) {
	case auth.Key:
		return out + "key " + c.Key.Reveal()
	case auth.OAuth:
		out += fmt.Sprintf("login access=%s refresh=%s account=%s at=%s", strings.ReplaceAll(c.Access.Reveal(), access, "ACCESS"), c.Refresh.Reveal(), c.AccountID, c.EnterpriseURL)
		if !c.Expires.IsZero() {
			out += fmt.Sprintf(" until %d", c.Expires.Unix())
		}
	case auth.WellKnown, auth.Reference:
	case nil:
		out += "refused: " + l.Refused
	}
	return out
}

// The formats are those that the tools document or write, as far as they are public.
func TestFind(t *testing.T) {
	const claude, google = "refused: " + refusedClaude, "refused: " + refusedGoogle
	for _, c := range []struct {
		name, tool string
		files      map[string]string
		want       []string
	}{
		{
			"a ChatGPT plan", "codex",
			map[string]string{".codex/auth.json": `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"` + jwt(`{"email":"me@x.test"}`) + `","access_token":"` + access + `","refresh_token":"rotates","account_id":"acc-1"},"last_refresh":"2026-01-01T00:00:00Z"}`},
			[]string{"codex openai [tokens] login access=ACCESS refresh= account=acc-1 at= until 2000000000"},
		},
		{
			"the account is in the token", "codex",
			map[string]string{".codex/auth.json": `{"tokens":{"access_token":"` + access + `","refresh_token":"rotates"}}`},
			[]string{"codex openai [tokens] login access=ACCESS refresh= account=acc-2 at= until 2000000000"},
		},
		{
			"a key that Codex prefers", "codex",
			map[string]string{".codex/auth.json": `{"auth_mode":"apikey","OPENAI_API_KEY":"sk-1","tokens":{"access_token":"opaque"}}`},
			[]string{"codex openai [OPENAI_API_KEY] key sk-1", "codex openai [tokens] login access=opaque refresh= account= at="},
		},
		{"Copilot's editors", "copilot", map[string]string{
			".config/github-copilot/hosts.json": `{"github.com":{"user":"me","oauth_token":"ghu_old"}}`,
			".config/github-copilot/apps.json":  `{"github.com:Iv1.x":{"user":"me","oauth_token":"ghu_1","githubAppId":"Iv1.x"},"acme.ghe.com:Iv1.x":{"oauth_token":"ghu_2"},"evil/host":{"oauth_token":"ghu_3"}}`,
		}, []string{
			"copilot github-copilot [acme.ghe.com:Iv1.x] login access= refresh=ghu_2 account= at=https://acme.ghe.com",
			"copilot github-copilot [github.com:Iv1.x] login access= refresh=ghu_1 account= at=",
			"copilot github-copilot [github.com] login access= refresh=ghu_old account= at=",
		}},
		{
			"gh", "gh",
			map[string]string{".config/gh/hosts.yml": "github.com:\n    git_protocol: https\n    users:\n        me:\n            oauth_token: gho_nested\n    oauth_token: \"gho_1\" # now\n    user: me\n"},
			[]string{"gh github-copilot [github.com] login access=gho_1 refresh=gho_1 account= at="},
		},
		{
			"OpenCode", "opencode",
			map[string]string{".local/share/opencode/auth.json": `{"openrouter":{"type":"api","key":"sk-or"},"anthropic":{"type":"oauth","access":"a","refresh":"r","expires":1},
			"openai":{"type":"oauth","access":"` + access + `","refresh":"rotates","expires":2000000000000,"accountId":"acc-1"},"github-copilot":{"type":"oauth","access":"gho_1","refresh":"gho_1","expires":0},"x":{"type":"wellknown"},"y":5}`},
			[]string{
				"opencode anthropic [anthropic] " + claude, "opencode github-copilot [github-copilot] login access=gho_1 refresh=gho_1 account= at=",
				"opencode openai [openai] login access=ACCESS refresh= account=acc-1 at= until 2000000000", "opencode openrouter [openrouter] key sk-or",
			},
		},
		{"Crush", "crush", map[string]string{
			".local/share/crush/crush.json": `{"providers":{"gemini":{"api_key":"AIza-1"},"copilot":{"api_key":"tid=short","oauth":{"access_token":"tid=short","refresh_token":"ghu_1","expires_in":1500,"expires_at":1700000000}},"openai":{"api_key":"$OPENAI_API_KEY"}}}`,
			".config/crush/crush.json":      `{"providers":{"anthropic":{"oauth":{"access_token":"a","refresh_token":"r"}},"zai":{"api_key":"$(pass zai)"}}}`,
		}, []string{"crush github-copilot [copilot] login access= refresh=ghu_1 account= at=", "crush google [gemini] key AIza-1", "crush anthropic [anthropic] " + claude}},
		{"Claude Code", "claude", map[string]string{
			".claude.json": `{"primaryApiKey":"sk-ant-1","projects":{}}`, ".claude/settings.json": `{"env":{"ANTHROPIC_API_KEY":"sk-ant-2","X":5}}`,
			".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"sk-ant-oat"}}`,
		}, []string{"claude anthropic [primaryApiKey] key sk-ant-1", "claude anthropic [ANTHROPIC_API_KEY] key sk-ant-2", "claude anthropic [claudeAiOauth] " + claude}},
		{
			"Gemini CLI", "gemini",
			map[string]string{".gemini/.env": "# mine\nexport GEMINI_API_KEY='AIza-1'\n", ".gemini/oauth_creds.json": `{"access_token":"ya29.x","refresh_token":"1//x","expiry_date":1}`},
			[]string{"gemini google [GEMINI_API_KEY] key AIza-1", "gemini google [oauth] " + google},
		},
		{"aider", "aider", map[string]string{
			".aider.conf.yml":        "# keys\nopenai-api-key: sk-1\nanthropic-api-key: 'sk-ant-1'\napi-key:\n- deepseek=sk-2\n- nobody=sk-3\n",
			".aider/oauth-keys.env":  "OPENROUTER_API_KEY=\"sk-or\"\n",
			".env":                   "AIDER_OPENAI_API_KEY=sk-4\nDATABASE_URL=postgres://x\n",
			".gemini/oauth_creds.js": "",
		}, []string{
			"aider openai [openai-api-key] key sk-1", "aider anthropic [anthropic-api-key] key sk-ant-1", "aider deepseek [api-key.deepseek] key sk-2",
			"aider openrouter [OPENROUTER_API_KEY] key sk-or", "aider openai [AIDER_OPENAI_API_KEY] key sk-4",
		}},
		{"nothing", "codex", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine(t, c.files)
			found, problems, err := m.Find(c.tool)
			var got []string
			for _, l := range found {
				got = append(got, describe(l))
				if ref, ok := l.Reference(); ok { // what is referenced is what was found
					c, err := m.Resolve(ref)
					if err != nil || describe(Login{Credential: c}) != describe(Login{Credential: l.Credential}) {
						t.Errorf("resolve %s: %v %v", l.Entry, c, err)
					}
				}
			}
			if err != nil || len(problems) > 0 || !slices.Equal(got, c.want) {
				t.Errorf("%v %v\ngot  %s\nwant %s", err, problems, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

// Each tool has variables that move its files.
func TestFind_Moved(t *testing.T) {
	for variable, c := range map[string]struct{ tool, file, text string }{
		"CODEX_HOME":        {"codex", "auth.json", `{"OPENAI_API_KEY":"sk-1"}`},
		"CLAUDE_CONFIG_DIR": {"claude", ".claude.json", `{"primaryApiKey":"sk-1"}`},
		"GH_CONFIG_DIR":     {"gh", "hosts.yml", "github.com:\n  oauth_token: gho_1\n"},
		"CRUSH_GLOBAL_DATA": {"crush", "crush.json", `{"providers":{"openai":{"api_key":"sk-1"}}}`},
		"XDG_DATA_HOME":     {"opencode", "opencode/auth.json", `{"openai":{"type":"api","key":"sk-1"}}`},
		"XDG_CONFIG_HOME":   {"copilot", "github-copilot/apps.json", `{"github.com":{"oauth_token":"ghu_1"}}`},
	} {
		m := machine(t, map[string]string{"moved/" + c.file: c.text})
		m.Env = func(name string) string {
			if name == variable {
				return filepath.Join(m.Home, "moved")
			}
			return ""
		}
		if found, problems, err := m.Find(c.tool); err != nil || len(problems) > 0 || len(found) != 1 {
			t.Errorf("%s: %v %v %v", variable, found, problems, err)
		}
	}
}

func TestFind_Env(t *testing.T) {
	m := machine(t, nil)
	m.Variables = append(m.Variables, Variable{"OPENAI_API_KEY", "another"})
	m.Env = func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "sk-1", "DEEPSEEK_API_KEY": "not a key"}[name]
	}
	found, _, err := m.Find("env")
	if err != nil || len(found) != 1 || describe(found[0]) != "env openai [OPENAI_API_KEY] key sk-1" || found[0].Variable != "OPENAI_API_KEY" {
		t.Errorf("%v %v", found, err)
	}
	if _, ok := found[0].Reference(); ok {
		t.Error("a variable has no file to refer to")
	}
	if _, _, err := m.Find("emacs"); lathe.CodeOf(err) != lathe.Invalid || !strings.Contains(err.Error(), "codex, copilot") {
		t.Error(err)
	}
	for _, id := range IDs() {
		if err := m.Missing(id); lathe.CodeOf(err) != lathe.NotFound {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// A token in gh's keyring is in no file; the user learns how to pass it on.
func TestFind_Keyring(t *testing.T) {
	m := machine(t, map[string]string{".config/gh/hosts.yml": "github.com:\n    user: me\n    git_protocol: ssh\n"})
	found, problems, err := m.Find("gh")
	if err != nil || len(found) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), "gh auth token | lathe auth login") {
		t.Errorf("%v %v %v", found, problems, err)
	}
}

func TestLogin_Masked(t *testing.T) {
	for text, want := range map[string]string{"sk-ant-api03-abcdefghijkl": "sk-a…ijkl", "short-secret": "****", "abc": "***"} {
		l, _ := key("p", "e", text)
		if got := l.Masked(); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	if (Login{Refused: "no"}).Masked() != "" {
		t.Error("there is nothing to mask")
	}
}

// Only a login whose refresh token we did not take ends by itself.
func TestLogin_CanExpire(t *testing.T) {
	secret := auth.NewSecret("x")
	for want, c := range map[bool]auth.Credential{true: auth.OAuth{Access: secret, Expires: ends}, false: auth.OAuth{Refresh: secret}} {
		if (Login{Credential: c}).CanExpire() != want {
			t.Error(c)
		}
	}
	if (Login{Credential: auth.Key{Key: secret}}).CanExpire() {
		t.Error("keys do not")
	}
}

func TestResolve_Errors(t *testing.T) {
	m := machine(t, map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":"sk-1"}`, ".claude/.credentials.json": `{"claudeAiOauth":{}}`})
	at := func(name string) string { return filepath.Join(m.Home, name) }
	for want, ref := range map[string]auth.Reference{
		"no longer has this login": {Tool: "codex", Path: at(".codex/auth.json"), Entry: "tokens"},
		"`codex login`":            {Tool: "codex", Path: at("gone/auth.json"), Entry: "tokens"},
		"unknown tool":             {Tool: "emacs", Path: at("x")},
		"is not a credential file": {Tool: "codex", Path: "auth.json"},
		"no longer has":            {Tool: "claude", Path: at(".claude/.credentials.json"), Entry: "claudeAiOauth"}, // not allowed
	} {
		if c, err := m.Resolve(ref); c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v", want, c, err)
		}
	}
}

// The names of providers in Crush are those that the catalog has from the same list.
func TestCrushNames(t *testing.T) {
	all := catalog.New(catalog.Filter{Experimental: true})
	for theirs, ours := range crushNames {
		if all.Provider(ours) == nil && catalog.VendorOf(ours).ID == "" {
			t.Errorf("%s: the catalog has no %s", theirs, ours)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"tokens":{"access_token":"a.b.c"}}`, "github.com:\n  oauth_token: x\n", "api-key: [a=b, c=d]\n- x\n", "A=1\n", `{"providers":{"x":{"oauth":{}}}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m := Machine{Home: "/h", Env: func(string) string { return "" }, Variables: []Variable{{"A", "a"}}}
		for _, tool := range m.tools() {
			if tool.sources == nil {
				continue
			}
			for _, s := range tool.sources(m) {
				found, err := s.parse(src)
				for _, l := range found {
					if (l.Credential == nil) == (l.Refused == "") || err != nil {
						t.Errorf("%s: %v %v", tool.id, l, err)
					}
				}
			}
		}
	})
}
