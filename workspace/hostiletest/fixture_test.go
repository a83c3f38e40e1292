package hostiletest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// What no hostile repository may bring into the settings of its user. Fixtures write the
// words in capitals, which are replaced when they are built.
const (
	secret  = "hunter2-of-the-user" // SECRET_NAME, and the content of OUTSIDE/secret
	evil    = "evil.example"        // EVIL, a host
	secName = "HOSTILE_TEST_SECRET"
)

// scene is a hostile repository on disk, and its user.
type scene struct {
	t       *testing.T
	dir     string // of the repository
	outside string // beside it: what it must not reach
	trap    string // a program that it would like to have run: TRAP
	mark    string // which would leave this file
	user    surroundings
}

// fixture is one kind of hostility.
type fixture struct {
	name  string
	files map[string]string             // below the repository, or with a leading "OUTSIDE/" or "USER/" elsewhere
	build func(s *scene, git gitRunner) // what files cannot say
	open  string                        // the directory to open, below the repository
	// keys are the settings that must be distrusted, as "file: key" below the repository;
	// none means that there is nothing to distrust.
	keys []string
	// broken names a file whose settings cannot be read at all.
	broken string
	// inert fixtures are not made dangerous by trust.
	inert bool
	// change is a file to append to for another setting that needs trust, in place of the
	// one in files.
	change map[string]string
}

func newScene(t *testing.T, f fixture) *scene {
	t.Helper()
	base := gittest.RealTemp(t)
	s := &scene{
		t: t, dir: filepath.Join(base, "work", "repo"), outside: filepath.Join(base, "outside"),
		trap: filepath.Join(base, "trap"), mark: filepath.Join(base, "mark"),
		user: surroundings{Home: filepath.Join(base, "home"), UserDir: filepath.Join(base, "home", ".config"), Data: filepath.Join(base, "data")},
	}
	for _, dir := range []string{s.dir, s.outside, s.user.UserDir, s.user.Data} {
		s.mkdir(dir)
	}
	s.write(s.trap, "#!/bin/sh\n: > '"+s.mark+"'\n")
	if err := os.Chmod(s.trap, 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.outside, "secret"), secret+"\n")
	git := gitRunner{gittest.New(t)}
	if err := os.CopyFS(s.dir, os.DirFS(template(t))); err != nil {
		t.Fatal(err)
	}
	for path, text := range f.files {
		s.write(s.path(path), s.fill(text))
	}
	if f.build != nil {
		f.build(s, git)
	}
	return s
}

// template is a repository with one commit, which every scene begins with.
func template(t *testing.T) string {
	t.Helper()
	dir, err := templateOnce()
	if err != nil {
		t.Skip("git cannot make a repository: ", err)
	}
	return dir
}

var templateOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hostile-template-")
	if err != nil {
		return "", err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "--template="}, {"commit", "-q", "--allow-empty", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, gittest.Env(dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("git %q: %w\n%s", args, err, out)
		}
	}
	return dir, nil
})

// path is where a file of a fixture belongs.
func (s *scene) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "OUTSIDE/"); ok {
		return filepath.Join(s.outside, filepath.FromSlash(rest))
	}
	if rest, ok := strings.CutPrefix(name, "USER/"); ok {
		return filepath.Join(s.user.UserDir, "lathe", filepath.FromSlash(rest))
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

func (s *scene) fill(text string) string {
	return strings.NewReplacer("TRAP", filepath.ToSlash(s.trap), "EVIL", evil, "OUTSIDE", filepath.ToSlash(s.outside), "SECRET_NAME", secName).Replace(text)
}

func (s *scene) mkdir(path string) {
	s.t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) write(path, text string) {
	s.t.Helper()
	s.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// put writes a file of the repository again.
func (s *scene) put(name, text string) { s.write(s.path(name), s.fill(text)) }

func (s *scene) link(target, name string) {
	s.t.Helper()
	s.mkdir(filepath.Dir(s.path(name)))
	if err := os.Symlink(s.fill(target), s.path(name)); err != nil {
		s.t.Skip("no symlinks here: ", err)
	}
}

// sparse makes a file that claims to be large.
func (s *scene) sparse(name string, size int64) {
	s.t.Helper()
	s.put(name, "")
	if err := os.Truncate(s.path(name), size); err != nil {
		s.t.Skip("no large files here: ", err)
	}
}

func (s *scene) sprung() bool {
	_, err := os.Lstat(s.mark)
	return err == nil
}

// gitRunner runs the real git to build repositories, never to open them.
type gitRunner struct{ gittest.Git }

// set writes lines of git configuration.
func (g gitRunner) set(s *scene, settings ...string) {
	g.Helper()
	for _, setting := range settings {
		key, value, _ := strings.Cut(s.fill(setting), "=")
		g.Run(s.dir, "config", "--add", key, value)
	}
}
