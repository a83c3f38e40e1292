package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

func TestSplit(t *testing.T) {
	for ref, want := range map[string][2]string{"a/b": {"a", "b"}, "a/b/c": {"a", "b/c"}, "a/b:free": {"a", "b:free"}} {
		if p, m, err := Split(ref); err != nil || p != want[0] || m != want[1] {
			t.Errorf("%q: %q %q %v", ref, p, m, err)
		}
	}
	for _, ref := range []string{"", "a", "a/", "/a", "/"} {
		if _, _, err := Split(ref); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestFind_Unknown(t *testing.T) {
	c := New(Filter{})
	for ref, want := range map[string]string{
		"antropic/claude-opus-5":  "did you mean anthropic?",
		"anthropic/claude-opus-6": "did you mean anthropic/claude-opus-5, anthropic/claude-opus-4-6 or anthropic/claude-opus-4-7?",
		"zzzzzzzzzz/x":            `provider "zzzzzzzzzz" not found; "lathe models --all"`,
	} {
		if _, err := c.Find(ref); lathe.CodeOf(err) != lathe.NotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// own returns a catalog with only these providers, each with models of these ids.
func own(providers map[string][]string) *Catalog {
	section := map[string]any{}
	var names []string
	for id, models := range providers {
		entries := map[string]any{}
		for _, m := range models {
			entries[m] = map[string]string{"family": familyOf(m), "release_date": dateIn(m)}
		}
		section[id] = map[string]any{"models": entries, "whitelist": models}
		names = append(names, id)
	}
	raw, _ := json.Marshal(section)
	return New(Filter{Enabled: names}, Config(raw))
}

func TestDefault(t *testing.T) {
	c := own(map[string][]string{"a": {"x-1", "x-2", "y-latest"}, "b": {"gemini-3-pro", "claude-sonnet-4-5", "gpt-5-a", "gpt-5-b", "zzz"}})
	usable := func(c *Catalog, ids ...string) (out []*Provider) {
		for _, id := range ids {
			out = append(out, c.Provider(id))
		}
		return out
	}
	for _, test := range []struct {
		name       string
		preference Preference
		want       string
	}{
		{"settings win", Preference{Model: "b/zzz", Recent: []string{"a/x-1"}, Usable: usable(c, "a")}, "b/zzz"},
		{"the latest that is usable", Preference{Recent: []string{"gone/x", "b/zzz", "a/x-1"}, Usable: usable(c, "a")}, "a/x-1"},
		{"latest before later ids", Preference{Usable: usable(c, "a")}, "a/y-latest"},
		{"liked ones, later ids first", Preference{Usable: usable(c, "b")}, "b/gpt-5-b"},
		{"first of several", Preference{Usable: usable(c, "a", "b")}, "a/y-latest"},
	} {
		m, err := c.Default(test.preference)
		if err != nil || m.Ref() != test.want {
			t.Errorf("%s: %v %v", test.name, m, err)
		}
	}
	if _, err := c.Default(Preference{}); lathe.CodeOf(err) != lathe.NotFound {
		t.Error(err)
	}
	some := New(Filter{}, Config(json.RawMessage(`{"xai":{}}`)))
	if m, err := some.Default(Preference{Usable: usable(some, "anthropic", "xai")}); err != nil || m.Provider != "xai" {
		t.Errorf("configured providers come first: %v %v", m, err)
	}
	if got := fmt.Sprint(c.Defaults()); got != "map[a:y-latest b:gpt-5-b]" {
		t.Error(got)
	}
}

func TestSmall(t *testing.T) {
	c := own(map[string][]string{
		"a":              {"gemini-2.5-flash", "gemini-3-flash", "claude-haiku-4-5", "main"},
		"b":              {"claude-haiku-3-20240307", "claude-haiku-4-5-20251001", "main"},
		"c":              {"main"},
		"azure":          {"gpt-5-nano", "main"},
		"opencode":       {"gemini-3-flash", "gpt-5-nano", "main"},
		"github-copilot": {"gpt-5-mini", "gpt-5-nano", "main"},
		"amazon-bedrock": {"us.anthropic.claude-haiku-4-5-20251001-v1:0", "eu.anthropic.claude-haiku-4-5-20251001-v1:0", "global.anthropic.claude-haiku-9", "eu.anthropic.claude-opus-5"},
	})
	for main, want := range map[string]string{
		"a/main": "a/gemini-3-flash", "b/main": "b/claude-haiku-4-5-20251001", "c/main": "c/main", "azure/main": "azure/main",
		"opencode/main": "opencode/gpt-5-nano", "github-copilot/main": "github-copilot/gpt-5-mini",
		"amazon-bedrock/eu.anthropic.claude-opus-5": "amazon-bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
	} {
		m, err := c.Find(main)
		if err != nil {
			t.Fatal(err)
		}
		if small, err := c.Small("", m); err != nil || small.Ref() != want {
			t.Errorf("%s: %v %v", main, small, err)
		}
		if small, err := c.Small("c/main", m); err != nil || small.Ref() != "c/main" {
			t.Errorf("%s: settings: %v %v", main, small, err)
		}
	}
}

func TestDateIn(t *testing.T) {
	for id, want := range map[string]string{"claude-haiku-4-5-20251001-v1:0": "2025-10-01", "gpt-4o-2024-08-06": "2024-08-06", "x-20259999": "", "gemini-2.0": "", "": "", "20": ""} {
		if got := dateIn(id); got != want {
			t.Errorf("%s: %q", id, got)
		}
	}
}

func TestSimilar_AtMostThree(t *testing.T) {
	ids := []string{"model-a", "model-b", "model-c", "model-d", "other"}
	if got := phrase.Similar("model-x", ids); !slices.Equal(got, []string{"model-a", "model-b", "model-c"}) {
		t.Error(got)
	}
}
