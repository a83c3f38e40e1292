package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// The file is the one that git itself reads. HOME stands for the user's folder.
func TestUserExcludes(t *testing.T) {
	core := func(path string) string { return "[core]\n\texcludesFile = " + path + "\n" }
	type files map[string]string
	for _, c := range []struct {
		name  string
		files files
		env   string
		want  string
	}{
		{"nothing is set", nil, "", "HOME/.config/git/ignore"},
		{"another folder of settings", nil, "XDG_CONFIG_HOME=HOME/xdg", "HOME/xdg/git/ignore"},
		{"no home", nil, "HOME=", ""},
		{"of the user", files{".gitconfig": core("~/mine")}, "", "HOME/mine"},
		{"an absolute path", files{".gitconfig": core("HOME/abs")}, "", "HOME/abs"},
		{"of both", files{".gitconfig": core("~/one"), ".config/git/config": core("~/two")}, "", "HOME/one"},
		{"of the second", files{".gitconfig": "[user]\n\tname = A\n", ".config/git/config": core("~/two")}, "", "HOME/two"},
		{"included", files{".gitconfig": "[include]\n\tpath = more\n", "more": core("~/in")}, "", "HOME/in"},
		{"included in a circle", files{".gitconfig": "[include]\n\tpath = .gitconfig\n"}, "", "HOME/.config/git/ignore"},
		{"named", files{"own": core("~/named")}, "GIT_CONFIG_GLOBAL=HOME/own", "HOME/named"},
		{"of the machine", files{"system": core("~/all")}, "GIT_CONFIG_SYSTEM=HOME/system", "HOME/all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := gittest.RealTemp(t)
			real := func(text string) string { return strings.ReplaceAll(text, "HOME/", filepath.ToSlash(home)+"/") }
			for name, text := range c.files {
				path := filepath.Join(home, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, path, real(text))
			}
			env := map[string]string{"HOME": home, "GIT_CONFIG_SYSTEM": filepath.Join(home, "none")}
			if name, value, ok := strings.Cut(c.env, "="); ok {
				env[name] = real(value)
			}
			if got := UserExcludes(func(name string) string { return env[name] }); filepath.ToSlash(got) != real(c.want) {
				t.Errorf("%s, want %s", got, real(c.want))
			}
		})
	}
}
