package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

func TestReadMCPServer(t *testing.T) {
	got, err := ReadMCPServer([]byte(`{"type":"remote","url":"https://x.example/{env:HOME}","headers":{"A":"b"},"oauth":false,"timeout":5000}`))
	want := MCPServer{Type: "remote", URL: "https://x.example/{env:HOME}", Headers: map[string]string{"A": "b"}, OAuth: OAuth{Off: true}, Timeout: 5000}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, text := range []string{
		`{"type":"local"}`, `{"type":"local","command":[]}`, `{"enabled":true}`, `{"type":"remote","url":3}`, `[]`, `{`, `null`, `{"type":"other"}`,
		`{"type":"local","command":["x"],"timeout":-1}`,
	} {
		if got, err := ReadMCPServer([]byte(text)); lathe.CodeOf(err) != lathe.Invalid || strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
