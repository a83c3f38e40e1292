package server

import (
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// The routes of OpenCode's next API that its terminal client touches, and the experimental
// ones. The rest of that API is not here. The lists are in v2_list.go and v2_provider.go.

// v2API answers for the routes under /api and /experimental.
type v2API struct {
	instances Instances
	engine    Engine
	settings  ConfigStore
	providers Providers
}

func (a v2API) routes() []row {
	bad := []failure{failsBad}
	rows := []row{
		answer(route("GET /api/health", "v2.health", "api", mayRead,
			"Check the server's health", nil, withoutDirectory), func(*call, none, none) (lifeReply, error) { return lifeReply{true}, nil }),
		answer(route("GET /api/location", "v2.location.get", "api", mayRead,
			"Get the project of the directory", bad), func(c *call, _, _ none) (location, error) { return c.location() }),
		answer(route("GET /experimental/capabilities", "experimental.capabilities.get", "experimental", mayRead,
			"Get the capabilities of the server", nil), func(*call, none, none) (capabilities, error) { return capabilities{}, nil }),
		answer(route("GET /experimental/console", "experimental.console.get", "experimental", mayRead,
			"List organizations that manage providers: none", nil), func(*call, none, none) (consoleReply, error) {
			return consoleReply{ConsoleManagedProviders: []string{}}, nil
		}),
		answer(route("GET /experimental/workspace", "experimental.workspace.list", "experimental", mayRead, "List remote workspaces", bad), nothing),
		answer(route("GET /experimental/workspace/status", "experimental.workspace.status", "experimental", mayRead,
			"Get the status of remote workspaces", bad), nothing),
		answer(route("GET /experimental/session", "experimental.session.list", "experimental", mayRead,
			"List sessions across projects, most recently changed first", bad), a.allSessions),
	}
	return append(rows, a.lists()...)
}

type (
	lifeReply struct {
		Healthy bool `json:"healthy"`
	}
	capabilities struct {
		BackgroundSubagents bool `json:"backgroundSubagents"`
	}
	consoleReply struct {
		ConsoleManagedProviders []string `json:"consoleManagedProviders"`
		SwitchableOrgCount      int      `json:"switchableOrgCount"`
	}
	// location is the project of a directory, in the form of the v2 API.
	location struct {
		Directory string          `json:"directory"`
		Project   locationProject `json:"project"`
	}
	locationProject struct {
		ID        string `json:"id"`
		Directory string `json:"directory"`
	}
)

func (location) schemaName() string { return "LocationInfo" }

// location is where the directory of the request belongs.
func (c *call) location() (location, error) {
	at, _, err := c.place()
	return locationOf(at), err
}

func locationOf(at workspace.Place) location {
	return location{Directory: at.Directory, Project: locationProject{ID: at.ProjectID, Directory: at.Worktree}}
}

type allQuery struct {
	Directory string `query:"directory"`
	Roots     bool   `query:"roots"`
	Start     loose  `query:"start"`
	Cursor    loose  `query:"cursor"`
	Search    string `query:"search"`
	Limit     loose  `query:"limit"`
	Archived  bool   `query:"archived"`
}

// allSessions lists sessions of all projects, each with its project. What follows the page
// begins at the time in X-Next-Cursor.
func (a v2API) allSessions(c *call, q allQuery, _ none) ([]projectSession, error) {
	query := lathe.Query{Roots: q.Roots, Since: lathe.Time(q.Start), Search: q.Search}
	if q.Archived {
		query.Archived = lathe.WithArchived
	}
	if q.Cursor > 0 {
		query.Before = lathe.Position{Time: lathe.Time(q.Cursor)}
	}
	if q.Directory != "" {
		dir, err := c.directory()
		if err != nil {
			return nil, err
		}
		query.Directory = dir
	}
	all, more, err := a.page(c, query, limitOf(q.Limit))
	if err != nil {
		return nil, err
	}
	if more {
		c.w.Header().Set("X-Next-Cursor", strconv.FormatInt(int64(all[len(all)-1].Updated), 10))
		c.w.Header().Set("Access-Control-Expose-Headers", "X-Next-Cursor")
	}
	return a.withProjects(c, all)
}

// page lists so many sessions, and those beyond that changed in the same millisecond as the last of
// them: what follows is asked for by time, and they would be on no page. It reports whether there
// are more.
func (a v2API) page(c *call, query lathe.Query, size int) (all []lathe.Session, more bool, err error) {
	for query.Limit = size + 1; ; query.Limit *= 2 {
		if all, err = a.engine.List(c.Context(), query); err != nil {
			return nil, false, err
		}
		end := size
		for end < len(all) && all[end].Updated == all[end-1].Updated {
			end++
		}
		switch {
		case end < len(all):
			return all[:end], true, nil
		case len(all) < query.Limit:
			return all, false, nil
		}
	}
}

// projectSession is a session and the project it belongs to, null if that is gone.
type projectSession struct {
	session lathe.Session
	project *lathe.Project
}

// AppendJSON appends the session with one member more.
func (p projectSession) AppendJSON(dst []byte) []byte {
	dst = p.session.AppendJSON(dst)
	dst = append(dst[:len(dst)-1], `,"project":`...)
	if p.project == nil {
		return append(dst, "null}"...)
	}
	head := projectHead{p.project.ID, p.project.Name, p.project.Worktree}
	text, _ := encode(head) // strings always can be
	return append(append(dst, text...), '}')
}

// MarshalJSON is AppendJSON for lists.
func (p projectSession) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

type projectHead struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Worktree string `json:"worktree"`
}

func (a v2API) withProjects(c *call, all []lathe.Session) ([]projectSession, error) {
	projects, err := a.engine.Projects(c.Context())
	if err != nil {
		return nil, err
	}
	byID := map[string]*lathe.Project{}
	for i := range projects {
		byID[projects[i].ID] = &projects[i]
	}
	out := make([]projectSession, len(all))
	for i, one := range all {
		out[i] = projectSession{one, byID[one.Project]}
	}
	return out, nil
}
