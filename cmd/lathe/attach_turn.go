package main

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/engine"
)

// SubmitCommand runs a slash command of the server. It returns when that is done: the wire has no
// other way; whoever follows the session sees it meanwhile.
func (r *remote) SubmitCommand(ctx context.Context, id lathe.SessionID, call lathe.CommandCall) (lathe.Message, error) {
	m, err := r.Client.Command(ctx, id, client.Command(call))
	return m, asNoModel(err)
}

// asNoModel knows a server again that has no model. The wire has only words for that, and they are ours.
func asNoModel(err error) error {
	if err == nil || !strings.HasPrefix(err.Error(), engine.ErrNoModel.Error()) {
		return err
	}
	return &lathe.Error{Code: lathe.CodeOf(err), Message: err.Error(), Err: engine.ErrNoModel}
}

// Backgrounds are the server's own business.
func (r *remote) Backgrounds(context.Context, lathe.SessionID) ([]lathe.Session, error) {
	return nil, nil
}

// GoesOn is, too.
func (r *remote) GoesOn(context.Context, lathe.SessionID) (bool, error) { return false, nil }

// Collect is done by the server when it begins.
func (r *remote) Collect(context.Context, lathe.SessionID, bool) error { return nil }
