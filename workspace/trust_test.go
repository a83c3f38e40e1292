package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func granted(root, digest string) Grant {
	return Grant{Root: root, Digest: digest, Settings: []string{"lathe.json: mcp.x"}, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func grant(t *testing.T, trust *Trust, g Grant) {
	t.Helper()
	if err := trust.Grant(g); err != nil {
		t.Fatal(err)
	}
}

func TestTrust_Grant(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "trust") // is not there yet
	trust := NewTrust(dir)
	if trust.Trusts("/a", "1") {
		t.Error("nothing was granted")
	}
	grant(t, trust, granted("/a", "1"))
	grant(t, trust, granted("/b", "2"))
	for _, c := range []struct {
		root, digest string
		want         bool
	}{
		{"/a", "1", true},
		{"/b", "2", true},
		{"/a", "2", false}, // other settings
		{"/b", "1", false},
		{"/a", "", false},
		{"/a/b", "1", false}, // a folder of it is another project
		{"/", "1", false},
		{"/A", "1", false},
		{"/a/", "1", false},
		{"", "", false},
	} {
		// Another process sees the same.
		for _, x := range []*Trust{trust, NewTrust(dir)} {
			if got := x.Trusts(c.root, c.digest); got != c.want {
				t.Errorf("Trusts(%q, %q) = %v", c.root, c.digest, got)
			}
		}
	}
	// A folder of the project with settings of its own has its own decision; both count until
	// they are undone, together.
	grant(t, trust, granted("/a", "3"))
	if !trust.Trusts("/a", "1") || !trust.Trusts("/a", "3") {
		t.Error("one decision took the place of the other")
	}
	if had, err := trust.Revoke("/a"); !had || err != nil || trust.Trusts("/a", "1") || trust.Trusts("/a", "3") {
		t.Errorf("Revoke = %v, %v, and one still counts", had, err)
	}
}

// A decision about no settings would be one about all that come to have none.
func TestTrust_EmptyDigest(t *testing.T) {
	trust := NewTrust(t.TempDir())
	grant(t, trust, granted("/a", ""))
	if trust.Trusts("/a", "") {
		t.Error("an empty digest is trusted")
	}
}

func TestTrust_Revoke(t *testing.T) {
	trust := NewTrust(t.TempDir())
	grant(t, trust, granted("/a", "1"))
	grant(t, trust, granted("/b", "1"))
	for _, want := range []bool{true, false} {
		if had, err := trust.Revoke("/a"); had != want || err != nil {
			t.Errorf("Revoke = %v, %v; want %v", had, err, want)
		}
	}
	if trust.Trusts("/a", "1") || !trust.Trusts("/b", "1") {
		t.Error("the wrong decision is gone")
	}
	if had, err := NewTrust(filepath.Join(t.TempDir(), "none")).Revoke("/a"); had || err != nil {
		t.Errorf("without a folder: %v, %v", had, err)
	}
}

func TestTrust_List(t *testing.T) {
	dir := t.TempDir()
	trust := NewTrust(dir)
	if got, err := NewTrust(filepath.Join(dir, "none")).List(); got != nil || err != nil {
		t.Errorf("without a folder: %v, %v", got, err)
	}
	want := []Grant{granted("/a", "2"), granted("/b ü", "1"), granted("/c\n", "3")}
	for _, i := range []int{2, 0, 1} {
		grant(t, trust, want[i])
	}
	write(t, filepath.Join(dir, ".new-123"), "left by a crash")
	write(t, filepath.Join(dir, "broken.json"), "{")
	mkdir(t, filepath.Join(dir, "folder.json"))
	if got, err := trust.List(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	file := filepath.Join(dir, "file")
	write(t, file, "")
	if _, err := NewTrust(file).List(); err == nil {
		t.Error("a file for a folder is listed")
	}
	if err := NewTrust(file).Grant(granted("/a", "1")); err == nil {
		t.Error("a file for a folder takes a decision")
	}
}

// What is damaged, or says something else than its name, trusts nothing; granting again repairs
// it.
func TestTrust_Damaged(t *testing.T) {
	dir := t.TempDir()
	trust := NewTrust(dir)
	grant(t, trust, granted("/a", "1"))
	sound, err := os.ReadFile(trust.path("/a", "1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "{", "null", "[]", `"/a"`, "{}", `{"root":"/a"}`, `{"digest":"1"}`, `{"root":"/b","digest":"1"}`,
		`{"root":["/a"],"digest":"1"}`, "\xff\xfe", string(sound[:len(sound)/2]), strings.Repeat("[", 100_000),
	} {
		write(t, trust.path("/a", "1"), text)
		if trust.Trusts("/a", "1") {
			t.Errorf("%.40q is trusted", text)
		}
		if _, err := trust.List(); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	// A decision copied to another project's name is still about its own.
	write(t, trust.path("/b", "1"), string(sound))
	if trust.Trusts("/b", "1") {
		t.Error("a copied decision counts")
	}
	grant(t, trust, granted("/a", "1"))
	if !trust.Trusts("/a", "1") {
		t.Error("granting anew did not repair it")
	}
}

// Decisions made at the same time, about one project and about many, are all whole.
func TestTrust_Concurrent(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	const projects, times = 8, 20
	for p := range projects {
		for range 2 {
			wg.Go(func() {
				trust := NewTrust(dir)
				for i := range times {
					for _, root := range []string{fmt.Sprintf("/own/%d", p), "/shared"} {
						if err := trust.Grant(granted(root, fmt.Sprint(i))); err != nil {
							t.Error(err)
						}
						if _, err := trust.List(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
	}
	wg.Wait()
	got, err := NewTrust(dir).List()
	if err != nil || len(got) != (projects+1)*times {
		t.Fatalf("%d decisions, %v", len(got), err)
	}
	for _, g := range got {
		if !NewTrust(dir).Trusts(g.Root, g.Digest) {
			t.Errorf("%+v does not count", g)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != (projects+1)*times {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

// No other process reads or changes what a user trusts.
func TestTrust_Permissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	dir := filepath.Join(t.TempDir(), "a", "trust")
	trust := NewTrust(dir)
	for range 2 { // made, then replaced
		grant(t, trust, granted("/a", "1"))
		for path, want := range map[string]os.FileMode{trust.path("/a", "1"): 0o600, dir: 0o700, filepath.Dir(dir): 0o700} {
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
			}
		}
	}
	if os.Geteuid() == 0 {
		return // root reads everything
	}
	chmod(t, trust.path("/a", "1"), 0)
	if trust.Trusts("/a", "1") {
		t.Error("what cannot be read is trusted")
	}
}
