package tui

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// Events of another directory are taken in once a session of it is looked at, and nothing is missed meanwhile.
func TestScope_Widens(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	driver, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(t.TempDir(), "lathe.db")})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(ctx, engine.Options{Driver: driver, Blobs: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	here, there := t.TempDir(), t.TempDir()
	var wanted scope
	f := newFeed()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.follow(ctx, struct {
			api.Engine
			api.Host
		}{Engine: e}, here, &wanted)
	}()
	var seen []string
	until := func(last string) {
		t.Helper()
		for {
			select {
			case <-f.ready:
			case <-ctx.Done():
				t.Fatalf("no %q after %q", last, seen)
			}
			f.mu.Lock()
			events := f.events
			f.events = nil
			f.mu.Unlock()
			for _, ev := range events {
				switch fact := ev.Fact.(type) {
				case *lathe.ServerConnected:
					seen = append(seen, "connected")
				case *lathe.SessionCreated:
					seen = append(seen, fact.Info.Title)
				default:
				}
			}
			if len(seen) > 0 && seen[len(seen)-1] == last {
				return
			}
		}
	}
	create := func(dir, title string) lathe.Session {
		t.Helper()
		s, err := e.Create(ctx, dir, lathe.NewSession{Title: title})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	until("connected")
	create(there, "not ours")
	create(here, "ours")
	until("ours")
	other := create(there, "not yet ours")
	create(here, "also ours")
	until("also ours")
	wanted.add(other.Directory)
	create(there, "wanted")
	until("wanted")
	if got, want := len(seen), 4; got != want || seen[1] != "ours" || seen[2] != "also ours" {
		t.Errorf("saw %q", seen)
	}
	stop()
	<-ended
}
