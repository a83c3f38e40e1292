//go:build unix

package search

import (
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

func mustPipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
}

// A pipe without a writer would block its reader, be it found in the tree, in the place of an
// ignore file, or in the place of a file since the directory was listed.
func TestSearch_Pipes(t *testing.T) {
	root := gittest.RealTemp(t)
	write(t, root, ".git/HEAD", "")
	write(t, root, "sub/a", "needle\n")
	write(t, root, ".git/info/x", "")
	for _, name := range []string{"pipe", ".gitignore", ".ignore", "sub/.rgignore", ".git/info/exclude"} {
		mustPipe(t, filepath.Join(root, name))
	}
	for _, dir := range []string{root, filepath.Join(root, "sub")} { // below it, and above it
		found, err := Grep(t.Context(), Query{Root: dir, Hidden: true}, mustRegexp(t, "needle", false), nil)
		if err != nil || found.Total != 1 || found.Unreadable != 0 {
			t.Fatalf("%s: %+v %v", dir, found, err)
		}
	}
	if got := globPaths(t, Query{Root: root}, "**"); !slices.Equal(got, []string{"sub/a"}) {
		t.Fatal(got)
	}
	volumes(t, func(t *testing.T, open func(string) (volume, error)) {
		v, err := open(root)
		if err != nil {
			t.Fatal(err)
		}
		defer v.close()
		in, err := v.folder("")
		if err != nil {
			t.Fatal(err)
		}
		defer in.close()
		if _, err := in.open("pipe"); !errors.Is(err, errNotRegular) {
			t.Fatal(err)
		}
	})
}
