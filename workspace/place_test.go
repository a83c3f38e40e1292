package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

func TestInside(t *testing.T) {
	root := volumeRoot(gittest.RealTemp(t))
	at := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	for _, c := range []struct {
		parent, child string
		want          bool
	}{
		{at("a"), at("a"), true},
		{at("a"), at("a/b/c"), true},
		{at("a"), at("a") + string(filepath.Separator), true},
		{at("a"), at("a/b") + "/../c", true},
		{at("a"), at("a/..b"), true},
		{at("a"), at("a/..."), true},
		{at("a"), at("ab"), false},
		{at("a/b"), at("a"), false},
		{at("a/b"), at("a/c"), false},
		{at("a"), at("a/b") + "/../../c", false},
		{at("a"), root, false},
		{root, at("a"), true},
		{at("a"), "a", false},
		{"a", at("a"), false},
		{"a", filepath.Join("a", "b"), true},
	} {
		if got := Inside(c.parent, c.child); got != c.want {
			t.Errorf("Inside(%q, %q) = %v", c.parent, c.child, got)
		}
	}
}

func TestLocate_WithoutRepository(t *testing.T) {
	dir := outside(t)
	same(t, locate(t, dir, nil), nowhere(dir))
	sub := mkdir(t, filepath.Join(dir, "a b", "ü"))
	same(t, locate(t, sub+string(filepath.Separator)+".", nil), nowhere(sub))
}

func TestLocate_RelativeDirectory(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := locate(t, ".", nil).Directory; got != wd {
		t.Errorf("directory %q, want %q", got, wd)
	}
}

func TestLocate_NoSuchDirectory(t *testing.T) {
	dir := gittest.RealTemp(t)
	file := filepath.Join(dir, "file")
	write(t, file, "x")
	for _, c := range []struct {
		name, dir string
		is        error
		says      string
	}{
		{"none", "", fs.ErrInvalid, "no path given"},
		{"missing", filepath.Join(dir, "missing"), fs.ErrNotExist, "create it"},
		{"file", file, ErrNotDirectory, "the directory that holds it"},
		{"zero byte", dir + "\x00", nil, "check its spelling"},
		{"name too long", filepath.Join(dir, strings.Repeat("x", 5000)), nil, "check its spelling"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Locate(t.Context(), c.dir, nil)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %v that says %q", err, c.is, c.says)
			}
		})
	}
}

func TestLocate_Canceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user left")
	cancel(why)
	if _, err := Locate(ctx, gittest.RealTemp(t), nil); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
}

// outside is a temporary directory that lies in no repository.
func outside(t testing.TB) string {
	t.Helper()
	dir := gittest.RealTemp(t)
	if c, ok := findCheckout(dir); ok {
		t.Skipf("the temporary directory lies in the repository %s", c.top)
	}
	return dir
}
