package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gittest"
)

// kindAt is what is at a path; other where nothing is.
func kindAt(path string) kind {
	info, err := os.Lstat(path)
	if err != nil {
		return other
	}
	return kindOf(info.Mode())
}

// volumes runs a test with each way to reach files.
func volumes(t *testing.T, test func(t *testing.T, open func(dir string) (volume, error))) {
	for name, open := range map[string]func(string) (volume, error){"rooted": openRooted, runtime.GOOS: openVolume} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func mustLink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
}

func TestVolume_StaysInside(t *testing.T) {
	volumes(t, func(t *testing.T, open func(string) (volume, error)) {
		top := gittest.RealTemp(t)
		root := filepath.Join(top, "root")
		write(t, top, "out/secret", "secret")
		write(t, root, "dir/file", "text")
		mustLink(t, "../out", filepath.Join(root, "linked"))
		mustLink(t, "../../out/secret", filepath.Join(root, "dir", "link"))
		v, err := open(root)
		if err != nil {
			t.Fatal(err)
		}
		defer v.close()
		for _, dir := range []string{"linked", "dir/../../out", ".."} {
			in, err := v.folder(dir)
			if err != nil {
				continue
			}
			if f, err := in.open("secret"); err == nil {
				f.Close()
				t.Errorf("%s leads out", dir)
			}
			in.close()
		}
		in, err := v.folder("dir")
		if err != nil {
			t.Fatal(err)
		}
		defer in.close()
		if f, err := in.open("link"); err == nil {
			f.Close()
			t.Error("the link was followed")
		}
		list, err := in.entries(nil)
		slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.name, b.name) })
		if diff := cmp.Diff([]entry{{"file", file}, {"link", other}}, list, cmp.AllowUnexported(entry{})); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
	})
}

// A directory that becomes a symlink between its listing and its visit is not followed.
func TestVolume_SwappedDirectory(t *testing.T) {
	top := gittest.RealTemp(t)
	root := filepath.Join(top, "root")
	write(t, top, "out/secret", "secret")
	write(t, root, "dir/secret", "harmless")
	v, err := openVolume(root)
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	if err := os.Rename(filepath.Join(root, "dir"), filepath.Join(root, "old")); err != nil {
		t.Fatal(err)
	}
	mustLink(t, "../out", filepath.Join(root, "dir"))
	in, err := v.folder("dir")
	if err == nil {
		defer in.close()
		if f, err := in.open("secret"); err == nil {
			f.Close()
			t.Fatal("it was followed out of the root")
		}
	}
}

func TestGlob_Special(t *testing.T) {
	root := gittest.RealTemp(t)
	write(t, root, "a.txt", "")
	write(t, root, "sub/b.txt", "")
	mustLink(t, "..", filepath.Join(root, "sub", "loop"))
	mustLink(t, "a.txt", filepath.Join(root, "c.txt"))
	mustLink(t, "/", filepath.Join(root, "sub", "top"))
	if got := globPaths(t, Query{Root: root}, "**"); !slices.Equal(got, []string{"a.txt", "sub/b.txt"}) {
		t.Fatal(got)
	}
}

func TestGlob_NamesThatAreNoUTF8(t *testing.T) {
	root := gittest.RealTemp(t)
	name := "a\xff\xfe.txt"
	if err := os.WriteFile(filepath.Join(root, name), []byte("needle\n"), 0o644); err != nil {
		t.Skipf("no such names here: %v", err)
	}
	for _, glob := range []string{"*.txt", "a*", "a??.txt", "**/a*.txt"} {
		if got := globPaths(t, Query{Root: root}, glob); !slices.Equal(got, []string{name}) {
			t.Errorf("%s: %q", glob, got)
		}
	}
	if got := grepped(t, Query{Root: root}, mustRegexp(t, "needle", false), nil); !slices.Equal(got, []string{name + ":1:needle"}) {
		t.Fatalf("%q", got)
	}
}

func TestGlob_HiddenWhereThePatternSaysSo(t *testing.T) {
	root := gittest.RealTemp(t)
	for _, name := range []string{".github/workflows/ci.yml", ".env", "src/.env", "a.yml", ".git/config", "sub/.git"} {
		write(t, root, name, "")
	}
	tests := map[string]string{
		"**":              "a.yml",
		"**/*.yml":        "a.yml",
		".github/**":      ".github/workflows/ci.yml",
		"**/.env":         ".env src/.env",
		"{.env,a.yml}":    ".env a.yml src/.env",
		"*{.yml,.env}":    "a.yml",
		".git/**":         "",
		"./a.yml":         "a.yml",
		"**/.git":         "",
		"../**":           "",
		"src/{.e,}*":      "src/.env",
		".github/**/c?.*": ".github/workflows/ci.yml",
	}
	for glob, want := range tests {
		if got := strings.Join(globPaths(t, Query{Root: root}, glob), " "); got != want {
			t.Errorf("%s: %q; want %q", glob, got, want)
		}
	}
}

func TestGlob_LimitAndCounts(t *testing.T) {
	root := gittest.RealTemp(t)
	for i := range 30 {
		write(t, root, fmt.Sprintf("src/%s/f%02d.go", []string{"a", "b", "b"}[i%3], i), "")
	}
	write(t, root, "src/top.go", "")
	found, err := Glob(t.Context(), Query{Root: root, Limit: 3}, mustPattern(t, "src/**/*.go"))
	want := Files{
		Paths: []string{"src/a/f00.go", "src/a/f03.go", "src/a/f06.go"}, Total: 31,
		Dirs: []DirCount{{"src/b", 20}, {"src/a", 10}, {"src", 1}},
	}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
}

func TestGrep_LimitKeepsTheFirst(t *testing.T) {
	root := gittest.RealTemp(t)
	for i := range 500 {
		write(t, root, fmt.Sprintf("d%02d/f%03d", i%50, i), strings.Repeat("hit\nmiss\n", 3))
	}
	re := mustRegexp(t, "hit", false)
	all, err := Grep(t.Context(), Query{Root: root}, re, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Grep(t.Context(), Query{Root: root, Limit: 10, Workers: 8}, re, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found.Total != 1500 || found.TotalFiles != 500 || len(found.Files) != 4+moreFiles {
		t.Fatalf("%d matches in %d files, %d returned", found.Total, found.TotalFiles, len(found.Files))
	}
	for i, f := range found.Files {
		want := all.Files[i]
		want.Lines = want.Lines[:[]int{3, 3, 3, 1, 0}[min(i, 4)]]
		if len(want.Lines) == 0 {
			want.Lines = nil
		}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Fatal(i, diff)
		}
	}
}

func TestGrep_UnreadableIsCounted(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("nothing is unreadable for this user")
	}
	root := gittest.RealTemp(t)
	write(t, root, "closed/a", "needle")
	write(t, root, "b", "needle")
	write(t, root, "c", "needle")
	for _, name := range []string{"closed", "b"} {
		if err := os.Chmod(filepath.Join(root, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "closed"), 0o755) })
	found, err := Grep(t.Context(), Query{Root: root}, mustRegexp(t, "needle", false), nil)
	if err != nil || found.Total != 1 || found.Unreadable != 2 {
		t.Fatalf("%+v %v", found, err)
	}
}

// Files come and go while the tree is searched; those that stay are found all the same.
func TestGrep_VanishingFiles(t *testing.T) {
	root := gittest.RealTemp(t)
	for i := range 200 {
		write(t, root, fmt.Sprintf("stay/d%d/f%d", i%20, i), "needle\n")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			dir := filepath.Join(root, "gone", fmt.Sprint(i%7))
			_ = os.MkdirAll(dir, 0o755)
			_ = os.WriteFile(filepath.Join(dir, "f"), []byte("needle\n"), 0o644)
			_ = os.RemoveAll(dir)
		}
	})
	for range 50 {
		found, err := Grep(t.Context(), Query{Root: root}, mustRegexp(t, "needle", false), nil)
		if err != nil {
			t.Fatal(err)
		}
		stay := 0
		for _, f := range found.Files {
			if strings.HasPrefix(f.Path, "stay/") {
				stay++
			}
		}
		if stay != 200 {
			t.Fatalf("%d files", stay)
		}
	}
}

func TestSearch_Roots(t *testing.T) {
	root := gittest.RealTemp(t)
	write(t, root, "file", "")
	mustLink(t, root, filepath.Join(root, "link"))
	all := mustPattern(t, "**")
	for dir, want := range map[string]lathe.Code{
		"relative": lathe.Invalid, filepath.Join(root, "none"): lathe.NotFound, filepath.Join(root, "file"): lathe.Unavailable,
	} {
		_, err := Glob(t.Context(), Query{Root: dir}, all)
		if lathe.CodeOf(err) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if runtime.GOOS == "linux" {
		for _, dir := range []string{"/proc/self", "/dev", "/sys"} {
			if _, err := Glob(t.Context(), Query{Root: dir}, all); lathe.CodeOf(err) != lathe.Invalid {
				t.Errorf("%s: %v", dir, err)
			}
		}
		if _, err := Glob(t.Context(), Query{Root: filepath.Join(root, "link")}, all); !errors.Is(err, syscall.ELOOP) {
			t.Errorf("a symlink as the root: %v", err)
		}
	}
}

// slow is a visitor that waits until it may continue.
type slow struct{ started, release chan struct{} }

func (s slow) visit(folder, string, string) {
	select {
	case s.started <- struct{}{}:
	default:
	}
	<-s.release
}

func TestWalk_CancelStopsWorkers(t *testing.T) {
	root := gittest.RealTemp(t)
	for i := range 300 {
		write(t, root, fmt.Sprintf("%d/f", i), "")
	}
	w, err := newWalk(root)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	s := slow{started: make(chan struct{}, 1), release: make(chan struct{})}
	reason := errors.New("enough")
	go func() {
		<-s.started
		cancel(reason)
		for !w.stop.Load() {
			runtime.Gosched()
		}
		close(s.release)
	}()
	if err := w.run(ctx, 4, func() visitor { return s }); !errors.Is(err, reason) {
		t.Fatal(err)
	}
	if len(w.tasks) == 0 {
		t.Fatal("all was visited in spite of the cancellation")
	}
}

func TestGrep_CancelInALargeFile(t *testing.T) {
	root := gittest.RealTemp(t)
	f, err := os.Create(filepath.Join(root, "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err = f.WriteString(strings.Repeat("text\n", sniffed)); err == nil {
		err = f.Truncate(1 << 40)
	}
	if err != nil {
		t.Skipf("no such files here: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = Grep(ctx, Query{Root: root}, mustRegexp(t, "a.*b", false), nil)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 20*time.Second {
		t.Fatalf("%v after %s", err, time.Since(began))
	}
}

// panics is a visitor with a mistake.
type panics struct{}

func (panics) visit(folder, string, string) { panic("boom") }

func TestWalk_PanicIsAnError(t *testing.T) {
	root := gittest.RealTemp(t)
	write(t, root, "a", "")
	w, err := newWalk(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.run(t.Context(), 2, func() visitor { return panics{} }); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Fatal(err)
	}
}

// endless is 2 GB of one text over and over, and a last line.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	const size = 2 << 30
	switch {
	case e.read < size:
		n := 0
		for n < len(p) {
			n += copy(p[n:], e.text[(e.read+n)%len(e.text):])
		}
		e.read += n
		return n, nil
	case e.read == size*2:
		return 0, io.EOF
	}
	e.read = size * 2
	return copy(p, "\nneedle\n"), nil
}

// 2 GB take no more memory than a small file, whether in one line or in many.
func TestGrepReader_HugeTextsInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 4 GB")
	}
	for _, text := range []string{strings.Repeat("x", 8000), strings.Repeat("a line of text\n", 1000)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found, err := GrepReader(t.Context(), Query{Limit: 100}, mustRegexp(t, "^needle$", false), "f", &endless{text: text})
		runtime.ReadMemStats(&after)
		if err != nil || found.Total != 1 || found.Files[0].Lines[0].Text != "needle" {
			t.Fatalf("%+v %v", found, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 5<<20 {
			t.Errorf("%d MB were allocated", used>>20)
		}
	}
}

func TestComparePaths(t *testing.T) {
	paths := []string{"a", "a/b", "a/b/c", "a-b", "a.go", "b"}
	shuffled := []string{"b", "a.go", "a/b/c", "a", "a-b", "a/b"}
	slices.SortFunc(shuffled, comparePaths)
	if !slices.Equal(paths, shuffled) {
		t.Fatal(shuffled)
	}
}
