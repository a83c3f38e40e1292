package othertool

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/model/auth"
)

// OpenCode and Crush keep keys and logins of many providers in one file.

// opencodeFiles is where OpenCode keeps its credentials on every system: it follows the XDG rules also on
// macOS and Windows.
func opencodeFiles(m Machine) []source {
	dir := filepath.Join(m.dir("XDG_DATA_HOME", ".local", "share"), "opencode")
	return []source{{filepath.Join(dir, "auth.json"), parseOpenCode}}
}

// parseOpenCode reads entries by provider, in the format that our own file has too: keys (api), logins
// (oauth) and tokens of organizations (wellknown), which name a variable and are not for a provider.
func parseOpenCode(src []byte) (out []Login, err error) {
	var f map[string]json.RawMessage
	if json.Unmarshal(src, &f) != nil {
		return nil, errNotJSON
	}
	for id, raw := range f {
		var e struct {
			Type, Key, Access, Refresh, AccountID string
			EnterpriseURL                         string  `json:"enterpriseUrl"`
			Expires                               float64 // milliseconds
		}
		if json.Unmarshal(raw, &e) != nil {
			continue // a later format
		}
		switch e.Type {
		case "api":
			if l, ok := key(id, id, e.Key); ok {
				out = append(out, l)
			}
		case "oauth":
			host := strings.TrimPrefix(cmp.Or(e.EnterpriseURL, "github.com"), "https://")
			out = append(out, loginOf(id, id, foreignToken{e.Access, e.Refresh, e.AccountID, host, e.Expires / 1000})...)
		}
	}
	slices.SortFunc(out, byEntry)
	return out, nil
}

// foreignToken is a login of any provider in the file of another agent.
type foreignToken struct {
	access, refresh, account, host string
	expires                        float64 // seconds since 1970
}

// loginOf makes a login of a provider's tokens. Only GitHub's tokens are known to last; the others are
// taken without the refresh token.
func loginOf(provider, entry string, t foreignToken) []Login {
	if why := refusal(provider); why != "" {
		return []Login{{Provider: provider, Entry: entry, Refused: why}}
	}
	expires := claims{Expires: t.expires}.expires()
	if provider == copilot {
		l, ok := lasting(t.host, t.refresh)
		if !ok {
			return nil
		}
		if login := l.Credential.(auth.OAuth); expires.IsZero() { // it uses the lasting token itself
			login.Access = login.Refresh
			l.Credential = login
		}
		l.Entry = entry
		return []Login{l}
	}
	secret := token(t.access)
	if secret.IsEmpty() {
		return nil
	}
	l := Login{Provider: provider, Expires: expires, Credential: auth.OAuth{Access: secret, Expires: expires}}
	if provider == "openai" {
		l = chatGPT(secret, latest(expires, claimsOf(t.access).expires()), cmp.Or(t.account, claimsOf(t.access).OpenAI.Account))
	}
	l.Entry = entry
	return []Login{l}
}

// latest prefers the end that the file names: the one in the token is only a fallback.
func latest(a, b time.Time) time.Time {
	if a.IsZero() {
		return b
	}
	return a
}

// crushFiles are the file that Crush writes itself, with keys and logins, and the config that its user
// writes, which may hold keys.
func crushFiles(m Machine) []source {
	data := filepath.Join(m.folder("CRUSH_GLOBAL_DATA", filepath.Join(m.data(), "crush")), "crush.json")
	own := filepath.Join(m.folder("CRUSH_GLOBAL_CONFIG", filepath.Join(m.config(), "crush")), "crush.json")
	if data == own { // as on Windows
		return []source{{data, parseCrush}}
	}
	return []source{{data, parseCrush}, {own, parseCrush}}
}

// crushNames are the providers whose IDs differ in Crush.
var crushNames = map[string]string{
	"alibaba-singapore": "alibaba", "bedrock": "amazon-bedrock", "copilot": copilot, "fireworks": "fireworks-ai",
	"gemini": "google", "ionet": "io-net", "kimi-coding": "kimi-for-coding", "minimax-china": "minimax-cn",
	"moonshot": "moonshotai", "openai-codex": "openai", "opencode-zen": "opencode", "qiniucloud": "qiniu-ai",
	"vertexai": "google-vertex", "zhipu": "zhipuai", "zhipu-coding": "zhipuai-coding-plan",
}

// parseCrush reads the providers section. Values with a dollar sign are templates that Crush runs through a
// shell; lathe runs nothing of another tool.
func parseCrush(src []byte) (out []Login, err error) {
	var f struct {
		Providers map[string]struct {
			Key   string `json:"api_key"`
			Login *struct {
				Access  string  `json:"access_token"`
				Refresh string  `json:"refresh_token"`
				Account string  `json:"account_id"`
				Expires float64 `json:"expires_at"` // seconds
			} `json:"oauth"`
		} `json:"providers"`
	}
	if json.Unmarshal(src, &f) != nil {
		return nil, errNotJSON
	}
	for id, p := range f.Providers {
		provider := cmp.Or(crushNames[id], id)
		if p.Login != nil {
			out = append(out, loginOf(provider, id, foreignToken{p.Login.Access, p.Login.Refresh, p.Login.Account, "github.com", p.Login.Expires})...)
			continue // its key is then the same token
		}
		if strings.Contains(p.Key, "$") { // a variable or a command, which Crush expands
			continue
		}
		if l, ok := key(provider, id, p.Key); ok {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, byEntry)
	return out, nil
}
