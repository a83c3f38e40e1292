package environ

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "run.exe")
	for path, mode := range map[string]os.FileMode{program: 0o700, filepath.Join(dir, "text"): 0o600} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=/elsewhere", "PATH=." + string(filepath.ListSeparator) + dir}
	for _, c := range []struct{ dir, name, want string }{
		{"", "run.exe", program},
		{dir, "./run.exe", program},
		{"/", program, program},
		{"", "./run.exe", ""},
		{dir, "missing", ""},
		{dir, "", ""},
		{filepath.Dir(dir), filepath.Base(dir), ""},
	} {
		if got := Find(env, c.dir, c.name); got != c.want {
			t.Errorf("%q in %q: got %q, want %q", c.name, c.dir, got, c.want)
		}
	}
	if got := With(env, map[string]string{"PATH": "x"}); !slices.Equal(got, []string{"PATH=x"}) {
		t.Error(got)
	}
}
