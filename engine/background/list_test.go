package background_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/background"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// A log is read from the folder of outputs alone, whatever a record or a link in the folder says, and only its end. The
// control is a log of its own.
func TestTaskOutput_StaysInItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	driver, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "lathe.db")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), driver, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	outputs, secret := filepath.Join(dir, "outputs"), filepath.Join(dir, "secret")
	for path, text := range map[string]string{secret: "the secret", filepath.Join(outputs, "own.log"): strings.Repeat("x", 1<<20) + "the end\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(outputs, "link.log")
	if err := os.Symlink(secret, link); err != nil {
		link = "" // not every system lets everyone make one
	}
	ids := lathe.NewIDs()
	rec := lathe.Session{ID: ids.Session(), Title: "A session", Directory: dir, Project: "global", Version: "1"}
	if err := s.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	b := background.New(background.Options{
		Store: s, IDs: ids, Log: slog.New(slog.DiscardHandler), Outputs: outputs, Context: t.Context(), Work: &sync.WaitGroup{},
		IsAwake: func(lathe.SessionID) bool { return false },
	})
	read := func(log string) (lathe.TaskOutput, error) {
		id := lathe.TaskID(ids.New(lathe.PrefixJob))
		task := lathe.BackgroundTask{ID: id, Kind: lathe.ShellTask, State: lathe.TaskRunning, Session: rec.ID, Log: log}
		if err := s.Shells().Add(context.Background(), task, 100); err != nil {
			t.Fatal(err)
		}
		return b.TaskOutput(t.Context(), id, 1<<30)
	}
	out, err := read(filepath.Join(outputs, "own.log"))
	if err != nil || !strings.HasSuffix(out.Text, "the end\n") || len(out.Text) != 256<<10 || out.Size != 1<<20+8 {
		t.Errorf("%d of %d bytes, %v", len(out.Text), out.Size, err)
	}
	for _, log := range []string{secret, filepath.Join(outputs, "..", "secret"), link, outputs, "secret", "", "/etc/passwd"} {
		if out, err := read(log); err == nil || strings.Contains(out.Text, "secret") {
			t.Errorf("%q: %q, %v", log, out.Text, err)
		}
	}
}
