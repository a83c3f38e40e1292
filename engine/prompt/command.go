package prompt

import (
	_ "embed"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

//go:embed init.md
var initTemplate string

//go:embed review.md
var reviewTemplate string

// Commands are the built-in slash commands.
func Commands() []lathe.Command {
	out := []lathe.Command{
		{Name: "init", Description: "Write or improve AGENTS.md", Template: strings.TrimSpace(initTemplate)},
		{Name: "review", Description: "Review changes: what is not committed, a commit, a branch, a pull request", Template: strings.TrimSpace(reviewTemplate), Agent: "general", Subtask: lathe.Yes},
	}
	for i := range out {
		out[i].Source, out[i].Hints = lathe.CommandOwn, Hints(out[i].Template)
	}
	return out
}

// SkillTemplate is a skill as the template of a command: its text, and where its files are. It
// has no places for arguments; they stand below it.
func SkillTemplate(s lathe.Skill) string {
	text := strings.TrimSpace(s.Content)
	if filepath.IsAbs(s.Location) {
		text += "\n\nBase directory of this skill: " + filepath.Dir(s.Location) + " (paths in it are relative to that)"
	}
	return text
}

// Referrer resolves the names after an @ in a slash command.
type Referrer struct {
	Place     workspace.Place
	Home      string                   // for names that begin with ~/
	Arguments string                   // as the user typed them: files that they name may be anywhere
	External  bool                     // the template may name files outside of the project
	Agent     func(name string) string // the agent of that name; "" if there is none
}

// Resolve returns what a name means: a file or directory of the project, else an agent, else nil. A name that
// means nothing may end in the bracket or the mark of its sentence.
func (r Referrer) Resolve(name string) lathe.Body {
	if body := r.find(name); body != nil {
		return body
	}
	if bare := strings.TrimRight(name, ")]}>\"':;!?"); bare != name && bare != "" {
		return r.find(bare)
	}
	return nil
}

func (r Referrer) find(name string) lathe.Body {
	path := filepath.FromSlash(name)
	base := r.Place.Worktree
	if r.Place.VCS == "" { // the root of the disk is not a project
		base = r.Place.Directory
	}
	switch {
	case strings.HasPrefix(name, "~/"):
		path = filepath.Join(r.Home, path[2:])
	case !filepath.IsAbs(path):
		path = filepath.Join(base, path)
	}
	if info, err := os.Stat(path); err == nil && r.mayName(name, path) {
		mime := "text/plain"
		if info.IsDir() {
			mime = "application/x-directory"
		}
		return &lathe.File{Mime: mime, Filename: name, URL: fileURL(path)}
	}
	if agent := r.Agent(name); agent != "" {
		return &lathe.AgentMention{Name: agent}
	}
	return nil
}

// mayName reports whether a file may be named here: by the user anywhere, by a template of an
// untrusted project only in it.
func (r Referrer) mayName(name, path string) bool {
	if r.External || slices.Contains(References(r.Arguments), name) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, dir := range []string{r.Place.Directory, r.Place.Sandbox} {
		if dir, err := filepath.EvalSymlinks(dir); err == nil && filepath.Dir(dir) != dir && workspace.Inside(dir, real) {
			return true
		}
	}
	return false
}

// fileURL names a file on this machine, with whatever is in its name escaped.
func fileURL(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") { // a drive
		p = "/" + p
	}
	u := url.URL{Scheme: "file", Path: p}
	return u.String()
}

// FilePath is the path of a file URL.
func FilePath(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	return filepath.Clean(pathOf(u)), true
}
