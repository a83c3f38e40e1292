package harness

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/workspace"
)

// What a user edits, or another process logs in, is reported once, also when it was edited
// before the first look; nothing is reported for files that stay as they are.
func TestServe_Changed(t *testing.T) {
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "LATHE_DATA": filepath.Join(home, "data"), "PATH": os.Getenv("PATH")}
	a := &Host{
		Dir: filepath.Join(home, "p"), Version: "test", Env: func(name string) string { return vars[name] }, Environ: os.Environ,
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Notices: io.Discard,
	}
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at, err := datadir.Find(a.Env)
	if err != nil {
		t.Fatal(err)
	}
	setup := New(a, at)
	t.Cleanup(func() {
		if err := setup.Close(); err != nil {
			t.Error(err)
		}
	})
	b, done := setup.Backend()
	t.Cleanup(func() { _ = done.Close() })
	if b.Watcher == nil {
		t.Fatal("nobody looks")
	}
	place, err := workspace.Locate(t.Context(), a.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := setup.ConfigFor(place); err != nil { // as for the first client
		t.Fatal(err)
	}
	settings := filepath.Join(place.Directory, "lathe.json")
	later := time.Now() // of each file, whatever the clock of the disk counts
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		later = later.Add(time.Second)
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name        string
		do          func()
		settings    bool
		credentials bool
	}{
		{"edited before the first look", func() { write(settings, `{"username": "one"}`) }, true, false},
		{"nothing", func() {}, false, false},
		{"logged in elsewhere", func() { write(at.Credentials(), `{"acme": {"type": "api", "key": "k"}}`) }, false, true},
		{"edited, and read by a turn", func() {
			write(settings, `{"username": "two"}`)
			if _, err := setup.ConfigFor(place); err != nil {
				t.Error(err)
			}
		}, true, false},
		{"broken", func() { write(settings, `{"username": `) }, true, false},
		{"still broken", func() {}, false, false},
		{"mended by a client", func() {
			if err := os.Remove(settings); err != nil {
				t.Error(err)
			}
			if err := config.Edit(settings, json.RawMessage(`{"username": "three"}`)); err != nil {
				t.Error(err)
			}
		}, true, false},
		{"nothing again", func() {}, false, false},
	} {
		c.do()
		if s, k := b.Watcher.Changed(place); s != c.settings || k != c.credentials {
			t.Errorf("%s: settings %v, credentials %v", c.name, s, k)
		}
	}
}
