//go:build unix

package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

func mustOwn(t *testing.T, dir string) *owner {
	t.Helper()
	o, err := newOwner(dir)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOwner_AliveAsLongAsItsLock(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	a, b := mustOwn(t, dir), mustOwn(t, dir)
	if !a.alive(a.name) || !a.alive(b.name) || !b.alive(a.name) {
		t.Error("the living are not alive")
	}
	if a.alive("NOBODYEVERHADTHISNAME") {
		t.Error("a name nobody has is alive")
	}
	if err := b.close(); err != nil {
		t.Fatal(err)
	}
	if a.alive(b.name) {
		t.Error("the closed is alive")
	}
	if err := os.Remove(a.path(a.name)); err != nil { // someone tidied up
		t.Fatal(err)
	}
	if err := a.close(); err != nil {
		t.Errorf("close without the file: %v", err)
	}
}

// TestOwner_Leftovers removes the files of dead processes and no others.
func TestOwner_Leftovers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	living := mustOwn(t, dir)
	for _, name := range []string{"DEAD1", "DEAD2"} {
		if err := os.WriteFile(living.path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	newProcess := mustOwn(t, dir)
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{living.name + ownerSuffix: true, newProcess.name + ownerSuffix: true, "notes.txt": true}
	for _, e := range left {
		if !want[e.Name()] {
			t.Errorf("%s was left", e.Name())
		}
		delete(want, e.Name())
	}
	if len(want) > 0 {
		t.Errorf("%v were taken away", want)
	}
}

// TestOwner_HostileNames are what a damaged or foreign database may say in a lease.
func TestOwner_HostileNames(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	o := mustOwn(t, filepath.Join(top, "state"))
	outside := filepath.Join(top, "precious.owner")
	if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"", ".", "..", "../precious", top + "/precious", `..\precious`, "a/b", "nul\x00byte", "new\nline", "ü", "%2e%2e",
		strings.Repeat("A", 65), strings.Repeat("A", 5000), "C:", "con.owner", " ", "*",
	} {
		if o.alive(name) {
			t.Errorf("%.40q is alive", name)
		}
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "precious" {
		t.Errorf("a file outside was touched: %v", err)
	}
}

// TestOwner_LeaseOfAHostileName can be taken like that of any dead process.
func TestOwner_LeaseOfAHostileName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := mustOpen(t, dir, store.Options{})
	ctx := context.Background()
	other, err := sqlite.OpenConn(filepath.Join(dir, "lathe.db"), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	for _, name := range []string{"../../etc/passwd", "nul\x00byte", strings.Repeat("x", 5000), ""} {
		rec := newSession(lathe.NewIDs(), "/work")
		if err := s.Create(ctx, rec); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(ctx, rec.ID); err != nil {
			t.Fatal(err)
		}
		if err := sqlitex.Execute(other, `UPDATE lease SET owner = $1`, &sqlitex.ExecOptions{Args: []any{name}}); err != nil {
			t.Fatal(err)
		}
		held, err := s.Leases(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range held {
			if h.Alive || h.Here {
				t.Errorf("%.20q: %+v", name, h)
			}
		}
		if _, err := s.Acquire(ctx, rec.ID); err != nil {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

// TestOwner_ManyAtOnce come, look at each other and go; the living are never taken for
// dead, and two who ask about a dead one do not take each other for it.
func TestOwner_ManyAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	steady := mustOwn(t, dir)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				o, err := newOwner(dir)
				if err != nil {
					t.Error(err)
					return
				}
				if !isAlive(dir, steady.name) || !isAlive(dir, o.name) {
					t.Error("the living were taken for dead")
				}
				dead := o.name + "DEAD"
				if err := os.WriteFile(o.path(dead), nil, 0o600); err != nil {
					t.Error(err)
				}
				var askers sync.WaitGroup
				for range 2 {
					askers.Go(func() {
						if isAlive(dir, dead) {
							t.Error("the dead was taken for alive")
						}
					})
				}
				askers.Wait()
				if err := o.close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left := owners(dir); len(left) != 1 || left[0] != steady.name {
		t.Errorf("left: %q", left)
	}
}

// TestOwner_NotInherited kills a process whose own child lives on: the lease is dead at once.
func TestOwner_NotInherited(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := mustOpen(t, dir, store.Options{})
	rec := newSession(lathe.NewIDs(), "/work")
	if err := s.Create(context.Background(), rec); err != nil {
		t.Fatal(err)
	}
	c := spawn(t, "pair", dir)
	c.ask(t, "take", rec.ID)
	c.ask(t, "orphan") // a grandchild that waits for its stdin to end
	if held, err := s.Leases(context.Background()); err != nil || len(held) != 1 || !held[0].Alive {
		t.Fatalf("%+v, %v", held, err)
	}
	_ = c.cmd.Process.Kill()
	_, _ = c.cmd.Process.Wait()
	if held, err := s.Leases(context.Background()); err != nil || len(held) != 1 || held[0].Alive {
		t.Errorf("%+v, %v", held, err)
	}
	if _, err := s.Acquire(context.Background(), rec.ID); err != nil {
		t.Error(err)
	}
}

func TestOwner_FolderMayNotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := newOwner(file) // a file where the folder should be: fails for root too
	reported(t, err, lathe.Unavailable, "cannot create a lock file in "+file, "make the folder writable")
}
