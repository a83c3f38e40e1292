package gitguard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func newView(t *testing.T, text string) (v *View, folder, project, file string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder, project = base+"/data", base+"/project"
	file = filepath.Join(project, ".git", "config")
	put(t, file, text)
	if v, err = OpenView(folder, project, []string{file}); err != nil {
		t.Fatal(err)
	}
	return v, folder, project, file
}

func TestView_Carry(t *testing.T) {
	v, folder, project, file := newView(t, "[core]\n\tbare = false\n")
	was, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, v.Copy(0), "[user]\n\tname = a\n[core]\n\tpager = evil\n")
	put(t, file, "[core]\n\tbare = false\n[alias]\n\tx = y\n") // the user, meanwhile
	changes := v.ApplyChanges()
	if len(changes) != 1 || changes[0].Err != nil || strings.Join(changes[0].Refused, " ") != "core.bare core.pager" {
		t.Errorf("%+v", changes)
	}
	if got, want := get(t, file), "[core]\n\tbare = false\n[alias]\n\tx = y\n[user]\n\tname = a\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if now, err := os.Stat(file); err != nil || !os.SameFile(was, now) {
		t.Errorf("the file was replaced, which takes away what covers it for commands: %v", err)
	}
	if again := v.ApplyChanges(); again != nil {
		t.Errorf("told twice: %+v", again)
	}
	if _, u := Recover(folder, project); !u.Since.IsZero() {
		t.Error("a view in use was taken over")
	}
	v.Remove()
}

// A lathe that was killed has no lock any more.
func TestRecover(t *testing.T) {
	v, folder, project, file := newView(t, "")
	put(t, v.Copy(0), "[user]\n\tname = a\n[alias]\n\tx = !y\n")
	if err := v.list.Close(); err != nil {
		t.Fatal(err)
	}
	changes, u := Recover(folder, project)
	if len(changes) != 1 || strings.Join(changes[0].Refused, " ") != "alias.x" || time.Since(u.Since) > time.Hour || len(u.Protected) != 1 || u.Protected[0] != file {
		t.Errorf("%+v %+v", changes, u)
	}
	if got := get(t, file); got != "[user]\n\tname = a\n" {
		t.Errorf("got %q", got)
	}
	if changes, u := Recover(folder, project); changes != nil || !u.Since.IsZero() {
		t.Errorf("again: %+v %+v", changes, u)
	}
}

// What a command put in place of its copy is not followed and not waited for.
func TestView_HostileCopy(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	put(t, secret, "[user]\n\tname = secret\n")
	for name, make := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(secret, path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o755) },
		"large":  func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("\n", 2<<20)), 0o600) },
		"none":   func(string) error { return nil },
	} {
		v, _, _, file := newView(t, "")
		if err := os.Remove(v.Copy(0)); err != nil {
			t.Fatal(err)
		}
		if err := make(v.Copy(0)); err != nil {
			t.Fatal(err)
		}
		v.ApplyChanges()
		if got := get(t, file); got != "" {
			t.Errorf("%s: %q", name, got)
		}
		v.Remove()
	}
}

// A lock that stays is an error with its name, and what was changed waits.
func TestView_Locked(t *testing.T) {
	v, _, _, file := newView(t, "")
	put(t, v.Copy(0), "[user]\n\tname = a\n")
	put(t, file+".lock", "")
	if changes := v.ApplyChanges(); len(changes) != 1 || changes[0].Err == nil || !strings.Contains(changes[0].Err.Error(), file+".lock") {
		t.Errorf("%+v", changes)
	}
	if err := os.Remove(file + ".lock"); err != nil {
		t.Fatal(err)
	}
	if changes := v.ApplyChanges(); len(changes) != 1 || changes[0].Err != nil || get(t, file) != "[user]\n\tname = a\n" {
		t.Errorf("%+v", changes)
	}
	v.Remove()
}

func BenchmarkWatch_2000Files(b *testing.B) {
	root := b.TempDir()
	for i := range 200 {
		for j := range 10 {
			path := filepath.Join(root, "d"+string(rune('a'+i%20)), "e"+string(rune('a'+i/20)), "f"+string(rune('a'+j)))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	w := NewWatch(root, os.Remove)
	w.Begin(RepoDirs{}, Unwatched{})
	for b.Loop() {
		w.Check(true)
	}
}
