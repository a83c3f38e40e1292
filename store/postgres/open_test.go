package postgres_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgres"
)

// lines is a log that may be read while it is written.
type lines struct {
	mu   sync.Mutex // guards the field below
	text bytes.Buffer
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A database that cannot store every character is refused before anything is in it.
func TestOpen_Encoding(t *testing.T) {
	server := start(t)
	for encoding, want := range map[string]string{"LATIN1": "the database has the encoding LATIN1", "SQL_ASCII": ""} {
		name := strings.ToLower(encoding)
		if err := server.Exec("postgres", `CREATE DATABASE `+name+` TEMPLATE template0 LOCALE 'C' ENCODING '`+encoding+`'`); err != nil {
			t.Fatal(err)
		}
		d, err := postgres.Open(t.Context(), postgres.Options{DSN: server.DSN(name)})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", encoding, err)
		}
		if err == nil {
			_ = d.Close()
		}
	}
}

// A time limit that an administrator set for the statements of a user ends none of ours.
func TestOpen_StatementTimeout(t *testing.T) {
	server := start(t)
	dsn := server.Fresh(t)
	sql(t, dsn, `CREATE ROLE hurried LOGIN SUPERUSER; ALTER ROLE hurried SET statement_timeout = 1`)
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: strings.Replace(dsn, "postgres://lathe", "postgres://hurried", 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if err := d.Read(t.Context(), func(r store.Reader) error {
		return r.Query(`SELECT pg_sleep(0.1)::text`, nil, func(store.Row) error { return nil })
	}); err != nil {
		t.Error(err)
	}
	err = d.Read(t.Context(), func(r store.Reader) error {
		return r.Query(`SELECT pg_cancel_backend(pg_backend_pid())::text, pg_sleep(1)::text`, nil, func(store.Row) error { return nil })
	})
	if lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "stopped a statement") {
		t.Errorf("canceled by an administrator: %v", err)
	}
}

// The log says why a node has no lease, also if the reason changes while it has none.
func TestNode_LogsEachReason(t *testing.T) {
	dsn := start(t).Fresh(t)
	var log lines
	d, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	says := func(reason string) {
		t.Helper()
		end := time.After(10 * time.Second)
		for !strings.Contains(log.String(), reason) {
			select {
			case <-end:
				t.Fatalf("no %q in the log:\n%s", reason, &log)
			case <-time.Tick(50 * time.Millisecond):
			}
		}
	}
	sql(t, dsn, `ALTER TABLE node RENAME TO away`)
	says("does not exist")
	sql(t, dsn, `BEGIN; ALTER TABLE away RENAME TO node; UPDATE lathe_schema SET oldest = 999; COMMIT`)
	says("newer version of lathe")
}
