package config

import (
	"slices"
	"strings"
	"testing"
)

// A setting that does nothing is reported once, and one that asks for nothing is not.
func TestCheck_Unsupported(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"logLevel": "DEBUG", "autoupdate": "notify", "watcher": {"ignore": ["x"]}, "experimental": {"openTelemetry": true},
		"formatter": true, "lsp": false, "references": {"docs": "./docs"}, "share": "manual"}`)
	var got []string
	for _, p := range w.load().Warnings {
		if strings.Contains(p.Message, "is not supported: it has no effect") {
			got = append(got, strings.Join(p.Key, "."))
		}
	}
	slices.Sort(got)
	if want := []string{"experimental.openTelemetry", "logLevel", "watcher"}; !slices.Equal(got, want) {
		t.Errorf("reported %v, not %v", got, want)
	}
}
