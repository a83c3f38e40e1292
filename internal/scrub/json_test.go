package scrub_test

import (
	"testing"

	"github.com/lathe-agent/lathe/internal/scrub"
)

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"provider": {"a": {"options": {"apiKey": "sk-\"x", "baseURL": "https://me:hunter22@host/v1?token=abcdef"}}}, "model": "a/b"}`:                                                       `{"provider": {"a": {"options": {"apiKey": "[scrubbed]", "baseURL": "https://me:[scrubbed]@host/v1?token=[scrubbed]"}}}, "model": "a/b"}`,
		`{"mcp": {"x": {"environment": {"A": "v"}, "headers": {"X-Team": "t"}, "command": ["npx", "--token", "abc", "--api-key=k", "-y"], "oauth": {"clientSecret": "s", "clientId": "c"}}}}`: `{"mcp": {"x": {"environment": {"A": "[scrubbed]"}, "headers": {"X-Team": "[scrubbed]"}, "command": ["npx", "--token", "[scrubbed]", "--api-key=[scrubbed]", "-y"], "oauth": {"clientSecret": "[scrubbed]", "clientId": "c"}}}}`,
		`{"keybinds": {"key": "x"}, "server": {"auth": "none"}, "limit": {"max_tokens": 5}, "apiKey": ""}`:                                                                                    `{"keybinds": {"key": "x"}, "server": {"auth": "none"}, "limit": {"max_tokens": 5}, "apiKey": ""}`,
		`{"token": "a\\\"b\\", "n": 1.50}`: `{"token": "[scrubbed]", "n": 1.50}`,
	} {
		if got := string(scrub.JSON([]byte(in))); got != want {
			t.Errorf("%s\n became %s,\nnot     %s", in, got, want)
		}
	}
}
