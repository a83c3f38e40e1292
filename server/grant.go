package server

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
)

// grantAPI answers for saved permissions.
type grantAPI struct{ engine Engine }

func (a grantAPI) routes() []row {
	bad, missing := []failure{failsBad}, []failure{failsBad, failsMissing}
	return []row{
		answer(route("POST /lathe/permission/{requestID}/grant", "lathe.permission.grant", "lathe", mayAll,
			"Allow a permission request and save its patterns for the session or the project", []failure{failsBad, failsAsk}), a.grant),
		answer(route("GET /lathe/grant", "lathe.grant.list", "lathe", mayRead,
			"List the saved permissions of the project and of its sessions, or of one session", missing), a.list),
		answer(route("POST /lathe/grant", "lathe.grant.add", "lathe", mayAll,
			"Save a permission for a session or, without one, for the project", missing), a.add),
		answer(route("POST /lathe/grant/revoke", "lathe.grant.revoke", "lathe", mayAll,
			"Revoke a saved permission", append(bad, failsMissing)), a.revoke),
	}
}

type grantBody struct {
	Scope    grant.Scope `json:"scope" enum:"session,project"`
	Patterns []string    `json:"patterns,omitempty" doc:"saved instead of the patterns of the request; each must match it"`
}

func (a grantAPI) grant(c *call, _ none, in grantBody) (bool, error) {
	id, err := c.pathID("requestID", lathe.PrefixPermission)
	if err != nil {
		return false, err
	}
	err = a.engine.Grant(context.WithoutCancel(c.Context()), lathe.AskID(id), in.Scope, in.Patterns)
	return settled(err, "PermissionNotFoundError", "Permission request not found: ", id)
}

type grantQuery struct {
	Session string `query:"sessionID"`
}

func (a grantAPI) list(c *call, q grantQuery, _ none) ([]grant.Grant, error) {
	at, err := c.grantPlace(lathe.SessionID(q.Session), "Query")
	if err != nil {
		return nil, err
	}
	return a.engine.ListGrants(c.Context(), at, lathe.SessionID(q.Session))
}

func (a grantAPI) add(c *call, _ none, in grant.Grant) (bool, error) {
	at, err := c.grantPlace(in.Session, "Body")
	if err != nil {
		return false, err
	}
	err = a.engine.AddGrant(context.WithoutCancel(c.Context()), at, in)
	return err == nil, err
}

func (a grantAPI) revoke(c *call, _ none, in grant.Grant) (bool, error) {
	at, err := c.grantPlace(in.Session, "Body")
	if err != nil {
		return false, err
	}
	err = a.engine.RevokeGrant(context.WithoutCancel(c.Context()), at, in)
	return err == nil, err
}

// grantPlace is the directory of the request; kind names where the session was given.
func (c *call) grantPlace(session lathe.SessionID, kind string) (string, error) {
	if session != "" {
		if err := lathe.CheckID(lathe.PrefixSession, string(session)); err != nil {
			return "", badRequest(kind, "sessionID: %v", err)
		}
	}
	at, _, err := c.place()
	return at.Directory, err
}
