package config

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixture is a machine of our own: a home, a checkout at top with the directory sub in it,
// and an administrator's folders.
type fixture struct {
	t    testing.TB
	root string
	env  map[string]string
	// trust is asked about a project; nil trusts nothing.
	trust func(root, digest string) bool
	dir   string // below root; "" means top/sub
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, root: root, env: map[string]string{}}
	for _, dir := range []string{"home", "top/sub", "etc"} {
		if err := os.MkdirAll(w.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *fixture) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// write makes a file whose time is past, so that a Loader takes it for settled.
func (w *fixture) write(name, content string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.age(name)
}

// age sets the time of a file and of the folders above it to the past.
func (w *fixture) age(name string) {
	w.t.Helper()
	past := time.Now().Add(-time.Minute)
	for path := w.path(name); path != w.root; path = filepath.Dir(path) {
		if err := os.Chtimes(path, past, past); err != nil {
			w.t.Fatal(err)
		}
	}
}

// files writes the files of an archive.
func (w *fixture) files(archive string) {
	w.t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		w.write(f.Name, string(f.Data))
	}
}

func (w *fixture) options() Options {
	dir := w.dir
	if dir == "" {
		dir = "top/sub"
	}
	return Options{
		Directory: w.path(dir), Worktree: w.path("top"), Home: w.path("home"), UserDir: w.path("home/.config"),
		Managed: []string{w.path("etc/opencode"), w.path("etc/lathe")},
		Env: func(name string) (string, bool) {
			v, ok := w.env[name]
			return v, ok
		},
		Trusted: w.trust,
	}
}

func yes(string, string) bool { return true }

func (w *fixture) load() *Loaded {
	w.t.Helper()
	l, err := Load(w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// fail loads what must not load.
func (w *fixture) fail() *Error {
	w.t.Helper()
	l, err := Load(w.options())
	if err == nil {
		err = join(l.Broken)
	}
	var e *Error
	if !errors.As(err, &e) {
		w.t.Fatalf("no settings error but %v", err)
	}
	return e
}

// short takes the machine's paths out of a text.
func (w *fixture) short(s string) string { return strings.ReplaceAll(s, w.root+"/", "") }

func (w *fixture) shortAll(all []string) []string {
	out := []string{}
	for _, s := range all {
		out = append(out, w.short(s))
	}
	return out
}

func (w *fixture) warnings(l *Loaded) []string {
	out := []string{}
	for _, p := range l.Warnings {
		p.Source = ""
		out = append(out, w.short(p.String()))
	}
	return out
}

func equal[T any](t testing.TB, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.AllowUnexported(node{})); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}

// sameJSON compares two values, order included.
func sameJSON(t testing.TB, got []byte, want string) {
	t.Helper()
	equal(t, compact(t, got), compact(t, []byte(want)))
}

func compact(t testing.TB, data []byte) string {
	t.Helper()
	n, err := parseChange(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return string(n.appendJSON(nil))
}

// jsonOf is a value as JSON.
func jsonOf(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// golden compares a text with a file of testdata, or writes it there.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, string(want))
}
