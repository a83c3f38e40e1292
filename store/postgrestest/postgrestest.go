// Package postgrestest runs throw-away PostgreSQL servers for tests. A server belongs to one test binary, lies in a
// folder of its own, listens on a Unix socket there and nowhere else, and ends with the binary.
//
// It never uses a server that happens to run. Without PostgreSQL's programs it says so, and tests skip.
//
// Start at [Start].
package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrMissing is the error without PostgreSQL's programs.
var ErrMissing = errors.New("PostgreSQL's initdb is not installed (on Debian: apt-get install postgresql)")

// Server is a running server.
type Server struct {
	bin, dir string
	process  *exec.Cmd
}

// Options change a server.
type Options struct {
	ICU bool // the databases sort as in American English, and not by bytes
}

// Find returns the folder of PostgreSQL's newest programs.
func Find() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // sorted: 9.6 before 15 would be wrong, but is long gone
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", ErrMissing
}

// Start makes a cluster and starts its server.
func Start(o Options) (*Server, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lathe-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir}
	if err := s.create(o); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.Run(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// create runs initdb.
func (s *Server) create(o Options) error {
	if err := giveTo(s.dir); err != nil {
		return err
	}
	args := []string{"--no-sync", "-A", "trust", "-E", "UTF8", "-U", "lathe", "-D", s.data()}
	if o.ICU {
		args = append(args, "--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8")
	} else {
		args = append(args, "--locale=C")
	}
	c := exec.Command(filepath.Join(s.bin, "initdb"), args...)
	c.Dir = s.dir
	asUser(c)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// data is the folder of the cluster. The log and the socket are beside it.
func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Run starts the server, also after Stop, and waits until it answers.
func (s *Server) Run(more ...string) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	args := []string{
		"-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off",
		"-c", "max_connections=250", "-c", "shared_buffers=32MB", "-c", "autovacuum=off", "-c", "max_wal_size=128MB",
	}
	s.process = exec.Command(filepath.Join(s.bin, "postgres"), append(args, more...)...)
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.dir, log, log
	asUser(s.process)
	if err := s.process.Start(); err != nil {
		return err
	}
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for last := error(nil); ; <-t.C {
		if last = s.Exec("postgres", "SELECT 1"); last == nil {
			return nil
		}
		if s.process.ProcessState != nil || time.Since(started(s)) > time.Minute {
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the server does not answer: %w\n%s", last, text)
		}
	}
}

// started is when the server's folder was made.
func started(s *Server) time.Time {
	if info, err := os.Stat(filepath.Join(s.data(), "postmaster.pid")); err == nil {
		return info.ModTime()
	}
	return time.Now()
}

// Crash ends the server as a power cut of its machine would end its connections.
func (s *Server) Crash() error {
	err := s.process.Process.Signal(quit)
	_ = s.process.Wait() // its exit code says that it was crashed
	return err
}

// Standby crashes the server and starts it as a standby, which takes no writes.
func (s *Server) Standby() error {
	if err := s.Crash(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.data(), "standby.signal"), nil, 0o644); err != nil {
		return err
	}
	return s.Run()
}

// Promote lets a standby take over.
func (s *Server) Promote() error { return s.Exec("postgres", "SELECT pg_promote()") }

// Close ends the server and removes its folder.
func (s *Server) Close() error { return errors.Join(s.Crash(), os.RemoveAll(s.dir)) }

// DSN is the address of a database.
func (s *Server) DSN(database string, parameters ...string) string {
	q := url.Values{"host": {s.dir}, "sslmode": {"disable"}}
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		q.Set(name, value)
	}
	return (&url.URL{Scheme: "postgres", User: url.User("lathe"), Path: "/" + database, RawQuery: q.Encode()}).String()
}

// Exec runs statements in a database.
func (s *Server) Exec(database, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := pgconn.Connect(ctx, s.DSN(database))
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, sql).ReadAll()
	return errors.Join(err, c.Close(ctx))
}

// Fresh returns the address of an empty schema, which is dropped after the test.
func (s *Server) Fresh(tb testing.TB) string {
	tb.Helper()
	name := "t" + strings.ToLower(rand.Text()[:12])
	if err := s.Exec("postgres", "CREATE SCHEMA "+name); err != nil {
		tb.Fatal(err)
	}
	return s.DSN("postgres", "search_path="+name)
}
