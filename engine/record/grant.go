package record

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/directory"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/store"
)

// Grants are the saved answers to permission requests.
type Grants struct {
	saved store.Grants
	dirs  *directory.Directories
}

// ListGrants returns the grants of a directory's project, then those of a session, or without one of all sessions there.
func (g Grants) ListGrants(ctx context.Context, dir string, session lathe.SessionID) ([]grant.Grant, error) {
	at, err := g.scope(ctx, dir, session)
	if err != nil {
		return nil, err
	}
	list, err := g.saved.List(ctx, at)
	out := make([]grant.Grant, len(list))
	for i, x := range list {
		out[i] = grant.Grant{Permission: x.Permission, Pattern: x.Pattern, Session: x.Session}
	}
	return out, err
}

// AddGrant saves a rule: for the session and its subagents, or for the directory's project.
func (g Grants) AddGrant(ctx context.Context, dir string, x grant.Grant) error {
	if err := grant.Check(x.Permission, x.Pattern); err != nil {
		return err
	}
	at, err := g.scope(ctx, dir, x.Session)
	if err != nil {
		return err
	}
	return g.saved.Add(ctx, at, x.Permission, x.Pattern)
}

// RevokeGrant deletes a saved rule. It applies from the next call on.
func (g Grants) RevokeGrant(ctx context.Context, dir string, x grant.Grant) error {
	at, err := g.scope(ctx, dir, x.Session)
	if err != nil {
		return err
	}
	return g.saved.Revoke(ctx, at, x.Permission, x.Pattern)
}

// scope finds the project of a directory. A session must belong to it.
func (g Grants) scope(ctx context.Context, dir string, session lathe.SessionID) (store.GrantScope, error) {
	place, err := g.dirs.Locate(ctx, dir)
	if err != nil {
		return store.GrantScope{}, err
	}
	at := store.GrantScope{Project: place.ProjectID, Directory: place.Directory, Session: session}
	if session == "" {
		return at, nil
	}
	s, err := g.saved.Store.Session(ctx, session)
	if err == nil && s.Project != at.Project {
		err = lathe.Errorf(lathe.NotFound, "session %s belongs to another project", session)
	}
	return at, err
}
