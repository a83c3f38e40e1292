package server

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/workspace"
)

// sessionAPI serves sessions and operations on whole sessions.
type sessionAPI struct {
	engine Engine
	shares shareAPI // shares a new session if the config says so
}

// routes are the routes of OpenCode's session API.
func (a sessionAPI) routes() []row {
	bad, missing := []failure{failsBad}, []failure{failsBad, failsMissing}
	return []row{
		answer(route("GET /session", "session.list", "session", mayRead,
			"List the sessions of the project, most recently changed first", bad), inPlace(a.listSessions)),
		answer(route("POST /session", "session.create", "session", mayAll,
			"Create a session in the directory", []failure{failsTag}, tagErrors, in(atPlace)), inPlace(a.createSession)),
		answer(route("GET /session/status", "session.status", "session", mayRead,
			"Get the status of the directory's busy sessions", bad), inPlace(a.sessionStatus)),
		answer(route("GET /session/{sessionID}", "session.get", "session", mayRead, "Get a session", missing), a.getSession),
		answer(route("PATCH /session/{sessionID}", "session.update", "session", mayAll,
			"Change a session's title, metadata, archive state or rules", missing), ofSession(a.updateSession)),
		answer(route("DELETE /session/{sessionID}", "session.delete", "session", mayAll,
			"Delete a session and its child sessions", missing), ofSession(a.deleteSession)),
		answer(route("GET /session/{sessionID}/children", "session.children", "session", mayRead,
			"List the child sessions", missing), ofSession(a.children)),
		answer(route("GET /session/{sessionID}/todo", "session.todo", "session", mayRead,
			"Get the session's todo list", missing), ofSession(a.todos)),
		answer(route("GET /session/{sessionID}/diff", "session.diff", "session", mayRead,
			"Get the file changes of a session, or of one exchange", bad), a.sessionDiff),
		answer(route("POST /session/{sessionID}/fork", "session.fork", "session", mayAll,
			"Copy a session up to a message", missing, in(atPlace)), ofSession(a.fork)),
	}
}

type listQuery struct {
	Directory string  `query:"directory"`
	Scope     string  `query:"scope"`
	Path      *string `query:"path"`
	Roots     bool    `query:"roots"`
	Start     loose   `query:"start"`
	Search    string  `query:"search"`
	Limit     loose   `query:"limit"`
}

// listedSessions is how many are listed unless the query says otherwise.
const listedSessions = 100

// listSessions lists those of the project. A directory in the query, not in the header, narrows
// the list to it, unless a path or the scope says what is meant.
func (a sessionAPI) listSessions(c *call, at workspace.Place, q listQuery, _ none) ([]lathe.Session, error) {
	query := lathe.Query{
		Project: at.ProjectID, Roots: q.Roots, Search: q.Search, Since: lathe.Time(q.Start), Archived: lathe.WithArchived,
		Limit: limitOf(q.Limit),
	}
	switch {
	case q.Path != nil:
		query.Path = *q.Path
	case q.Directory != "" && q.Scope != "project":
		query.Directory = at.Directory
	}
	return a.engine.List(c.Context(), query)
}

// limitOf reads the limit of a list, with a default for missing and invalid values.
func limitOf(n loose) int {
	const most = 1 << 20
	if n >= 1 {
		return int(min(n, most))
	}
	return listedSessions
}

type createBody struct {
	Parent    lathe.SessionID     `json:"parentID,omitempty"`
	Title     string              `json:"title,omitempty"`
	Agent     string              `json:"agent,omitempty"`
	Model     *lathe.SessionModel `json:"model,omitempty"`
	Metadata  object              `json:"metadata,omitempty"`
	Rules     lathe.Ruleset       `json:"permission,omitempty"`
	Workspace lathe.WorkspaceID   `json:"workspaceID,omitempty"`
}

func (a sessionAPI) createSession(c *call, at workspace.Place, _ none, in createBody) (lathe.Session, error) {
	if in.Parent != "" {
		if err := lathe.CheckID(lathe.PrefixSession, string(in.Parent)); err != nil {
			return lathe.Session{}, badTag(err)
		}
	}
	if err := in.Rules.Check(); err != nil {
		return lathe.Session{}, badTag(err)
	}
	made, err := a.engine.Create(c.Context(), at.Directory, lathe.NewSession{
		Parent: in.Parent, Title: in.Title, Agent: in.Agent, Model: in.Model, Metadata: json.RawMessage(in.Metadata), Rules: in.Rules, Workspace: in.Workspace,
	})
	if err != nil {
		return made, err
	}
	return a.shares.shareNew(c, at, made)
}

func (a sessionAPI) sessionStatus(c *call, at workspace.Place, _, _ none) (map[lathe.SessionID]lathe.Status, error) {
	return a.engine.Statuses(c.Context(), lathe.Scope{Directory: at.Directory})
}

func (a sessionAPI) getSession(c *call, _, _ none) (lathe.Session, error) { return c.session() }

type updateBody struct {
	Title    *string       `json:"title,omitempty"`
	Metadata object        `json:"metadata,omitempty"`
	Rules    lathe.Ruleset `json:"permission,omitempty"`
	Time     struct {
		Archived *float64 `json:"archived,omitempty"`
	} `json:"time,omitzero"`
}

// updateSession changes columns; rules are added to those there are.
func (a sessionAPI) updateSession(c *call, rec lathe.Session, _ none, in updateBody) (lathe.Session, error) {
	if err := in.Rules.Check(); err != nil {
		return rec, badRequest("Body", "permission: %v", err)
	}
	edit := lathe.Edit{AddRules: in.Rules}
	if in.Title != nil {
		edit.Title = lathe.Some(*in.Title)
	}
	if in.Metadata != nil {
		edit.Metadata, edit.Touch = lathe.Some(json.RawMessage(in.Metadata)), true
	}
	if at := in.Time.Archived; at != nil {
		if *at < 0 || *at >= 1<<53 {
			return rec, badRequest("Body", "time.archived: expected milliseconds since 1970, not %v", *at)
		}
		archived := lathe.Time(*at)
		edit.Archived = lathe.Some(&archived)
	}
	return a.engine.Update(c.Context(), rec.ID, edit)
}

// isBusy reports whether a session, or one below it, is doing something.
func (a sessionAPI) isBusy(ctx context.Context, id lathe.SessionID) (bool, error) {
	all, err := a.engine.Statuses(ctx, lathe.Scope{})
	if err != nil || len(all) == 0 {
		return false, err
	}
	for busy := range all {
		for n := 0; busy != "" && n < 64; n++ {
			if busy == id {
				return true, nil
			}
			rec, err := a.engine.Get(ctx, busy)
			if lathe.CodeOf(err) == lathe.NotFound {
				break
			}
			if err != nil {
				return false, err
			}
			busy = rec.Parent
		}
	}
	return false, nil
}

// deleteSession stops the session first, since its output would be lost.
func (a sessionAPI) deleteSession(c *call, rec lathe.Session, _, _ none) (bool, error) {
	busy, err := a.isBusy(c.Context(), rec.ID)
	if err != nil {
		return false, err
	}
	if busy { // an idle session only publishes its deletion
		if err := a.engine.Cancel(c.Context(), rec.ID); err != nil && lathe.CodeOf(err) != lathe.NotFound {
			return false, err
		}
	}
	if err := a.engine.Remove(c.Context(), rec.ID); err != nil {
		return false, err
	}
	return true, nil
}

func (a sessionAPI) children(c *call, rec lathe.Session, _, _ none) ([]lathe.Session, error) {
	return a.engine.List(c.Context(), lathe.Query{Parent: rec.ID, Archived: lathe.WithArchived})
}

func (a sessionAPI) todos(c *call, rec lathe.Session, _, _ none) ([]lathe.Todo, error) {
	return a.engine.Todos(c.Context(), rec.ID)
}

type diffQuery struct {
	Message string `query:"messageID"`
}

// sessionDiff has no errors: an unknown session has changed nothing.
func (a sessionAPI) sessionDiff(c *call, q diffQuery, _ none) ([]lathe.FileDiff, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	diffs, err := a.engine.Diff(c.Context(), id, lathe.MessageID(q.Message))
	if lathe.CodeOf(err) == lathe.NotFound {
		return nil, nil
	}
	return diffs, err
}

type forkBody struct {
	Message lathe.MessageID `json:"messageID,omitempty"`
}

func (a sessionAPI) fork(c *call, rec lathe.Session, _ none, in forkBody) (lathe.Session, error) {
	return a.engine.Fork(c.Context(), rec.Directory, rec.ID, in.Message)
}

// object is any JSON object, as received.
type object json.RawMessage

// UnmarshalJSON takes objects only; null is none.
func (o *object) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if data[0] != '{' {
		return lathe.Errorf(lathe.Invalid, "Expected object, got %s", phrase.Shorten(string(data), 40))
	}
	*o = append((*o)[:0], data...)
	return nil
}

// MarshalJSON writes it as it is.
func (o object) MarshalJSON() ([]byte, error) { return o, nil }
