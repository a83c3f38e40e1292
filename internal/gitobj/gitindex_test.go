package gitobj

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// Git lists its index in every version as we read it.
func TestIndex_AgreesWithGit(t *testing.T) {
	git := newGit(t)
	for _, version := range []string{"2", "3", "4"} {
		t.Run("version "+version, func(t *testing.T) {
			dir := gittest.RealTemp(t)
			git.Run(dir, "init", "-q", "-b", "main", ".")
			for i, name := range []string{"a", "a-b", "a/b/c", "a/b/cd", "ünï", strings.Repeat("long", 40), "z/.x", "run"} {
				path := filepath.Join(dir, name)
				if name == "a" {
					continue // a folder has its name
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, fmt.Appendf(nil, "%d", i), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(filepath.Join(dir, "run"), 0o755); err != nil {
				t.Fatal(err)
			}
			git.Run(dir, "add", "-A")
			git.Run(dir, "commit", "-q", "-m", "x")
			if err := os.WriteFile(filepath.Join(dir, "intended"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if version != "2" {
				git.Run(dir, "add", "-N", "intended")
				git.Run(dir, "update-index", "--skip-worktree", "a-b")
			}
			git.Run(dir, "update-index", "--index-version", version)
			r := open(t, filepath.Join(dir, ".git"), filepath.Join(dir, ".git"))
			list, err := r.Index()
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, e := range list {
				fmt.Fprintf(&got, "%06o %s 0\t%s\x00", e.Mode, e.ID, e.Path)
				info, err := os.Lstat(filepath.Join(dir, e.Path))
				if err != nil || !e.IntentToAdd && (e.Size != uint32(info.Size()) || e.MtimeSec != uint32(info.ModTime().Unix()) || e.MtimeNano != uint32(info.ModTime().Nanosecond())) {
					t.Errorf("%+v does not describe its file: %v", e, err)
				}
				if e.Skip != (e.Path == "a-b" && version != "2") || e.IntentToAdd != (e.Path == "intended") {
					t.Errorf("flags of %+v", e)
				}
				if !e.IntentToAdd && !r.Has(e.ID) {
					t.Errorf("%s is not in the repository", e.Path)
				}
			}
			if want := git.Run(dir, "ls-files", "-s", "-z"); got.String() != want {
				t.Errorf("\ngot  %q\nwant %q", got.String(), want)
			}
		})
	}
}

func TestIndex_Unmerged(t *testing.T) {
	git := newGit(t)
	dir := gittest.RealTemp(t)
	git.Run(dir, "init", "-q", "-b", "main", ".")
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		git.Run(dir, "add", "-A")
		git.Run(dir, "commit", "-q", "--allow-empty", "-m", text)
	}
	write("base")
	git.Run(dir, "checkout", "-q", "-b", "other")
	write("theirs")
	git.Run(dir, "checkout", "-q", "main")
	write("ours")
	if _, err := git.Try(dir, "merge", "-q", "other"); err == nil {
		t.Fatal("the merge has no conflict")
	}
	r := open(t, filepath.Join(dir, ".git"), filepath.Join(dir, ".git"))
	list, err := r.Index()
	if err != nil || len(list) != 1 || !list[0].Unmerged {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestIndex_Missing(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	r := open(t, dir, dir)
	if list, err := r.Index(); err != nil || list != nil {
		t.Errorf("got %v, %v", list, err)
	}
	if r.Has(SHA1ID([20]byte{1})) || r.Has(ID{}) {
		t.Error("an empty repository has objects")
	}
}

// A hostile index names no place outside of the work tree and takes no more memory than it is long.
func FuzzStaged(f *testing.F) {
	entry := func(path string) []byte {
		b := make([]byte, 60)
		b[27] = 1
		b = append(b, 0, byte(len(path)))
		b = append(b, path...)
		return append(b, make([]byte, 8-len(b)%8)...)
	}
	file := func(version byte, entries ...[]byte) []byte {
		head := []byte{'D', 'I', 'R', 'C', 0, 0, 0, version, 0, 0, 0, byte(len(entries))}
		return append(append(head, bytes.Join(entries, nil)...), make([]byte, 20)...)
	}
	f.Add(file(2, entry("a"), entry("b/c")))
	f.Add(file(2, entry("../x")))
	f.Add(file(3, entry("a/.git/config")))
	f.Add(file(4, entry("abc"), entry("")))
	f.Add([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseStaged(data, sha1Size)
		if err != nil {
			return
		}
		last := ""
		for _, e := range list {
			if !filepath.IsLocal(filepath.FromSlash(strings.TrimSuffix(e.Path, "/"))) || e.Path <= last {
				t.Fatalf("path %q after %q", e.Path, last)
			}
			last = e.Path
		}
	})
}

func TestParseStaged_Refuses(t *testing.T) {
	for name, data := range map[string]string{
		"too many":        "DIRC\x00\x00\x00\x02\xff\xff\xff\xff" + strings.Repeat("x", 40),
		"version":         "DIRC\x00\x00\x00\x09\x00\x00\x00\x00" + strings.Repeat("x", 20),
		"no head":         strings.Repeat("x", 60),
		"breaks off":      "DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("x", 70),
		"split":           "DIRC\x00\x00\x00\x02\x00\x00\x00\x00link\x00\x00\x00\x00" + strings.Repeat("x", 20),
		"short extension": "DIRC\x00\x00\x00\x02\x00\x00\x00\x00TREE\x00\x00\xff\x00" + strings.Repeat("x", 20),
	} {
		if list, err := parseStaged([]byte(data), sha1Size); err == nil {
			t.Errorf("%s: read %+v", name, list)
		}
	}
}

func TestConverts(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "* text=auto\n": false, "*.png binary\n": false, "*.go diff=golang\n": false,
		"*.bin filter=lfs diff=lfs\n": true, "*.bat eol=crlf\n": true, "*.c ident\n": true, "*.x working-tree-encoding=UTF-16\n": true,
	} {
		if got := converts([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
