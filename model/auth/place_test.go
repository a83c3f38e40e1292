package auth

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestFile_Repair(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are not bits there")
	}
	f, path := file(t, entries)
	for _, c := range []struct {
		mode  os.FileMode
		fixed bool
	}{{0o644, true}, {0o640, true}, {0o604, true}, {0o600, false}, {0o400, false}} {
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		fixed, err := f.FixPermissions()
		info, _ := os.Stat(path)
		if err != nil || fixed != c.fixed || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%o: %v %v %o", c.mode, fixed, err, info.Mode().Perm())
		}
	}
	none, _ := file(t, "")
	for _, f := range []*File{none, Open(Source{Content: "{}"}), Open(Source{Path: t.TempDir()})} {
		if fixed, err := f.FixPermissions(); fixed || err != nil {
			t.Error(fixed, err)
		}
	}
}

func TestFile_NotAFile(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, mostCredentials+1); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{t.TempDir(): "it is a folder", large: "it is too large"} {
		f := Open(Source{Path: path})
		if _, err := f.All(); lathe.CodeOf(err) != lathe.Invalid || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
		if err := f.Set(t.Context(), "a", Key{Key: NewSecret("k")}); lathe.CodeOf(err) != lathe.Invalid {
			t.Error(err)
		}
	}
}

func TestFile_Unknown(t *testing.T) {
	f, _ := file(t, entries)
	if got, err := f.InvalidIDs(); err != nil || !slices.Equal(got, []string{"bad1", "bad2", "bad3", "bad4", "bad5"}) {
		t.Error(got, err)
	}
}

func TestFile_Borrowed(t *testing.T) {
	_, theirs := file(t, entries)
	f, _ := file(t, `{"a":{"type":"api","key":"ours"}}`)
	if got, err := f.Borrowed(); err != nil || got != nil {
		t.Error(got, err)
	}
	f.from.Borrowed = theirs
	if got, err := f.Borrowed(); err != nil || !slices.Equal(got, []string{"b", "https://x.test"}) {
		t.Error(got, err)
	}
}
