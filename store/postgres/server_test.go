package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgres"
	"github.com/lathe-agent/lathe/store/postgrestest"
	"github.com/lathe-agent/lathe/store/storetest"
)

func open(t *testing.T, dsn string) *store.Store {
	t.Helper()
	s, err := postgres.OpenStore(t.Context(), postgres.Options{DSN: dsn}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func record(id string) lathe.Session {
	return lathe.Session{ID: lathe.SessionID(id), Slug: "s", Project: "p", Directory: "/d", Title: id, Version: "1", Created: 1, Updated: 1}
}

// sql runs statements in the schema of a test and returns the first value.
func sql(t *testing.T, dsn, text string) string {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	results, err := c.Exec(t.Context(), text).ReadAll()
	if end := c.Close(t.Context()); err != nil || end != nil {
		t.Fatal(err, end)
	}
	if len(results) == 0 || len(results[0].Rows) == 0 {
		return ""
	}
	return string(results[0].Rows[0][0])
}

// A database that sorts as people do must still compare as the store expects.
func TestStore_OtherLocale(t *testing.T) {
	start(t)
	s, err := postgrestest.Start(postgrestest.Options{ICU: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if got := sql(t, s.DSN("postgres"), `SELECT 'a' < 'B'`); got != "t" {
		t.Fatalf("the server does not sort as people do: %q", got)
	}
	storetest.RunGroups(t, func(tb testing.TB, _ string) storetest.Database {
		dsn := s.Fresh(tb)
		return func(o store.Options) (*store.Store, error) {
			return postgres.OpenStore(tb.Context(), postgres.Options{DSN: dsn}, o)
		}
	})
}

// Lost connections, also at the worst moment, lose no change that was reported as stored, and need no restart.
func TestStore_LostConnections(t *testing.T) {
	dsn := start(t).Fresh(t)
	s := open(t, dsn)
	for i := range 5 {
		id := "ses_" + string(rune('a'+i))
		if err := s.Create(t.Context(), record(id)); err != nil {
			t.Fatal(err)
		}
		sql(t, dsn, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'lathe' AND pid <> pg_backend_pid()`)
	}
	list, err := s.Sessions(t.Context(), lathe.Query{})
	if err != nil || len(list) != 5 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

func TestStore_ServerRestart(t *testing.T) {
	start(t)
	server, err := postgrestest.Start(postgrestest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	dsn := server.Fresh(t)
	s := open(t, dsn)
	if err := s.Create(t.Context(), record("ses_before")); err != nil {
		t.Fatal(err)
	}
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	err = s.Create(t.Context(), record("ses_during"))
	if lathe.CodeOf(err) != lathe.Unavailable || strings.Contains(err.Error(), "bug") {
		t.Errorf("while the server is down: %v", err)
	}
	if _, err := s.Sessions(t.Context(), lathe.Query{}); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("a read while the server is down: %v", err)
	}
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), record("ses_after")); err != nil {
		t.Error(err)
	}
	if list, err := s.Sessions(t.Context(), lathe.Query{}); err != nil || len(list) != 2 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := server.Run("-c", "default_transaction_read_only=on"); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), record("ses_read")); lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("read-only: %v", err)
	}
	if list, err := s.Sessions(t.Context(), lathe.Query{}); err != nil || len(list) != 2 {
		t.Errorf("read-only: %d sessions, %v", len(list), err)
	}
}

func TestOpen_Schema(t *testing.T) {
	server := start(t)
	dsn := server.Fresh(t)
	_ = open(t, dsn)
	version := sql(t, dsn, `SELECT version FROM lathe_schema`)
	sql(t, dsn, `UPDATE lathe_schema SET version = 1000`) // newer, and usable
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	if err != nil || d.Schema() != 1000 || d.Close() != nil {
		t.Errorf("a newer schema that serves this version, too: %v", err)
	}
	for _, c := range []struct{ change, want string }{
		{`UPDATE lathe_schema SET oldest = 999`, "newer version of lathe"},
		{`UPDATE lathe_schema SET version = 0, oldest = 1`, "migration 0001_tables.sql failed"},
	} {
		sql(t, dsn, c.change)
		_, err := postgres.OpenStore(t.Context(), postgres.Options{DSN: dsn}, store.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.change, err)
		}
	}
	if got := sql(t, dsn, `SELECT version FROM lathe_schema`); got != "0" {
		t.Errorf("a failed migration changed the version from %s to %s", version, got)
	}
}

// Nodes that start together make the schema once.
func TestOpen_Together(t *testing.T) {
	dsn := start(t).Fresh(t)
	errs := make(chan error)
	for range 4 {
		go func() {
			d, err := postgres.Open(context.Background(), postgres.Options{DSN: dsn})
			if err == nil {
				err = d.Close()
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// Whatever is wrong with the address, its password is not shown.
func TestOpen_WrongAddress(t *testing.T) {
	server := start(t)
	sock := strings.SplitN(server.DSN("x"), "?", 2)[1]
	for dsn, want := range map[string]string{
		"":                                     "postgres://",
		"mysql://u:hunter2@h/db":               "postgres://",
		"postgres://u:hunter2%zz@localhost/db": "not a URL",
		"postgres://u:hunter2@localhost:99999999/db":        "cannot be used",
		"postgres://u:hunter2@localhost/db?sslmode=hunter2": "cannot be used",
		"postgres://u:hunter2@localhost:1/db":               "cannot connect",
		"postgres://u:hunter2@nowhere.invalid/db":           "cannot connect",
		"postgres://lathe:hunter2@/nothing?" + sock:         "does not exist",
		"postgres://stranger:hunter2@/postgres?" + sock:     "refused the sign-in",
		server.DSN("postgres", "hunter=hunter2"):            `does not know; correct or remove it: unrecognized configuration parameter "hunter"`,
	} {
		_, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", dsn, err)
		}
	}
	for _, dsn := range []string{"", "%", "postgres://u:hunter2%zz@h/db", "postgres://u:hunter2@h/db?password=hunter2", "host=h password=hunter2"} {
		if got := postgres.Redact(dsn); strings.Contains(got, "hunter2") {
			t.Errorf("%q is shown as %q", dsn, got)
		}
	}
}

// A node whose clock is two days ahead is told so, and deletes no large value before its time.
func TestStore_WrongClock(t *testing.T) {
	dsn, dir := start(t).Fresh(t), t.TempDir()
	var log bytes.Buffer
	node := func(ahead time.Duration) *store.Store {
		s, err := postgres.OpenStore(t.Context(), postgres.Options{
			DSN: dsn, Log: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return time.Now().Add(ahead) },
		}, store.Options{Large: store.NewFiles(dir), Now: func() lathe.Time { return lathe.Time(time.Now().Add(ahead).UnixMilli()) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	right := node(0)
	if log.Len() > 0 {
		t.Errorf("a right clock: %s", &log)
	}
	wrong := node(48 * time.Hour)
	if got := log.String(); !strings.Contains(got, "clock on this machine differs") || !strings.Contains(got, "ahead=48h0m0s") {
		t.Errorf("the log says %q", got)
	}
	const hash = "ab00000000000000000000000000000000000000000000000000000000000000"
	if err := store.NewFiles(dir).Put(t.Context(), hash, []byte("left by a crash")); err != nil {
		t.Fatal(err)
	}
	if err := right.Vacuum(t.Context(), nil); err != nil { // it has no row from now on
		t.Fatal(err)
	}
	values := func() (n int) {
		if err := store.NewFiles(dir).List(t.Context(), func(string) error { n++; return nil }); err != nil {
			t.Error(err)
		}
		return n
	}
	if err := wrong.RemoveUnused(t.Context()); err != nil || values() != 1 {
		t.Errorf("%d values (%v)", values(), err)
	}
	sql(t, dsn, `UPDATE blob SET unused = unused - 90000000`)
	if err := wrong.RemoveUnused(t.Context()); err != nil || values() != 0 {
		t.Errorf("%d values after 25 hours (%v)", values(), err)
	}
}

// Clients see a session busy until another node has continued it. Without nodes that serve, nobody does, and it is idle.
func TestStore_BusyUntilContinued(t *testing.T) {
	dsn := start(t).Fresh(t)
	node := func(serves bool) *store.Store {
		s, err := postgres.OpenStore(t.Context(), postgres.Options{DSN: dsn, Node: postgres.Node{Serves: serves}}, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	first, reader := node(true), node(false)
	ids := []lathe.SessionID{"ses_cut", "ses_released", "ses_handed_over"}
	for i, id := range ids {
		if err := first.Create(t.Context(), record(string(id))); err != nil {
			t.Fatal(err)
		}
		l, err := first.Acquire(t.Context(), id)
		if err == nil {
			_, err = first.Commit(t.Context(), l, &lathe.StatusChanged{Session: id, Status: lathe.Status{Type: lathe.Busy}})
		}
		if err == nil && i == 1 {
			err = first.Release(t.Context(), l)
		}
		if err == nil && i == 2 {
			_, err = first.Commit(t.Context(), l, &lathe.Interrupted{Session: id})
		}
		if err == nil && i == 2 {
			err = store.HandOver(t.Context(), first, l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	busy := func(want ...bool) {
		t.Helper()
		all, err := reader.Statuses(t.Context(), lathe.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if _, is := all[id]; is != want[i] {
				t.Errorf("%s: busy %t", id, is)
			}
		}
	}
	busy(true, false, true)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	busy(false, false, false)
	next := node(true)
	busy(true, false, true)
	l, err := next.Acquire(t.Context(), ids[0])
	if err != nil || !l.Busy || l.Cut {
		t.Errorf("taken over with %+v (%v)", l, err)
	}
	busy(true, false, true)
	if l, err = next.Acquire(t.Context(), ids[1]); err != nil || l.Busy || l.Cut {
		t.Errorf("taken with %+v (%v)", l, err)
	}
	if l, err = next.Acquire(t.Context(), ids[2]); err != nil || !l.Cut {
		t.Errorf("taken with %+v (%v), and its turn was cut off", l, err)
	}
	busy(true, false, true)
}

// A server without space on its disk still renews leases. Nodes say what is wrong all the same.
func TestDriver_NotReadyWithoutSpace(t *testing.T) {
	dsn := start(t).Fresh(t)
	var log bytes.Buffer
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), d, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Create(t.Context(), record("ses_before")); err != nil || d.Ready() != nil {
		t.Fatal(err, d.Ready())
	}
	sql(t, dsn, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
		$$BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device'; END$$;
		CREATE TRIGGER full_disk BEFORE INSERT ON session EXECUTE FUNCTION full_disk()`)
	for range 2 {
		if err := s.Create(t.Context(), record("ses_full")); lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "disk of the database server is full") {
			t.Errorf("without space: %v", err)
		}
	}
	if err := d.Ready(); err == nil || !strings.Contains(err.Error(), "disk of the database server is full") {
		t.Errorf("ready: %v", err)
	}
	if got := strings.Count(log.String(), "cannot store changes"); got != 1 {
		t.Errorf("the log has %d lines about it: %s", got, &log)
	}
	if list, err := s.Sessions(t.Context(), lathe.Query{}); err != nil || len(list) != 1 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

// A server that crashes in the middle of commits: what was reported as stored is stored, and nothing else is.
func TestStore_CrashesWhileManyWrite(t *testing.T) {
	start(t)
	server, err := postgrestest.Start(postgrestest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s, ids := open(t, server.Fresh(t)), lathe.NewIDs()
	const writers = 8
	stored := make([]map[lathe.PartID]bool, writers)
	leases := make([]store.Lease, writers)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	for i := range writers {
		id := "ses_" + string(rune('a'+i))
		err := s.Create(ctx, record(id))
		if err == nil {
			leases[i], err = s.Acquire(ctx, lathe.SessionID(id))
		}
		m := lathe.Message{ID: ids.Message(), Session: lathe.SessionID(id), Data: &lathe.Assistant{}}
		if err == nil {
			_, err = s.Commit(ctx, leases[i], &lathe.MessageChanged{Info: m})
		}
		if err != nil {
			t.Fatal(err)
		}
		stored[i] = map[lathe.PartID]bool{}
		all.Go(func() {
			for ctx.Err() == nil {
				p := lathe.Part{ID: ids.Part(), Session: m.Session, Message: m.ID, Body: &lathe.Text{Text: "x"}}
				_, err := s.Commit(context.WithoutCancel(ctx), leases[i], &lathe.PartChanged{Part: p})
				stored[i][p.ID] = err == nil
			}
		})
	}
	for range 4 {
		reached := s.Last() + 200
		for s.Last() < reached && ctx.Err() == nil {
			runtime.Gosched()
		}
		if err := errors.Join(server.Crash(), server.Run()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	all.Wait()
	for i, l := range leases {
		page, err := s.History(t.Context(), l.Session, lathe.Position{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		have := map[lathe.PartID]bool{}
		for _, p := range page.Messages[0].Parts {
			have[p.ID] = true
		}
		for id, acknowledged := range stored[i] {
			if acknowledged != have[id] {
				t.Errorf("part %s: reported as stored %v, is stored %v", id, acknowledged, have[id])
			}
		}
	}
}

// After a failover numbers may be given twice. A node says that it must be started again, and readers read all anew.
func TestStore_FailOver(t *testing.T) {
	start(t)
	server, err := postgrestest.Start(postgrestest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	dsn := server.Fresh(t)
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), d, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := errors.Join(s.Create(t.Context(), record("ses_before")), d.Live()); err != nil {
		t.Fatal(err)
	}
	cursor := lathe.Cursor{Feed: s.Feed(), Seq: s.Last()}
	since := func(s *store.Store) bool {
		res, err := s.Since(t.Context(), cursor, lathe.Scope{}, func(lathe.Event) error { return nil })
		if err != nil {
			t.Error(err)
		}
		return res.Resync
	}
	if since(s) {
		t.Error("a reader must read all anew before the failover")
	}
	if err := server.Standby(); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn}); lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "standby") {
		t.Errorf("open a standby: %v", err)
	}
	if err := server.Promote(); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), record("ses_after")); lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "restart this node") {
		t.Errorf("a write after the failover: %v", err)
	}
	if err := d.Live(); err == nil || !strings.Contains(err.Error(), "failover") {
		t.Errorf("live: %v", err)
	}
	again := open(t, dsn)
	if !since(again) {
		t.Errorf("a cursor of %q is used in %q", cursor.Feed, again.Feed())
	}
	if list, err := again.Sessions(t.Context(), lathe.Query{}); err != nil || len(list) != 1 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

// A stopped process must not hold the lock of all writers.
func TestStore_StoppedWriterIsEnded(t *testing.T) {
	dsn := start(t).Fresh(t)
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	tx, err := d.Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`UPDATE feed SET counter = 7`); err != nil { // and then it stops
		t.Fatal(err)
	}
	other := open(t, dsn)
	began := time.Now()
	if err := other.Create(t.Context(), record("ses_x")); err != nil {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if err := tx.Commit(); !errors.Is(err, store.ErrLost) {
		t.Errorf("the commit of a stopped writer: %v", err)
	}
}
