package harness

import (
	"context"
	"path/filepath"
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
	lease, err := e.Store().Take(ctx, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	for id, name := range map[lathe.AskID]string{"per_1": "sandbox", "per_2": "edit"} {
		ask := lathe.PermissionRequest{ID: id, Session: s.ID, Permission: name, Patterns: []string{"edit:lathe.json"}}
		if _, err := e.Store().Commit(ctx, lease, &lathe.PermissionAsked{PermissionRequest: ask}); err != nil {
			t.Fatal(err)
		}
	}
	b, guest := &Served{Engine: e}, context.WithValue(ctx, ByGuest{}, true)
	for _, reply := range []lathe.Reply{lathe.Once, lathe.Always} {
		if err := b.Reply(guest, "per_1", reply, ""); lathe.CodeOf(err) != lathe.Denied {
			t.Errorf("%s by a plugin: %v", reply, err)
		}
	}
	if err := b.Reply(guest, "per_2", lathe.Once, ""); err != nil {
		t.Errorf("another permission: %v", err)
	}
	if err := b.Reply(ctx, "per_1", lathe.Once, ""); err != nil {
		t.Errorf("by a person: %v", err)
	}
	if err := e.Store().Release(ctx, lease); err != nil {
		t.Fatal(err)
	}
}
