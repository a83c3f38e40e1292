package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestV2_AllSessions(t *testing.T) {
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

// Sessions that changed in the same millisecond are on one page, however small pages are.
func TestV2_AllSessionsOfOneMoment(t *testing.T) {
	w := begin(t, "")
	for i, updated := range []lathe.Time{9, 5, 5, 5, 5, 5, 2, 2, 1} {
		_, err := w.engine.Import(t.Context(), w.dir, lathe.Export{Info: lathe.Session{ID: lathe.SessionID("ses_" + string(rune('a'+i))), Created: 1, Updated: updated, Title: "x"}})
		w.ok(err)
	}
	var sizes []int
	for next := ""; ; {
		var page []lathe.Session
		a := w.want(http.StatusOK, &page, "GET", "/experimental/session?limit=2"+next, "")
		sizes = append(sizes, len(page))
		if next = a.Header.Get("X-Next-Cursor"); next == "" {
			break
		}
		next = "&cursor=" + next
	}
	if !slices.Equal(sizes, []int{6, 2, 1}) {
		t.Errorf("pages of %v", sizes)
	}
}

func TestV2_WhatTheTerminalClientAsks(t *testing.T) {
	w := begin(t, "")
	where, _ := json.Marshal(w.dir)
	place := `{"directory":` + string(where) + `,"project":{"id":"global","directory":"/"}}`
	for path, want := range map[string]string{
		"/api/health":                    `{"healthy":true}`,
		"/api/location":                  place,
		"/api/agent":                     `{"location":` + place + `,"data":[]}`,
		"/experimental/capabilities":     `{"backgroundSubagents":false}`,
		"/experimental/console":          `{"consoleManagedProviders":[],"switchableOrgCount":0}`,
		"/experimental/workspace":        `[]`,
		"/experimental/workspace/status": `[]`,
		"/experimental/tool/ids":         `[]`,
		"/command":                       `[]`,
	} {
		w.want(http.StatusOK, nil, "GET", path, "").is(w, want)
	}
	w.want(http.StatusOK, nil, "POST", "/global/upgrade", `{}`)
}
