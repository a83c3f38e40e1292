package main

import (
	"context"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// cmdApprove answers "always" to a request, as a person does in a turn: approve DATA PERMISSION PATTERN.
func cmdApprove(ts *testscript.TestScript, _ bool, args []string) {
	ctx, data := context.Background(), ts.MkAbs(args[0])
	d, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(data, "lathe.db"), State: filepath.Join(data, "owners")})
	ts.Check(err)
	e, err := engine.Open(ctx, engine.Options{Driver: d, Blobs: filepath.Join(data, "blobs")})
	ts.Check(err)
	defer e.Close()
	s, err := e.Create(ctx, ts.MkAbs("."), lathe.NewSession{})
	ts.Check(err)
	lease, err := e.Store().Acquire(ctx, s.ID)
	ts.Check(err)
	ask := lathe.PermissionRequest{ID: lathe.AskID("per_" + s.ID), Session: s.ID, Permission: args[1], Patterns: []string{args[2]}, Always: []string{args[2]}}
	_, err = e.Store().Commit(ctx, lease, &lathe.PermissionAsked{PermissionRequest: ask})
	ts.Check(err)
	if len(args) > 3 { // for the session, whose id goes into a variable
		ts.Setenv("SESSION", string(s.ID))
		ts.Check(e.Grant(ctx, ask.ID, grant.Session, nil))
	} else {
		ts.Check(e.Reply(ctx, ask.ID, lathe.Always, ""))
	}
	ts.Check(e.Store().Release(ctx, lease))
}
