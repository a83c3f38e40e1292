package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestModern_AllSessions(t *testing.T) {
	w := begin(t, "")
	w.write("a/x", "")
	w.write("b/x", "")
	for _, dir := range []string{"a", "b", "a", "b", "a"} {
		w.want(http.StatusOK, nil, "POST", "/session?directory="+w.dir+"/"+dir, `{"title":"`+dir+`"}`)
	}
	hidden := w.session()
	w.want(http.StatusOK, nil, "PATCH", "/session/"+string(hidden.ID), `{"time":{"archived":1}}`)
	seen, next := map[lathe.SessionID]int{}, ""
	for range 5 {
		var page []struct {
			ID      lathe.SessionID
			Project *struct{ ID, Worktree string }
		}
		a := w.want(http.StatusOK, &page, "GET", "/experimental/session?limit=2"+next, "")
		for _, s := range page {
			seen[s.ID]++
			if s.Project == nil || s.Project.ID != "global" {
				t.Errorf("%s belongs to %v", s.ID, s.Project)
			}
		}
		cursor := a.Header.Get("X-Next-Cursor")
		if cursor == "" {
			break
		}
		next = "&cursor=" + cursor
	}
	if len(seen) != 5 || seen[hidden.ID] != 0 {
		t.Errorf("seen %v", seen)
	}
	var all []lathe.Session
	w.want(http.StatusOK, &all, "GET", "/experimental/session?archived=true", "")
	if len(all) != 6 {
		t.Errorf("%d with the archived", len(all))
	}
	w.want(http.StatusOK, &all, "GET", "/experimental/session?directory="+w.dir+"/a&search=A", "")
	if len(all) != 3 {
		t.Errorf("%d in a", len(all))
	}
}

func TestModern_WhatTheTerminalClientAsks(t *testing.T) {
	w := begin(t, "")
	where, _ := json.Marshal(w.dir)
	place := `{"directory":` + string(where) + `,"project":{"id":"global","directory":"/"}}`
	for path, want := range map[string]string{
		"/api/health":                    `{"healthy":true}`,
		"/api/location":                  place,
		"/api/agent":                     `{"location":` + place + `,"data":[]}`,
		"/experimental/capabilities":     `{"backgroundSubagents":false}`,
		"/experimental/console":          `{"consoleManagedProviders":[],"switchableOrgCount":0}`,
		"/experimental/resource":         `{}`,
		"/experimental/workspace":        `[]`,
		"/experimental/workspace/status": `[]`,
		"/experimental/tool/ids":         `[]`,
		"/command":                       `[]`,
		"/mcp":                           `{}`,
	} {
		w.want(http.StatusOK, nil, "GET", path, "").is(w, want)
	}
	for _, path := range []string{"/api/reference", "/api/command", "/api/provider", "/api/model", "/api/integration", "/api/skill"} {
		if a := w.want(http.StatusOK, nil, "GET", path+"?location[directory]="+w.dir, ""); !strings.HasSuffix(string(a.body), `"data":[]}`) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	w.want(http.StatusNotFound, nil, "POST", "/mcp/some/connect", "").is(w, `{"_tag":"McpServerNotFoundError","name":"some","message":"MCP server not found: some"}`)
	w.want(http.StatusBadRequest, nil, "POST", "/mcp", `{"name":"x","config":{"type":"local","command":["x"]}}`)
	w.want(http.StatusOK, nil, "POST", "/global/upgrade", `{}`)
}
