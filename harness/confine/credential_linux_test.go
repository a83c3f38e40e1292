package confine

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The lathe outside answers for the hosts of a grant, and nothing else.
func TestCredentials_Answer(t *testing.T) {
	c := credentials{log: slog.New(slog.DiscardHandler), environ: os.Environ}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("XDG_CONFIG_HOME", home)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	err := errors.Join(os.WriteFile(home+"/.gitconfig", []byte("[credential]\n\thelper = store\n"), 0o600),
		os.WriteFile(home+"/.git-credentials", []byte("https://dev:ONE@one.example\nhttps://dev:TWO@two.example\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	socket, name, err := c.grant([]string{"https://one.example"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for question, want := range map[string]string{
		name + "\nprotocol=https\nhost=one.example\n\n":                             "username=dev\npassword=ONE\n",
		name + "\nprotocol=https\nhost=two.example\n\n":                             "",
		name + "\nprotocol=http\nhost=one.example\n\n":                              "",
		name + "\nprotocol=https\nhost=one.example\nhost=two.example\n\n":           "",
		"other\nprotocol=https\nhost=one.example\n\n":                               "",
		"\nprotocol=https\nhost=one.example\n\n":                                    "",
		name + "\nprotocol=https\nhost=one.example\nurl=https://two.example/\n\n":   "username=dev\npassword=ONE\n",
		name + "\nprotocol=https\nhost=one.example\nusername=dev\npath=x/y.git\n\n": "username=dev\npassword=ONE\n",
	} {
		if got := string(c.answer(strings.NewReader(question))); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
	if info, err := os.Stat(filepath.Dir(socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others can enter: %v, %v", info, err)
	}
}
