package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The lists of the next API, from the settings, credentials and environment of a real user.
func TestServe_ModernLists(t *testing.T) {
	needUnix(t)
	home := serveHome(t, "http://127.0.0.1:1")
	settings := `{"agent":{"poet":{"description":"Rhymes","mode":"primary","options":{"apiKey":"sk-very-secret"}}},
		"references":{"notes":{"path":"./notes","description":"Notes"},"far":"https://example.com/x.git","out":"/etc"}}`
	project := filepath.Join(home, "project")
	if err := errors.Join(os.Mkdir(project, 0o755), os.WriteFile(filepath.Join(project, "lathe.json"), []byte(settings), 0o644)); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1", "OPENAI_API_KEY=sk-very-secret", "ANTHROPIC_API_KEY="})
	s.ask(200, nil, "PUT", "/auth/anthropic", `{"type":"api","key":"sk-very-secret"}`)
	type named struct{ ID, Name, Path, ProviderID string }
	list := func(name string) []named {
		t.Helper()
		var out struct{ Data []named }
		if text := s.ask(200, &out, "GET", "/api/"+name+"?location%5Bdirectory%5D="+url.QueryEscape(project), ""); strings.Contains(text, "sk-very-secret") {
			t.Errorf("%s shows a key", name)
		}
		return out.Data
	}
	has := func(name string, want named) {
		t.Helper()
		if all := list(name); !slices.Contains(all, want) {
			t.Errorf("%s lacks %+v", name, want)
		}
	}
	if agents := list("agent"); len(agents) < 3 || agents[0].ID != "build" || !slices.Contains(agents, named{ID: "poet"}) {
		t.Errorf("agents %+v", agents)
	}
	has("command", named{Name: "init"})
	has("skill", named{Name: "customize-lathe"})
	has("provider", named{ID: "anthropic", Name: "Anthropic"})
	has("model", named{ID: "script", Name: "script", ProviderID: "script"})
	if all := list("reference"); len(all) != 1 || all[0].Name != "notes" || filepath.Base(all[0].Path) != "notes" {
		t.Errorf("references %+v: what lies elsewhere waits for trust, a repository is not fetched", all)
	}
	var integrations struct {
		Data []struct {
			ID          string
			Methods     []struct{ Type string }
			Connections []struct{ Type, ID, Name, Label string }
		}
	}
	s.ask(200, &integrations, "GET", "/api/integration", "")
	seen := 0
	for _, i := range integrations.Data {
		switch i.ID {
		case "anthropic":
			seen++
			if len(i.Connections) != 1 || i.Connections[0].Type != "credential" || i.Connections[0].Label != "API key" {
				t.Errorf("%+v", i)
			}
		case "openai":
			seen++
			if len(i.Connections) != 1 || i.Connections[0].Type != "env" || i.Connections[0].Name != "OPENAI_API_KEY" || len(i.Methods) < 2 {
				t.Errorf("%+v", i)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d of two integrations", seen)
	}
	s.end()
}
