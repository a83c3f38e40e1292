package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sandboxed returns two real directories beside each other: one to work in, and one outside
// that must never be touched.
func sandboxed(t *testing.T) (dir, out string) {
	t.Helper()
	top := realPath(t.TempDir())
	dir, out = filepath.Join(top, "project"), filepath.Join(top, "outside")
	for _, d := range []string{dir, out} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, out
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
}

func resolved(t *testing.T, dir, name string) File {
	t.Helper()
	f, err := Resolve(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestResolve(t *testing.T) {
	dir, out := sandboxed(t)
	put(t, filepath.Join(dir, "a/b.txt"), "b")
	put(t, filepath.Join(out, "secret"), "s")
	link(t, "a", filepath.Join(dir, "to-a"))
	link(t, filepath.Join(dir, "to-a"), filepath.Join(dir, "a", "to-to-a"))
	link(t, out, filepath.Join(dir, "to-out"))
	link(t, "../outside/new", filepath.Join(dir, "dangling"))
	link(t, "../../outside", filepath.Join(dir, "a", "up"))
	link(t, "nowhere/../x", filepath.Join(dir, "lost"))
	link(t, "loop2", filepath.Join(dir, "loop1"))
	link(t, "loop1", filepath.Join(dir, "loop2"))
	tests := []struct {
		name, ask, want string
		there           bool
		fails           error
		says            string
	}{
		{"relative", "a/b.txt", "project/a/b.txt", true, nil, ""},
		{"absolute", filepath.Join(dir, "a"), "project/a", true, nil, ""},
		{"the directory itself", "", "project", true, nil, ""},
		{"dots", "./a/../a/./b.txt", "project/a/b.txt", true, nil, ""},
		{"dots that leave", "../outside/secret", "outside/secret", true, nil, ""},
		{"dots after a link are of the name", "to-out/../a", "project/a", true, nil, ""},
		{"more dots than there are directories", strings.Repeat("../", 100) + "nothing-here", "/nothing-here", false, nil, ""},
		{"missing", "x/y/z", "project/x/y/z", false, nil, ""},
		{"through a link", "to-a/b.txt", "project/a/b.txt", true, nil, ""},
		{"through links to links", "a/to-to-a/to-to-a/b.txt", "project/a/b.txt", true, nil, ""},
		{"link that leaves", "to-out/secret", "outside/secret", true, nil, ""},
		{"link that leaves, to a missing file", "to-out/d/new", "outside/d/new", false, nil, ""},
		{"relative link that leaves", "a/up/secret", "outside/secret", true, nil, ""},
		{"link that dangles", "dangling", "outside/new", false, nil, ""},
		{"tilde is a name", "~/x", "project/~/x", false, nil, ""},
		{"not UTF-8", "a/\xff\xfe", "project/a/\xff\xfe", false, nil, ""},
		{"circle", "loop1", "", false, nil, "loop of symlinks"},
		{"link through nothing", "lost", "", false, fs.ErrNotExist, "does not exist"},
		{"below a file", "a/b.txt/c", "", false, fs.ErrNotExist, "is a file, not a directory"},
		{"zero byte", "a\x00b", "", false, nil, "null byte"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Resolve(dir, tt.ask)
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) || tt.fails != nil && !errors.Is(err, tt.fails) {
					t.Fatalf("got %v", err)
				}
				return
			}
			want := tt.want
			if !strings.HasPrefix(want, "/") {
				want = filepath.Join(filepath.Dir(dir), want)
			}
			if err != nil || f.Path != want || (f.Info != nil) != tt.there {
				t.Fatalf("got %+v, %v; want %s", f, err, want)
			}
		})
	}
	if _, err := Resolve("relative", "x"); err == nil {
		t.Error("a directory that is not absolute leads anywhere")
	}
}

// Whatever is there, Resolve agrees with the standard library.
func TestResolve_AsEvalSymlinks(t *testing.T) {
	top := realPath(t.TempDir())
	names := []string{"a", "b", "c"}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(top, "run", strings.Repeat("x", n%50), "d")
		_ = os.RemoveAll(filepath.Join(top, "run"))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			rt.Fatal(err)
		}
		paths := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4)
		for range rapid.IntRange(0, 8).Draw(rt, "entries") {
			path := filepath.Join(dir, filepath.Join(paths.Draw(rt, "path")...))
			_ = os.MkdirAll(filepath.Dir(path), 0o755) // may meet a file or a link: then there is none
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				_ = os.WriteFile(path, nil, 0o644)
			case 1:
				_ = os.Symlink(strings.Repeat("../", rapid.IntRange(0, 2).Draw(rt, "up"))+filepath.Join(paths.Draw(rt, "target")...), path)
			case 2:
				_ = os.Symlink(filepath.Join(dir, filepath.Join(paths.Draw(rt, "target")...)), path)
			}
		}
		ask := filepath.Join(paths.Draw(rt, "ask")...)
		want, err := filepath.EvalSymlinks(filepath.Join(dir, ask))
		f, ours := Resolve(dir, ask)
		switch {
		case err == nil && (ours != nil || f.Path != want || f.Info == nil):
			rt.Fatalf("%s: got %+v, %v; want %s", ask, f, ours, want)
		case err != nil && ours == nil && f.Info != nil:
			rt.Fatalf("%s: got %+v; want %v", ask, f, err)
		}
	})
}

// No file system with several spellings is at hand, so the question is asked as one would:
// the name that was asked for answers, and the disk has another.
func TestOnDisk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".env", "README", "caf\u00e9", "other"} {
		put(t, filepath.Join(dir, name), name)
	}
	for _, tt := range []struct{ ask, have string }{
		{".env", ".env"}, {".ENV", ".env"}, {"readme", "README"}, {"cafe\u0301", "caf\u00e9"}, {"caf\u00e9", "caf\u00e9"},
	} {
		info, err := os.Lstat(filepath.Join(dir, tt.have))
		if err != nil {
			t.Fatal(err)
		}
		if got := onDisk(dir, tt.ask, info); got != tt.have {
			t.Errorf("%q is %q on the disk, got %q", tt.ask, tt.have, got)
		}
	}
	// Two names of one file on a disk that tells letters apart are two names.
	put(t, filepath.Join(dir, "x"), "")
	if err := os.Link(filepath.Join(dir, "x"), filepath.Join(dir, "X")); err != nil {
		t.Skipf("no second name here: %v", err)
	}
	for _, name := range []string{"x", "X"} {
		if f := resolved(t, dir, name); filepath.Base(f.Path) != name {
			t.Errorf("%s became %s", name, f.Path)
		}
	}
}

func TestFile_ReadAll(t *testing.T) {
	dir, _ := sandboxed(t)
	put(t, filepath.Join(dir, "empty"), "")
	put(t, filepath.Join(dir, "ten"), "0123456789")
	big, err := os.Create(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(2<<30), big.Close()); err != nil { // sparse
		t.Skipf("no large file here: %v", err)
	}
	for _, tt := range []struct {
		name  string
		limit int64
		want  string
		fails error
	}{
		{"empty", 0, "", nil},
		{"ten", 10, "0123456789", nil},
		{"ten", 9, "", ErrTooLarge},
		{"big", 1 << 20, "", ErrTooLarge},
		{"none", 10, "", fs.ErrNotExist},
		{".", 10, "", ErrNotFile},
	} {
		got, err := resolved(t, dir, tt.name).ReadAll(tt.limit)
		if string(got) != tt.want || !errors.Is(err, tt.fails) {
			t.Errorf("%s up to %d: got %q, %v", tt.name, tt.limit, got, err)
		}
	}
}

func TestFile_VanishesAndComes(t *testing.T) {
	dir, _ := sandboxed(t)
	path := filepath.Join(dir, "f")
	put(t, path, "x")
	gone := resolved(t, dir, "f")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Open(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("open: %v", err)
	}
	if err := gone.Remove(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove: %v", err)
	}
	if err := gone.Write([]byte("again")); err != nil || content(t, path) != "again" {
		t.Errorf("write: %v", err)
	}
	if data, err := gone.ReadAll(10); err != nil || string(data) != "again" {
		t.Errorf("read: %q, %v", data, err)
	}
}

func TestFile_Write(t *testing.T) {
	dir, out := sandboxed(t)
	put(t, filepath.Join(dir, "run.sh"), "old")
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(out, "shared"), "shared")
	if err := os.Link(filepath.Join(out, "shared"), filepath.Join(dir, "hard")); err != nil {
		t.Skipf("no second name here: %v", err)
	}
	for _, name := range []string{"run.sh", "hard", "new", "deep/er/file", "empty"} {
		data := []byte("new " + name)
		if name == "empty" {
			data = nil
		}
		if err := resolved(t, dir, name).Write(data); err != nil {
			t.Fatal(err)
		}
		if got := content(t, filepath.Join(dir, name)); got != string(data) {
			t.Errorf("%s has %q", name, got)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || !windows && info.Mode() != 0o751 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := content(t, filepath.Join(out, "shared")); got != "shared" {
		t.Errorf("through a second name the file outside became %q", got)
	}
	if err := resolved(t, dir, "deep").Write(nil); !errors.Is(err, ErrNotFile) || !strings.Contains(err.Error(), "a directory") {
		t.Errorf("a directory was overwritten: %v", err)
	}
	leftovers(t, dir)
}

// leftovers fails if a file that is only there while another is written was left.
func leftovers(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A reader sees the old content or the new one, never a part.
func TestFile_WriteIsWhole(t *testing.T) {
	dir, _ := sandboxed(t)
	size := 256 << 10
	texts := [2][]byte{bytes.Repeat([]byte("a"), size), bytes.Repeat([]byte("b"), size)}
	f := resolved(t, dir, "f")
	if err := f.Write(texts[0]); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		defer close(done)
		for i := range 200 {
			if err := f.Write(texts[i%2]); err != nil {
				done <- err
				return
			}
		}
	}()
	for reads := 0; ; reads++ {
		select {
		case err, failed := <-done:
			if failed {
				t.Fatal(err)
			}
			return
		default:
		}
		got, err := os.ReadFile(f.Path)
		if err != nil && !windows {
			t.Fatal(err)
		}
		if err == nil && !bytes.Equal(got, texts[0]) && !bytes.Equal(got, texts[1]) {
			t.Fatalf("read %d: a part of a file, %d bytes", reads, len(got))
		}
	}
}

func TestFile_ReadDir(t *testing.T) {
	dir, out := sandboxed(t)
	put(t, filepath.Join(dir, "d/one"), "")
	link(t, out, filepath.Join(dir, "d/two"))
	for limit, want := range map[int]int{1: 1, 2: 2, 100: 2} {
		list, err := resolved(t, dir, "d").ReadDir(limit)
		if err != nil || len(list) != want {
			t.Fatal(limit, list, err)
		}
	}
	if _, err := resolved(t, dir, "d/one").ReadDir(9); err == nil {
		t.Error("a file was listed")
	}
}

// A symlink that takes the place of a directory or of the file itself after the path was
// judged is not followed, by whatever way the path is opened.
func TestFile_ReplacedBySymlink(t *testing.T) {
	for _, where := range []string{"the file", "its directory", "a directory above"} {
		t.Run(where, func(t *testing.T) {
			dir, out := sandboxed(t)
			put(t, filepath.Join(dir, "a/b/f"), "mine")
			put(t, filepath.Join(out, "b/f"), "secret")
			put(t, filepath.Join(out, "f"), "secret")
			f := resolved(t, dir, "a/b/f")
			d := resolved(t, dir, "a/b")
			swap := map[string][2]string{
				"the file":          {"a/b/f", "f"},
				"its directory":     {"a/b", ""},
				"a directory above": {"a", ""},
			}[where]
			from := filepath.Join(dir, swap[0])
			if err := os.Rename(from, from+".away"); err != nil {
				t.Fatal(err)
			}
			link(t, filepath.Join(out, swap[1]), from)
			must := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, ErrMoved) {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := f.Open()
			must("open", err)
			_, err = walkOpen(f.Path, os.O_RDONLY)
			must("walk", err)
			must("write", f.Write([]byte("bad")))
			must("remove", f.Remove())
			if where != "the file" {
				must("write a new file", File{Path: filepath.Join(d.Path, "x/y")}.Write([]byte("bad")))
				_, err = d.ReadDir(9)
				must("list", err)
			}
			list, err := os.ReadDir(out)
			if err != nil || len(list) != 2 || content(t, filepath.Join(out, "f")) != "secret" || content(t, filepath.Join(out, "b/f")) != "secret" {
				t.Errorf("outside was touched: %v, %v", list, err)
			}
		})
	}
}

// While one changes a directory for a symlink and back as fast as it can, nothing outside is
// read, written, made or removed.
func TestFile_SwappedMeanwhile(t *testing.T) {
	for _, way := range []string{"kernel", "walk"} {
		t.Run(way, func(t *testing.T) {
			dir, out := sandboxed(t)
			put(t, filepath.Join(dir, "d/f"), "mine")
			put(t, filepath.Join(out, "f"), "secret")
			stop, stopped := make(chan bool), make(chan bool)
			link(t, out, filepath.Join(dir, "l"))
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						exchange(filepath.Join(dir, "d"), filepath.Join(dir, "l"))
					}
				}
			}()
			wrote, refused := racing(t, filepath.Join(dir, "d"), way == "walk")
			close(stop)
			<-stopped
			list, err := os.ReadDir(out)
			if err != nil || len(list) != 1 || content(t, filepath.Join(out, "f")) != "secret" {
				t.Fatalf("outside was touched: %v, %v", list, err)
			}
			if wrote == 0 || refused == 0 {
				t.Skipf("no race on this machine: %d done, %d refused", wrote, refused)
			}
		})
	}
}

// racing works below a directory that comes and goes, for as long as it takes to meet both.
func racing(t *testing.T, dir string, walk bool) (done, refused int) {
	t.Helper()
	for i := 0; i < 10000 || i < 50000 && (done == 0 || refused == 0); i++ {
		var err error
		switch i % 4 {
		case 0:
			err = File{Path: filepath.Join(dir, "f")}.Write([]byte("mine too"))
		case 1:
			err = File{Path: filepath.Join(dir, "new/deep")}.Write([]byte("mine"))
		case 2:
			err = File{Path: filepath.Join(dir, "new/deep")}.Remove()
		case 3:
			err = readMine(t, filepath.Join(dir, "f"), walk)
		}
		if err == nil {
			done++
		} else {
			refused++
		}
	}
	return done, refused
}

func readMine(t *testing.T, path string, walk bool) error {
	t.Helper()
	open := File{Path: path}.Open
	if walk {
		open = func() (*os.File, error) { return walkOpen(path, os.O_RDONLY) }
	}
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if strings.Contains(string(data), "secret") {
		t.Fatal("a file outside was read")
	}
	return err
}
