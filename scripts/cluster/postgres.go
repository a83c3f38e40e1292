//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errAbsent means that a program is not installed on this machine.
var errAbsent = errors.New("not installed")

// database is the name of the database and of its user.
const database = "lathe"

// postgres is a throw-away PostgreSQL server on a port of the loopback.
type postgres struct {
	bin, dir, password string
	port               int
	cmd                *exec.Cmd
}

// findPostgres returns the folder of the newest installed server.
func findPostgres() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append([]string{path}, found...)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("PostgreSQL's server programs are %w; on Debian: apt-get install postgresql", errAbsent)
	}
	bin := filepath.Dir(found[len(found)-1])
	if _, err := exec.LookPath(filepath.Join(bin, "psql")); err != nil {
		return "", fmt.Errorf("psql is %w beside %s", errAbsent, bin)
	}
	return bin, nil
}

// version is the major version in a path such as /usr/lib/postgresql/15/bin/initdb.
func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// newPostgres makes an empty cluster in a folder and starts it.
func newPostgres(ctx context.Context, dir string, fsync bool) (*postgres, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	p := &postgres{bin: bin, dir: dir, password: rand.Text()}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	secret := filepath.Join(dir, "password")
	if err := errors.Join(os.WriteFile(secret, []byte(p.password), 0o600), p.own(secret)); err != nil {
		return nil, err
	}
	err = p.run(ctx, "initdb", "-D", p.data(), "-U", database, "--pwfile", secret, "--auth", "scram-sha-256", "-E", "UTF8", "--locale", "C", "--no-sync")
	if err != nil {
		return nil, err
	}
	conf := fmt.Sprintf("listen_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = ''\nfsync = %t\nmax_connections = 200\nwal_keep_size = 256\n", p.port, fsync)
	f, err := os.OpenFile(filepath.Join(p.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString(conf); err != nil {
		return nil, err
	}
	if err := errors.Join(f.Close(), p.start(ctx)); err != nil {
		return nil, err
	}
	if err := p.exec(ctx, "CREATE DATABASE "+database, "postgres"); err != nil {
		p.stop(syscall.SIGQUIT)
		return nil, err
	}
	return p, nil
}

// prepare makes the folder and chooses a port.
func (p *postgres) prepare() (err error) {
	if err := errors.Join(os.MkdirAll(p.dir, 0o700), p.own(p.dir)); err != nil {
		return err
	}
	p.port, err = freePort()
	return err
}

// freePort returns a port of the loopback that nothing listens on.
func freePort() (int, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (p *postgres) data() string { return filepath.Join(p.dir, "data") }

// addr is where the server listens.
func (p *postgres) addr() string { return "127.0.0.1:" + strconv.Itoa(p.port) }

// dsn is the address of the database behind a proxy, or behind none.
func (p *postgres) dsn(addr string) string {
	return "postgres://" + database + ":" + p.password + "@" + addr + "/" + database + "?sslmode=disable"
}

// account is the user of the server, which refuses to run as root; nil is this one.
func account() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return nil
}

// own gives a file to the user of the server.
func (p *postgres) own(path string) error {
	if a := account(); a != nil {
		return os.Chown(path, int(a.Uid), int(a.Gid))
	}
	return nil
}

// command is a program of PostgreSQL as the user of the server.
func (p *postgres) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + searchPath(), "PGPASSWORD=" + p.password, "LC_ALL=C", "HOME=" + p.dir}
	cmd.SysProcAttr = childOf(account())
	return cmd
}

func (p *postgres) run(ctx context.Context, name string, args ...string) error {
	if out, err := p.command(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// start starts the server and waits until it answers.
func (p *postgres) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = p.command(context.WithoutCancel(ctx), "postgres", "-D", p.data())
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	return eventually(ctx, 30*time.Second, "PostgreSQL does not answer", func() bool {
		return p.run(ctx, "pg_isready", "-q", "-h", "127.0.0.1", "-p", strconv.Itoa(p.port)) == nil
	})
}

// stop ends the server: SIGQUIT is a crash, SIGINT an orderly end.
func (p *postgres) stop(sig syscall.Signal) {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(sig)
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// exec runs statements in a database.
func (p *postgres) exec(ctx context.Context, sql, in string) error {
	_, err := p.ask(ctx, sql, in)
	return err
}

// query returns the rows of a query.
func (p *postgres) query(ctx context.Context, sql string) ([][]string, error) {
	return p.ask(ctx, sql, database)
}

// ask runs statements with psql, so that the campaign looks at the database without lathe's own code.
func (p *postgres) ask(ctx context.Context, sql, in string) (rows [][]string, err error) {
	cmd := p.command(ctx, "psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", strconv.Itoa(p.port), "-U", database, "-d", in)
	cmd.Stdin = strings.NewReader(sql)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("psql: %w: %s", err, strings.TrimSpace(said.String()))
	}
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows, nil
}

// standby makes a server that follows this one, and lets each commit here wait for it.
func (p *postgres) standby(ctx context.Context, dir string) (*postgres, error) {
	s := &postgres{bin: p.bin, dir: dir, password: p.password}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	err := s.run(ctx, "pg_basebackup", "-h", "127.0.0.1", "-p", strconv.Itoa(p.port), "-U", database, "-D", s.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync",
		"-d", "application_name=standby")
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(s.data(), "postgresql.conf")
	text, err := os.ReadFile(conf)
	if err != nil {
		return nil, err
	}
	text = append(text, fmt.Appendf(nil, "port = %d\n", s.port)...) // the last one counts
	if err := os.WriteFile(conf, text, 0o600); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	if err := p.exec(ctx, "ALTER SYSTEM SET synchronous_standby_names = '*'", database); err != nil {
		return nil, err
	}
	return s, p.exec(ctx, "SELECT pg_reload_conf()", database)
}

// promote makes a standby the server.
func (p *postgres) promote(ctx context.Context) error {
	return p.exec(ctx, "SELECT pg_promote()", database)
}
