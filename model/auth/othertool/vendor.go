package othertool

import (
	"encoding/json"
	"path/filepath"
)

// The pages where vendors give out API keys, for those whose logins are not for other programs.
const (
	anthropicKeys = "https://console.anthropic.com/settings/keys"
	geminiKeys    = "https://aistudio.google.com/apikey"
)

// The vendors' terms, in one sentence each.
const (
	refusedClaude = "Anthropic's terms allow the login of a Claude subscription in Claude Code and Claude.ai only; create an API key at " + anthropicKeys
	refusedGoogle = "Google's terms allow the login of Gemini CLI in Gemini CLI only; create an API key at " + geminiKeys
)

// claudeFiles are the files with keys first, so that a key is found before a login that lathe may not
// use.
func claudeFiles(m Machine) []source {
	dir := m.dir("CLAUDE_CONFIG_DIR", ".claude")
	return []source{
		{filepath.Join(m.folder("CLAUDE_CONFIG_DIR", m.Home), ".claude.json"), parseClaudeMain},
		{filepath.Join(dir, "settings.json"), parseClaudeSettings},
		{filepath.Join(dir, ".credentials.json"), parseClaudeLogin},
	}
}

// parseClaudeMain reads the key that Claude Code creates for users of Anthropic's console.
func parseClaudeMain(src []byte) ([]Login, error) {
	var f struct {
		Key string `json:"primaryApiKey"`
	}
	if json.Unmarshal(src, &f) != nil {
		return nil, errNotJSON
	}
	return oneKey("anthropic", "primaryApiKey", f.Key), nil
}

// parseClaudeSettings reads the variables of the user's settings. A helper program for keys (apiKeyHelper) is
// not run.
func parseClaudeSettings(src []byte) ([]Login, error) {
	var f struct {
		Env map[string]any `json:"env"`
	}
	if json.Unmarshal(src, &f) != nil {
		return nil, errNotJSON
	}
	text, _ := f.Env["ANTHROPIC_API_KEY"].(string) // another type is no key
	return oneKey("anthropic", "ANTHROPIC_API_KEY", text), nil
}

// parseClaudeLogin only notices the login: its tokens are not even kept.
func parseClaudeLogin(src []byte) ([]Login, error) {
	var f struct {
		Login *struct{} `json:"claudeAiOauth"`
	}
	if json.Unmarshal(src, &f) != nil {
		return nil, errNotJSON
	}
	if f.Login == nil {
		return nil, nil
	}
	return []Login{{Provider: "anthropic", Entry: "claudeAiOauth", Refused: refusedClaude}}, nil
}

// geminiFiles are the variables that Gemini CLI loads, and its login.
func geminiFiles(m Machine) []source {
	dir := filepath.Join(m.Home, ".gemini")
	return []source{
		{filepath.Join(dir, ".env"), parseGeminiEnv},
		{filepath.Join(dir, "oauth_creds.json"), parseGeminiLogin},
	}
}

// parseGeminiEnv reads the key by the names that Gemini CLI looks for, in its order.
func parseGeminiEnv(src []byte) ([]Login, error) {
	values := readEnv(src)
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		if found := oneKey("google", name, values[name]); found != nil {
			return found, nil
		}
	}
	return nil, nil
}

// parseGeminiLogin only notices the login, like parseClaudeLogin.
func parseGeminiLogin(src []byte) ([]Login, error) {
	var f map[string]json.RawMessage
	if json.Unmarshal(src, &f) != nil {
		return nil, errNotJSON
	}
	if f["access_token"] == nil && f["refresh_token"] == nil {
		return nil, nil
	}
	return []Login{{Provider: "google", Entry: "oauth", Refused: refusedGoogle}}, nil
}

// oneKey is a list with one key, or an empty one if the text cannot be a key.
func oneKey(provider, entry, text string) []Login {
	if l, ok := key(provider, entry, text); ok {
		return []Login{l}
	}
	return nil
}

// refusal is the reason why a login of a provider, in whose file ever, is not used.
func refusal(provider string) string {
	switch provider {
	case "anthropic":
		return refusedClaude
	case "google":
		return refusedGoogle
	}
	return ""
}
