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

// Last stands for the most recent session of the project that has messages, in place of an ID.
const Last = "last"

// minAbbreviation is how many characters of an ID are needed after its prefix, so that a typo matches nothing.
const (
	minAbbreviation = 4
	idPrefix        = string(lathe.PrefixSession) + "_"
)

// IDArg returns the ID argument, or "last" if there is none. An empty ID is an error: in a script it is an unset
// variable.
func IDArg(args []string) (string, error) {
	if len(args) == 0 {
		return Last, nil
	}
	if strings.TrimSpace(args[0]) == "" {
		return "", Usagef("the ID is empty; leave it out for the latest session, or use %q", Last)
	}
	return args[0], nil
}

// ProjectQuery selects the root sessions of the current project. Directories without a repository share one project,
// so there it selects the sessions in and below the directory.
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

// Find returns a session by its ID, by the beginning or end of the ID, or the most recent one of the project for
// "last".
func (a *App) Find(ctx context.Context, e api.Engine, arg string) (lathe.Session, error) {
	if arg == Last {
		return a.newest(ctx, e)
	}
	s, err := e.Get(ctx, lathe.SessionID(arg))
	if lathe.CodeOf(err) != lathe.NotFound {
		return s, err
	}
	if len(strings.TrimPrefix(arg, idPrefix)) < minAbbreviation {
		return s, lathe.Errorf(lathe.NotFound, "Session not found: %s; give the full ID, or at least the first or last %d characters", termtext.Plain(arg), minAbbreviation)
	}
	all, err := e.List(ctx, lathe.Query{Archived: lathe.WithArchived})
	if err != nil {
		return s, err
	}
	fit := slices.DeleteFunc(all, func(s lathe.Session) bool { return !fits(string(s.ID), arg) })
	switch len(fit) {
	case 0:
		return s, lathe.Errorf(lathe.NotFound, "Session not found: %s; `lathe session list --all` lists all sessions", termtext.Clip(termtext.Plain(arg), 60))
	case 1:
		return fit[0], nil
	default:
		return s, ambiguous{a, arg, fit}
	}
}

// fits reports whether arg is the beginning or the end of the ID, with or without the prefix.
func fits(id, arg string) bool {
	return strings.HasPrefix(id, arg) || strings.HasSuffix(id, arg) ||
		strings.HasPrefix(strings.TrimPrefix(id, idPrefix), arg)
}

// newest returns the most recently changed session of the project that has messages: editors and servers create sessions
// before anything is said in them. If none has messages, it returns the most recent one.
func (a *App) newest(ctx context.Context, e api.Engine) (lathe.Session, error) {
	q, err := a.ProjectQuery(ctx, e)
	if err != nil {
		return lathe.Session{}, err
	}
	var empty []lathe.Session
	for q.Limit = 1; ; q.Limit = 50 {
		all, err := e.List(ctx, q)
		if err != nil {
			return lathe.Session{}, err
		}
		for _, s := range all {
			page, err := e.Messages(ctx, s.ID, lathe.Position{}, 1)
			if err != nil || len(page.Messages) > 0 {
				return s, err
			}
			empty = append(empty, s)
		}
		if len(all) == q.Limit {
			q.Before = lathe.Position{Time: all[len(all)-1].Updated, ID: string(all[len(all)-1].ID)}
			continue
		}
		if len(empty) == 0 {
			return lathe.Session{}, lathe.Errorf(lathe.NotFound, "this project has no sessions; `lathe session list --all` lists those of other projects")
		}
		return empty[0], nil
	}
}

// ambiguous is the error for an abbreviation that matches several sessions.
type ambiguous struct {
	App *App
	arg string
	fit []lathe.Session
}

// MaxCandidates is the number of sessions that an error lists.
const MaxCandidates = 10

func (e ambiguous) Error() string {
	return fmt.Sprintf("%s matches %d sessions; give more of the ID", termtext.Quote(e.arg), len(e.fit))
}

func (e ambiguous) Unwrap() error { return lathe.Errorf(lathe.Conflict, "%s", e.Error()) }

// Details lists the candidates.
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

// WithDescendants returns a session and all its descendants.
func WithDescendants(ctx context.Context, e api.Engine, s lathe.Session) ([]lathe.Session, error) {
	all := []lathe.Session{s}
	seen := map[lathe.SessionID]bool{s.ID: true}
	for i := 0; i < len(all); i++ {
		children, err := e.Children(ctx, all[i].ID)
		if err != nil {
			return nil, err
		}
		for _, c := range children {
			if !seen[c.ID] { // imported data may contain cycles
				seen[c.ID] = true
				all = append(all, c)
			}
		}
	}
	return all, nil
}
