package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace/git"
	term "github.com/lathe-agent/lathe/workspace/terminal"
)

// withFiles adds the routes for files, git and terminals on this machine. The caller closes the terminals.
func (b *backend) withFiles(to server.Backend) server.Backend {
	env := b.app.Environ()
	shell := ""
	if l, err := b.app.Config(); err == nil { // a route that needs the config reports the error
		shell = l.Config.Shell
	}
	to.Folders, to.Git = b.folders(), b.git()
	to.Terminals = term.Open(term.Options{
		Runner: b.setup.Runner, Env: withoutPassword(env), Shell: shell, IDs: lathe.NewIDs(),
		Publish: func(events ...lathe.Event) { b.Publish(events...) }, // b.Publish would need the engine now
		Confine: b.setup.confineTerminal,
	})
	return to
}

func (b *backend) folders() server.Folders {
	home, _ := os.UserHomeDir() // "" without a home folder
	return server.Folders{Home: home, State: b.at.State, Config: filepath.Join(b.app.UserDir(), "lathe"), Excludes: b.app.UserExcludes}
}

func (b *backend) git() *git.Git {
	program, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(program) {
		program = "" // calls that need git report it
	}
	return git.New(git.Options{Program: program, Env: b.app.Environ()})
}

// withoutPassword returns an environment for other programs. It lacks the passwords of this server and of its database.
func withoutPassword(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasSuffix(name, "_SERVER_PASSWORD") || bash.IsClusterSecret(name)
	})
}
