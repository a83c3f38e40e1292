package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Last is the word for the newest session of the project.
const Last = "last"

// leastAbbreviation is how much of an id must be given behind its prefix, so that a slip names
// nothing.
const (
	leastAbbreviation = 4
	idPrefix          = string(lathe.PrefixSession) + "_"
)

// IDArg is the ID a command was given, "last" if none. An empty one is a mistake: in a script it is
// a variable that was never set.
func IDArg(args []string) (string, error) {
	if len(args) == 0 {
		return Last, nil
	}
	if strings.TrimSpace(args[0]) == "" {
		return "", Usagef("the ID is empty; leave it out for the newest session, or say %q", Last)
	}
	return args[0], nil
}

// ProjectQuery selects the root sessions of the project of the current directory. Directories
// without a repository share one project; there it is those of the directory and below.
func (a *App) ProjectQuery(ctx context.Context, e api.Engine) (lathe.Query, error) {
	at, err := a.Location(ctx, e)
	return QueryFor(at), err
}

func QueryFor(at lathe.Location) lathe.Query {
	q := lathe.Query{Project: at.Project, Roots: true}
	if at.Project == lathe.GlobalProject {
		q.Path = at.Path
	}
	return q
}

// Find returns the session a user means: by its id, by enough of its beginning or end, or the
// newest of the project for "last".
func (a *App) Find(ctx context.Context, e api.Engine, arg string) (lathe.Session, error) {
	if arg == Last {
		return a.newest(ctx, e)
	}
	s, err := e.Get(ctx, lathe.SessionID(arg))
	if lathe.CodeOf(err) != lathe.NotFound {
		return s, err
	}
	if len(strings.TrimPrefix(arg, idPrefix)) < leastAbbreviation {
		return s, lathe.Errorf(lathe.NotFound, "Session not found: %s; give the whole id, or at least %d characters of its beginning or end", termtext.Plain(arg), leastAbbreviation)
	}
	all, err := e.List(ctx, lathe.Query{Archived: lathe.WithArchived})
	if err != nil {
		return s, err
	}
	fit := slices.DeleteFunc(all, func(s lathe.Session) bool { return !fits(string(s.ID), arg) })
	switch len(fit) {
	case 0:
		return s, lathe.Errorf(lathe.NotFound, "Session not found: %s; `lathe session list --all` shows all there are", termtext.Clip(termtext.Plain(arg), 60))
	case 1:
		return fit[0], nil
	default:
		return s, ambiguous{a, arg, fit}
	}
}

// fits reports whether arg is the beginning or the end of the id, with or without its prefix.
func fits(id, arg string) bool {
	return strings.HasPrefix(id, arg) || strings.HasSuffix(id, arg) ||
		strings.HasPrefix(strings.TrimPrefix(id, idPrefix), arg)
}

func (a *App) newest(ctx context.Context, e api.Engine) (lathe.Session, error) {
	q, err := a.ProjectQuery(ctx, e)
	if err != nil {
		return lathe.Session{}, err
	}
	q.Limit = 1
	all, err := e.List(ctx, q)
	if err != nil {
		return lathe.Session{}, err
	}
	if len(all) == 0 {
		return lathe.Session{}, lathe.Errorf(lathe.NotFound, "this project has no sessions; `lathe session list --all` shows those of others")
	}
	return all[0], nil
}

// ambiguous is an abbreviation that fits more than one session.
type ambiguous struct {
	App *App
	arg string
	fit []lathe.Session
}

// MaxCandidates is how many sessions an error lists.
const MaxCandidates = 10

func (e ambiguous) Error() string {
	return fmt.Sprintf("%s fits %d sessions; give more of the id", termtext.Quote(e.arg), len(e.fit))
}

func (e ambiguous) Unwrap() error { return lathe.Errorf(lathe.Conflict, "%s", e.Error()) }

// details lists the candidates.
func (e ambiguous) Details() (lines []string) {
	const idWidth, titleWidth = 30, 30
	for _, s := range e.fit[:min(len(e.fit), MaxCandidates)] {
		cells := []string{termtext.Pad(string(s.ID), idWidth), termtext.Pad(termtext.Clip(termtext.Plain(s.Title), titleWidth), titleWidth), layout.FormatAge(s.Updated, e.App.Now())}
		lines = append(lines, strings.Join(cells, layout.ColumnGap))
	}
	if more := len(e.fit) - MaxCandidates; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// WithDescendants returns a session and all sessions under it.
func WithDescendants(ctx context.Context, e api.Engine, s lathe.Session) ([]lathe.Session, error) {
	all := []lathe.Session{s}
	seen := map[lathe.SessionID]bool{s.ID: true}
	for i := 0; i < len(all); i++ {
		children, err := e.Children(ctx, all[i].ID)
		if err != nil {
			return nil, err
		}
		for _, c := range children {
			if !seen[c.ID] { // imported data may hold parents in a circle
				seen[c.ID] = true
				all = append(all, c)
			}
		}
	}
	return all, nil
}
