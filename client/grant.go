package client

import (
	"context"
	"net/url"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
)

// grants are the calls about saved permissions, a part of Client.
type grants struct {
	send func(context.Context, request) error
}

// Grant allows a request and saves patterns: those given, or without any those that the request proposes.
func (g grants) Grant(ctx context.Context, id lathe.AskID, scope grant.Scope, patterns []string) error {
	body := struct {
		Scope    grant.Scope `json:"scope"`
		Patterns []string    `json:"patterns,omitempty"`
	}{scope, patterns}
	return g.send(ctx, request{method: "POST", path: "/lathe/permission/" + url.PathEscape(string(id)) + "/grant", body: body})
}

// ListGrants returns the grants of the project of a directory and of a session; without one, of all its sessions.
func (g grants) ListGrants(ctx context.Context, dir string, session lathe.SessionID) (list []grant.Grant, err error) {
	query := url.Values{}
	if session != "" {
		query.Set("sessionID", string(session))
	}
	err = g.send(ctx, request{method: "GET", path: "/lathe/grant", query: query, directory: dir, to: &list})
	return list, err
}

// AddGrant saves a rule: for the session and its subagents, or for the directory's project.
func (g grants) AddGrant(ctx context.Context, dir string, x grant.Grant) error {
	return g.send(ctx, request{method: "POST", path: "/lathe/grant", body: x, directory: dir})
}

// RevokeGrant deletes a saved rule.
func (g grants) RevokeGrant(ctx context.Context, dir string, x grant.Grant) error {
	return g.send(ctx, request{method: "POST", path: "/lathe/grant/revoke", body: x, directory: dir})
}
