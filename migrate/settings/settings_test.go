package settings_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/migrate/settings"
)

// translated is a document as JSON, and its notes.
func translated(t *testing.T, d settings.Document, err error) (string, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d.Config)
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, n := range d.Notes {
		notes = append(notes, n.Key)
	}
	return string(text), strings.Join(notes, " ")
}

func TestDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		translate          func([]byte) (settings.Document, error)
		src, config, notes string
	}{
		"codex": {
			settings.Codex, `
model = "gpt-5.1-codex"
approval_policy = "untrusted"
sandbox_mode = "read-only"
notify = ["say"]
[mcp_servers.gh]
command = "gh-mcp"
args = ["serve"]
env = { LEVEL = "info" }
[mcp_servers.docs]
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
[tui]
theme = "x"`,
			`{"mcp":{"docs":{"headers":{"Authorization":"Bearer {env:DOCS_TOKEN}"},"type":"remote","url":"https://docs.example/mcp"},"gh":{"command":["gh-mcp","serve"],"environment":{"LEVEL":"info"},"type":"local"}},"model":"openai/gpt-5.1-codex","permission_mode":"ask","sandbox":"read-only"}`,
			"notify",
		},
		"gemini": {
			settings.Gemini, `{ // comment
"model": {"name": "gemini-2.5-pro"}, "tools": {"allowed": ["run_shell_command(git status)", "read_file"], "exclude": ["web_fetch", "magic"]},
"mcpServers": {"x": {"httpUrl": "https://x.example", "headers": {"K": "$TOKEN"}}}, "context": {"fileName": ["GEMINI.md", "RULES.md"]}, "ui": {}, "hooks": {},}`,
			`{"instructions":["RULES.md"],"mcp":{"x":{"headers":{"K":"{env:TOKEN}"},"type":"remote","url":"https://x.example"}},"model":"google/gemini-2.5-pro","permission":{"bash":{"git status*":"allow"},"read":"allow","webfetch":"deny"}}`,
			"tools.exclude magic hooks",
		},
		"crush": {
			settings.Crush, `{"models": {"large": {"provider": "anthropic", "model": "m"}, "small": {"provider": "anthropic", "model": "s"}}, "permissions": {"allowed_tools": ["view", "mcp_gh_list"]},
"mcp": {"gh": {"type": "stdio", "command": "gh", "disabled": true}, "run": {"type": "http", "url": "$(pass url)"}}, "lsp": {}, "options": {"context_paths": ["A.md"]}}`,
			`{"instructions":["A.md"],"mcp":{"gh":{"command":["gh"],"enabled":false,"type":"local"}},"model":"anthropic/m","permission":{"gh_list":"allow","read":"allow"},"small_model":"anthropic/s"}`,
			"mcp.run lsp",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := c.translate([]byte(c.src))
			config, notes := translated(t, d, err)
			if config != c.config {
				t.Errorf("\n got %s\nwant %s", config, c.config)
			}
			if notes != c.notes {
				t.Errorf("notes %q, want %q", notes, c.notes)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	d, err := settings.GeminiCommand("fix", []byte("description = \"Fix\"\nprompt = \"Fix {{args}} after !{git diff} in @{a.go}\""))
	config, _ := translated(t, d, err)
	if want := "{\"command\":{\"fix\":{\"description\":\"Fix\",\"template\":\"Fix $ARGUMENTS after !`git diff` in @a.go\"}}}"; config != want {
		t.Errorf("\n got %s\nwant %s", config, want)
	}
	d, err = settings.CodexPrompt("review", []byte("---\ndescription: Review\n---\nReview $1.\n"))
	config, _ = translated(t, d, err)
	if want := `{"command":{"review":{"description":"Review","template":"Review $1."}}}`; config != want {
		t.Errorf("\n got %s\nwant %s", config, want)
	}
}

// Keys of providers are not imported; a reference to a variable is.
func TestNoKeys(t *testing.T) {
	d, err := settings.Crush([]byte(`{"providers": {"a": {"api_key": "sk-secret"}, "b": {"base_url": "https://b.example", "api_key": "sk-secret"}, "c": {"base_url": "https://c.example", "api_key": "$C_KEY"}}}`))
	config, notes := translated(t, d, err)
	if strings.Contains(config, "sk-secret") || !strings.Contains(config, "{env:C_KEY}") {
		t.Error(config)
	}
	if notes != "providers.a providers.b.api_key" {
		t.Error(notes)
	}
}

// Broken files are errors, and values of other types count as missing.
func TestHostile(t *testing.T) {
	for name, translate := range map[string]func([]byte) (settings.Document, error){"codex": settings.Codex, "gemini": settings.Gemini, "crush": settings.Crush} {
		for _, src := range []string{"\x00", "[1", strings.Repeat("[", 100_000), strings.Repeat("x = 1\n", 1_000_000)} {
			if _, err := translate([]byte(src)); err == nil {
				t.Errorf("%s takes %.20q", name, src)
			}
		}
	}
	for _, src := range []string{`{"mcp": 7, "models": [], "permissions": "x", "providers": {"a": 1}}`, `{"mcpServers": {"a": 7, "b": {}}, "tools": 1, "context": {"fileName": 7}}`} {
		for _, translate := range []func([]byte) (settings.Document, error){settings.Gemini, settings.Crush} {
			if _, err := translate([]byte(src)); err != nil {
				t.Errorf("%s: %v", src, err)
			}
		}
	}
	if _, _, err := settings.Frontmatter([]byte("---\na: &a [x]\nb: [*a,*a]\n---\n")); err == nil {
		t.Error("anchors were taken")
	}
}
