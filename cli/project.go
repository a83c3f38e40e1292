package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// FindProject finds a project by ID, directory or name. A directory outside a repository selects the sessions in and
// below it.
func FindProject(ctx context.Context, a *App, e *engine.Engine, name string) (q lathe.Query, err error) {
	all, err := e.Projects(ctx)
	if err != nil {
		return q, err
	}
	var fit []lathe.Project
	for _, p := range all {
		switch {
		case p.ID == name:
			return lathe.Query{Project: p.ID}, nil
		case p.ID != lathe.GlobalProject && (strings.EqualFold(filepath.Base(p.Worktree), name) || strings.EqualFold(p.Name, name)):
			fit = append(fit, p)
		}
	}
	switch {
	case len(fit) == 1:
		return lathe.Query{Project: fit[0].ID}, nil
	case len(fit) > 1:
		return q, ambiguousProject{name, fit}
	}
	if path := relativeTo(a, name); harness.FileExists(path) {
		at, err := e.Location(ctx, path)
		return QueryFor(at), err
	}
	return q, lathe.Errorf(lathe.NotFound, "project not found: %s; `lathe stats --all --by project` lists them", termtext.Quote(name))
}

// relativeTo returns a path relative to the directory of the command.
func relativeTo(a *App, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}

// ambiguousProject is the error for a name that several projects have.
type ambiguousProject struct {
	name string
	fit  []lathe.Project
}

func (e ambiguousProject) Error() string {
	return termtext.Quote(e.name) + " is ambiguous: it is the name of " + termtext.Plural(len(e.fit), "project") + "; give the directory"
}

func (e ambiguousProject) Unwrap() error { return lathe.Errorf(lathe.Conflict, "%s", e.Error()) }

func (e ambiguousProject) Details() (lines []string) {
	for _, p := range e.fit[:min(len(e.fit), MaxCandidates)] {
		lines = append(lines, termtext.Plain(p.Worktree))
	}
	return lines
}
