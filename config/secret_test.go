package config

import (
	"strings"
	"testing"
)

// What is wrong beside a key is shown without the key.
func TestHide_Secrets(t *testing.T) {
	for line, want := range map[string]string{
		`{"apiKey": "sk-123", "timeout": "x"}`:       `{"apiKey": "******", "timeout": "x"}`,
		`"headers": {"Authorization": "Bearer abc"}`: `"headers": {"Authorization": "**********"}`,
		`api_key = 'abc',`:                           `api_key = '***',`,
		`"x-api-key":"ü1"`:                           `"x-api-key":"***"`,
		`"clientSecret": "never closed`:              `"clientSecret": "************`,
		`"apiKey": "{env:KEY}", "baseURL": 5`:        `"apiKey": "{env:KEY}", "baseURL": 5`,
		`"model": "token/keys"`:                      `"model": "token/keys"`,
		``:                                           ``,
	} {
		got := hide(line)
		if got != want || len(got) != len(line) {
			t.Errorf("%s\nis shown as %s\nwant        %s", line, got, want)
		}
	}
}

func TestError_ShowsNoKey(t *testing.T) {
	s := &source{name: "lathe.json", text: []byte(`{"provider":{"p":{"options":{"apiKey":"sk-very-secret","timeout":"soon"}}}}`)}
	p := problemIn(s, strings.Index(string(s.text), `"soon"`), nil, "must be a number")
	if text := p.String(); strings.Contains(text, "sk-very") || !strings.Contains(text, `"soon"`) {
		t.Errorf("shown as %s", text)
	}
	if p.Source[p.mark:p.mark+6] != `"soon"` {
		t.Errorf("the mark is at %q", p.Source[p.mark:])
	}
}
