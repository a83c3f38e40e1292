package harness

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// A plugin answers requests for permissions, but for those that lead out of the sandbox.
func TestPlugin_DoesNotGiveSandbox(t *testing.T) {
	ctx, data := t.Context(), t.TempDir()
	d, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(data, "lathe.db"), State: filepath.Join(data, "owners")})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(ctx, engine.Options{Driver: d, Blobs: filepath.Join(data, "blobs")})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.Create(ctx, data, lathe.NewSession{})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := e.Store().Acquire(ctx, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	for id, name := range map[lathe.AskID]string{"per_1": "sandbox", "per_2": "edit"} {
		ask := lathe.PermissionRequest{ID: id, Session: s.ID, Permission: name, Patterns: []string{"edit:lathe.json"}}
		if _, err := e.Store().Commit(ctx, lease, &lathe.PermissionAsked{PermissionRequest: ask}); err != nil {
			t.Fatal(err)
		}
	}
	h := &Harness{app: &Host{Env: func(string) string { return "" }, Environ: func() []string { return nil }, Log: slog.New(slog.DiscardHandler)}, Engine: e, extensionSets: extensionSets{dirs: map[string]*extensionSet{}}}
	defer func() {
		if err := h.extensionSets.close(); err != nil {
			t.Error(err)
		}
	}()
	server := h.ownServer(data)
	reply := func(id, reply string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/permission/"+id+"/reply", strings.NewReader(`{"reply":"`+reply+`"}`))
		r.Header.Set("Content-Type", "application/json")
		server.ServeHTTP(w, r)
		return w.Code
	}
	for _, word := range []string{"once", "always"} {
		if code := reply("per_1", word); code != http.StatusForbidden {
			t.Errorf("%s by a plugin: %d", word, code)
		}
	}
	if code := reply("per_2", "once"); code != http.StatusOK {
		t.Errorf("another permission: %d", code)
	}
	for method, path := range map[string]string{http.MethodPatch: "/lathe/settings", http.MethodPost: "/lathe/memory"} {
		w := httptest.NewRecorder()
		if server.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(`{}`))); w.Code != http.StatusForbidden {
			t.Errorf("%s by a plugin: %d", path, w.Code)
		}
	}
	for path, body := range map[string]string{ // nor does a plugin save any permission, in any way
		"/lathe/permission/per_1/grant": `{"scope":"session"}`, "/lathe/grant": `{"permission":"edit","pattern":"*"}`,
		"/lathe/grant/": `{"permission":"edit","pattern":"*"}`, "/lathe/grant/revoke": `{"permission":"edit","pattern":"*"}`,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if server.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("%s by a plugin: %d", path, w.Code)
		}
	}
	if err := e.Reply(ctx, "per_1", lathe.Once, ""); err != nil {
		t.Errorf("by a person: %v", err)
	}
	if err := e.Store().Release(ctx, lease); err != nil {
		t.Fatal(err)
	}
}
