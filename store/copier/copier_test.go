package copier_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/copier"
	"github.com/lathe-agent/lathe/store/postgres"
	"github.com/lathe-agent/lathe/store/postgrestest"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// Sessions go to PostgreSQL and back, and neither a running process nor sessions in the target are run over.
func TestCopy_ThereAndBack(t *testing.T) {
	server, err := postgrestest.Start(postgrestest.Options{})
	if errors.Is(err, postgrestest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	dir, dsn := t.TempDir(), server.Fresh(t)
	file := func(name string) store.Driver {
		t.Helper()
		d, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, name)})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	cluster := func() store.Driver {
		t.Helper()
		d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	working := fill(t, file("first.db"), dir)
	before := dump(t, working)
	first, pg := file("second.db"), cluster()
	if err := working.Close(); err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	first = file("first.db")
	rows := 0
	if err := copier.Copy(t.Context(), first, pg, func(c copier.Copied) { rows += c.Rows }); err != nil {
		t.Fatal(err)
	}
	if rows < 1000 {
		t.Errorf("%d rows were copied", rows)
	}
	if err := copier.Copy(t.Context(), first, pg, func(copier.Copied) {}); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("into a full database: %v", err)
	}
	there := open(t, pg, dir)
	if d := cmp.Diff(before, dump(t, there)); d != "" {
		t.Errorf("the copy differs (-source +copy):\n%s", d)
	}
	if err := there.Create(t.Context(), lathe.Session{ID: "ses_next", Directory: "/d", Title: "after the copy"}); err != nil {
		t.Error(err)
	}
	l, err := there.Acquire(t.Context(), "ses_next")
	if err != nil {
		t.Fatal(err)
	}
	back := file("back.db")
	if err := copier.Copy(t.Context(), cluster(), back, func(copier.Copied) {}); lathe.CodeOf(err) != lathe.Conflict || !strings.Contains(err.Error(), "running") {
		t.Errorf("from a database in use: %v", err)
	}
	if err := there.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	after := dump(t, there)
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	if err := copier.Copy(t.Context(), cluster(), back, func(copier.Copied) {}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(after, dump(t, open(t, back, dir))); d != "" {
		t.Errorf("the copy back differs (-source +copy):\n%s", d)
	}
}

func open(t *testing.T, d store.Driver, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), d, store.Options{Blobs: filepath.Join(dir, "blobs"), Search: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// fill writes sessions with all kinds of rows.
func fill(t *testing.T, d store.Driver, dir string) *store.Store {
	t.Helper()
	s := open(t, d, dir)
	full := lathetest.Session()
	if err := s.Create(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	for i, title := range []string{"plain", "odd \x00\xff", "\U0010FFFF"} {
		rec := lathe.Session{ID: lathe.SessionID("ses_" + string(rune('a'+i))), Directory: "/d", Project: "p", Title: title}
		if err := s.Create(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		l, err := s.Acquire(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		var facts []lathe.Fact
		for n := range 250 {
			id := string(rec.ID)[4:] + strings.Repeat("x", n)
			m := lathe.Message{ID: lathe.MessageID("msg_" + id), Session: rec.ID, Created: lathe.Time(n + 1), Data: &lathe.User{Agent: "build"}}
			facts = append(facts, &lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: lathe.Part{
				ID: lathe.PartID("prt_" + id), Session: rec.ID, Message: m.ID, Body: &lathe.Text{Text: strings.Repeat(id+" ", 1+n%3*90)},
			}})
		}
		if _, err := s.Commit(t.Context(), l, facts...); err != nil {
			t.Fatal(err)
		}
		if err := s.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// dump is every session with its history.
func dump(t *testing.T, s *store.Store) map[lathe.SessionID]string {
	t.Helper()
	all, err := s.Sessions(t.Context(), lathe.Query{Archived: lathe.WithArchived})
	if err != nil {
		t.Fatal(err)
	}
	out := map[lathe.SessionID]string{}
	for _, rec := range all {
		page, err := s.History(t.Context(), rec.ID, lathe.Position{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		text := rec.Title + string(rec.AppendJSON(nil))
		for _, m := range page.Messages {
			text += "\n" + string(m.AppendJSON(nil))
		}
		out[rec.ID] = text
	}
	return out
}
