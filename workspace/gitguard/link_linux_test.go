package gitguard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const linkText = "[user]\n\tname = a\n"

// newLink is a repository, and the link of its configuration, which is not in use.
func newLink(t *testing.T) (l *Link, config string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config = filepath.Join(base, ".git", "config")
	put(t, config, linkText)
	l = NewLink(filepath.Join(base, "data"), config, true)
	t.Cleanup(l.Close)
	return l, config
}

// clean checks that a configuration is a file that says something, alone in its folder.
func clean(t *testing.T, config, text string) {
	t.Helper()
	info, err := os.Lstat(config)
	if err != nil || !info.Mode().IsRegular() || get(t, config) != text {
		t.Errorf("it is %v, %v and says %q", info, err, get(t, config))
	}
	entries, err := os.ReadDir(filepath.Dir(config))
	if err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// The file is the same afterwards, in all that it is.
func TestLink(t *testing.T) {
	l, config := newLink(t)
	if err := os.Chmod(config, 0o640); err != nil {
		t.Fatal(err)
	}
	was, err := os.Stat(config)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Acquire(); err != nil {
			t.Fatal(err)
		}
	}
	real, linked := RealConfig(config)
	if !linked || real != filepath.Join(filepath.Dir(config), "lathe", "config") || get(t, config) != linkText {
		t.Errorf("%q, %v", real, linked)
	}
	if m, err := update(config, func(now []byte) (Merged, error) { return Merge(nil, []byte("[user]\n\temail = b\n"), now) }); err != nil || len(m.Applied) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	l.Release()
	l.Close()
	if _, linked := RealConfig(config); !linked {
		t.Error("it is put back while it is used")
	}
	l.Release()
	clean(t, config, linkText+"\temail = b\n")
	if now, err := os.Stat(config); err != nil || !os.SameFile(was, now) || now.Mode() != 0o640 {
		t.Errorf("it is another file: %v, %v", now, err)
	}
}

// What the user does to the link meanwhile counts.
func TestLink_Replaced(t *testing.T) {
	const mine = "[user]\n\tname = mine\n"
	for name, do := range map[string]struct {
		by   func(t *testing.T, config string) error
		want string
	}{
		"by a file": {func(t *testing.T, config string) error {
			put(t, config+".new", mine)
			return os.Rename(config+".new", config)
		}, mine},
		"by nothing": {func(_ *testing.T, config string) error { return os.Remove(config) }, linkText},
	} {
		t.Run(name, func(t *testing.T) {
			l, config := newLink(t)
			if err := l.Acquire(); err != nil {
				t.Fatal(err)
			}
			if err := do.by(t, config); err != nil {
				t.Fatal(err)
			}
			l.Release()
			if err := l.Acquire(); err != nil { // it is linked again for the next command
				t.Fatal(err)
			}
			if _, linked := RealConfig(config); !linked || get(t, config) != do.want {
				t.Errorf("linked: %v, it says %q", linked, get(t, config))
			}
			if err := do.by(t, config); err != nil {
				t.Fatal(err)
			}
			l.Release()
			l.Close()
			clean(t, config, do.want)
		})
	}
}

// Nothing is linked that is not a plain file of ours, or that git changes at the moment. It stays as it is.
func TestLink_NotMade(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, config string) error{
		"locked":           func(t *testing.T, config string) error { put(t, config+".lock", ""); return nil },
		"a link elsewhere": func(_ *testing.T, config string) error { return toLink(config, "../mine") },
		"a link of the same name": func(_ *testing.T, config string) error {
			return toLink(config, filepath.Join(filepath.Dir(config), linkTarget))
		},
		"a stand-in": func(_ *testing.T, config string) error { return os.Chmod(config, 0o600|os.ModeSticky) },
		"a condition": func(t *testing.T, config string) error {
			put(t, config, "[includeIf \"gitdir:./x\"]\n\tpath = y\n")
			return nil
		},
		"a folder of others":    func(t *testing.T, config string) error { put(t, filepath.Dir(config)+"/lathe/mine", ""); return nil },
		"a link for the folder": func(_ *testing.T, config string) error { return os.Symlink("..", filepath.Dir(config)+"/lathe") },
		"the repository is a link": func(_ *testing.T, config string) error {
			dir := filepath.Dir(config)
			if err := os.Rename(dir, dir+"-real"); err != nil {
				return err
			}
			return os.Symlink(".git-real", dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, config := newLink(t)
			if err := prepare(t, config); err != nil {
				t.Fatal(err)
			}
			before, _ := filepath.Glob(filepath.Dir(config) + "/*")
			was, _ := os.Lstat(config)
			if err := l.Acquire(); err == nil {
				t.Error("it is no error")
			}
			l.Release()
			l.Close()
			after, _ := filepath.Glob(filepath.Dir(config) + "/*")
			if now, err := os.Lstat(config); err != nil || !os.SameFile(was, now) || strings.Join(before, " ") != strings.Join(after, " ") {
				t.Errorf("there are %q, were %q; %v", after, before, err)
			}
		})
	}
}

// toLink moves a file out of its repository and leaves a symlink.
func toLink(config, target string) error {
	dir := filepath.Dir(config)
	if err := os.Mkdir(dir+"/lathe", 0o755); err != nil {
		return err
	}
	if err := os.Rename(config, filepath.Join(dir, "..", "mine")); err != nil {
		return err
	}
	if err := os.Symlink("../../mine", dir+"/lathe/config"); err != nil {
		return err
	}
	return os.Symlink(target, config)
}

// A link that a repository came with leads nowhere else than ours would.
func TestRealConfig_Hostile(t *testing.T) {
	for _, target := range []string{"lathe/config", "./lathe/config", "lathe/../lathe/config", "../mine", "lathe//config"} {
		_, config := newLink(t)
		if err := toLink(config, target); err != nil { // lathe/config is a link itself
			t.Fatal(err)
		}
		if real, linked := RealConfig(config); linked || real != config {
			t.Errorf("%s leads to %s", target, real)
		}
		if text, err := readConfig(config); err == nil {
			t.Errorf("%s says %q", target, text)
		}
	}
	_, config := newLink(t)
	dir := filepath.Dir(config)
	put(t, dir+"-x/config", "[core]\n\tpager = evil\n")
	if os.Remove(config) != nil || os.Symlink("lathe/config", config) != nil || os.Symlink("../.git-x", dir+"/lathe") != nil {
		t.Fatal("it cannot be made")
	}
	if text, err := readConfig(config); err == nil {
		t.Errorf("through a link for the folder it says %q", text)
	}
	if err := os.Remove(dir + "/lathe"); err != nil {
		t.Fatal(err)
	}
	put(t, dir+"/lathe/config", "[core]\n\tpager = evil\n")
	x := inspector{root: filepath.Dir(dir), aside: func(path string) error { return os.Rename(path, path+".aside") }}
	if x.folder(dir, ""); len(x.found) != 1 || x.found[0].Path != config || !strings.Contains(x.found[0].Why, "core.pager") {
		t.Errorf("one that a command made is let through: %+v", x.found)
	}
}

// What a lathe left that was killed at a bad moment is no obstacle.
func TestLink_Killed(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, config, folder string) error{
		"before the link": func(_ *testing.T, _, folder string) error { return os.Mkdir(folder, 0o755) },
		"before the moment": func(_ *testing.T, _, folder string) error {
			_ = os.Mkdir(folder, 0o755)
			return os.Symlink(linkTarget, folder+"/config")
		},
		"while it is linked": func(_ *testing.T, config, folder string) error {
			_, _ = os.Mkdir(folder, 0o755), os.Rename(config, folder+"/config")
			return os.Symlink(linkTarget, config)
		},
		"with an older file": func(t *testing.T, _, folder string) error { put(t, folder+"/config", "old"); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			l, config := newLink(t)
			if err := prepare(t, config, filepath.Dir(config)+"/lathe"); err != nil {
				t.Fatal(err)
			}
			if err := l.Acquire(); err != nil {
				t.Error(err)
			}
			if _, linked := RealConfig(config); !linked || get(t, config) != linkText {
				t.Errorf("linked: %v, it says %q", linked, get(t, config))
			}
			l.Release()
			l.Close()
			clean(t, config, linkText)
		})
	}
}

// Several processes use one link. The last puts the file back, and who cannot have it keeps others from
// making it.
func TestLink_Several(t *testing.T) {
	a, config := newLink(t)
	b := NewLink(filepath.Dir(a.locks), config, true)
	tree := NewLink(filepath.Dir(a.locks), config, false) // of a linked work tree
	for _, l := range []*Link{a, b, tree} {
		if err := l.Acquire(); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []*Link{a, b, tree} {
		if _, linked := RealConfig(config); !linked {
			t.Error("it is put back too early")
		}
		l.Close()
		l.Release()
	}
	clean(t, config, linkText)
	if err := tree.Acquire(); err == nil {
		t.Error("it is made in a linked work tree")
	}
	_ = b.Acquire() // which waits for the other
	clean(t, config, linkText)
	tree.Release()
	b.Release()
}

// What the link costs the first command of a lathe and its end, and what every other command.
func BenchmarkLink(b *testing.B) {
	base, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	config := filepath.Join(base, ".git", "config")
	if err := errors.Join(os.Mkdir(filepath.Dir(config), 0o755), os.WriteFile(config, []byte(linkText), 0o644)); err != nil {
		b.Fatal(err)
	}
	use := func(b *testing.B, l *Link) {
		if err := l.Acquire(); err != nil {
			b.Fatal(err)
		}
		l.Release()
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			l := NewLink(base, config, true)
			use(b, l)
			l.Close()
		}
	})
	b.Run("other", func(b *testing.B) {
		l := NewLink(base, config, true)
		defer l.Close()
		for b.Loop() {
			use(b, l)
		}
	})
}
