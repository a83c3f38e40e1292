package bash

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace/secret"
)

// refusedLogin is how programs say that they have no credentials.
var refusedLogin = phrase.Regexp(`(?i)auth|credential|token|log ?in|password|username|publickey|denied|forbidden|unauthorized|\b40[13]\b|api.?key|no such file|not found|expired`)

// failsOften are programs that fail for many reasons beside their credentials: of these the output
// must speak of them.
var failsOften = []string{
	"git", "npm", "pnpm", "yarn", "bun", "pip", "uv", "poetry", "twine", "cargo", "mvn", "gradle", "sbt", "bundle", "gem", "dotnet", "composer", "conda", "mix", "dart",
	"docker", "podman", "helm", "terraform", "tofu", "ansible", "ssh", "scp", "sftp", "rsync",
}

// hiddenCredentials names the setting that opens what a program wanted that failed in the sandbox.
func (b *bash) hiddenCredentials(p sandbox.Profile, line Line, res sandbox.Result, text string) (out []string) {
	if !p.Confined() || res.Exit == 0 || res.Canceled || len(p.Hide) == 0 {
		return nil
	}
	places := secret.Find(b.home, func(name string) string { return environ.Variable(b.Env, name) })
	for _, c := range line.Commands {
		word, _, _ := strings.Cut(c.Text, " ")
		program := filepath.Base(word)
		for _, tool := range credentialsOf(program) {
			i := slices.IndexFunc(places, func(s secret.Location) bool { return s.Tool == tool && slices.Contains(p.Hide, s.Path) })
			if i < 0 || slices.Contains(failsOften, program) && !refusedLogin().MatchString(text) {
				continue
			}
			note := fmt.Sprintf("In the sandbox %s cannot read %s (%s). If the user wants that, they add %q to sandbox.credentials in their own config: "+
				"it counts for lines that run nothing but %s.", program, places[i].Path, places[i].Reason, tool, program)
			if !slices.Contains(out, note) {
				out = append(out, note)
			}
		}
	}
	return out
}

// credentialsOf are the names in sandbox.credentials that are for a program.
func credentialsOf(program string) []string {
	switch program {
	case "git":
		return []string{"git", "ssh"}
	case "scp", "sftp", "rsync":
		return []string{"ssh"}
	}
	return []string{program}
}
