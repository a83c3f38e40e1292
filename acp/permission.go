package acp

import (
	"cmp"
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/grant"
)

// The IDs of the answers to a permission request. Two of them are of the kind allow_always, so clients must send the ID and
// not the kind, as the protocol says.
const (
	allowOnce    = "once"
	allowSession = "session"
	allowAlways  = "always"
	rejectOnce   = "reject"
)

// permission asks the client for a permission.
func (v *view) permission(r lathe.PermissionRequest) {
	req := wire.RequestPermissionRequest{
		SessionID: wire.SessionID(v.out), Options: permissionOptions(r), ToolCall: permissionCall(v.dir, r),
	}
	req.ToolCall.ToolCallID = v.callID(r.Tool, r.ID)
	if v.isNested {
		req.ToolCall.Title = v.agent + " › " + req.ToolCall.Title
	}
	v.loop.ask(r.ID, func(ctx context.Context) { v.loop.answerPermission(ctx, r, req) })
}

// callID is the ID of the call that asks, as the client knows it.
func (v *view) callID(ref *lathe.ToolRef, ask lathe.AskID) wire.ToolCallID {
	if ref != nil {
		if id, ok := v.calls[ref.Call]; ok {
			return wire.ToolCallID(id)
		}
	}
	return wire.ToolCallID(ask)
}

// ask starts to ask the user, once for each request.
func (l *loop) ask(id lathe.AskID, f func(ctx context.Context)) {
	if l.asks[id] != nil {
		return
	}
	ctx, stop := context.WithCancel(l.ctx)
	l.asks[id] = stop
	l.work.Go(func() {
		defer stop()
		f(ctx)
		_ = l.run(l.ctx, func() { delete(l.asks, id) }) // or the conversation has ended
	})
}

// withdraw takes a request back that was answered elsewhere, or whose turn ended.
func (l *loop) withdraw(id lathe.AskID) {
	if stop := l.asks[id]; stop != nil {
		stop()
	}
}

// answerPermission asks the client and passes its answer on. Without an answer the request stays open for other front
// ends.
func (l *loop) answerPermission(ctx context.Context, r lathe.PermissionRequest, req wire.RequestPermissionRequest) {
	var res wire.RequestPermissionResponse
	err := l.server.call(ctx, "session/request_permission", req, &res)
	if ctx.Err() != nil || l.server.conn.Err() != nil {
		return
	}
	choice := ""
	if sel := res.Outcome.Selected; err == nil && sel != nil {
		choice = string(sel.OptionID)
	}
	switch {
	case err != nil:
		l.server.Log.Warn("acp: the client did not answer a permission request", "error", err)
		err = l.backend.Reply(ctx, r.ID, lathe.Unattended, "")
	case choice == allowOnce:
		err = l.backend.Reply(ctx, r.ID, lathe.Once, "")
	case choice == allowSession && grant.CanSave(r):
		err = l.backend.Grant(ctx, r.ID, grant.Session, grant.Proposals(r)[0])
	case choice == allowAlways && grant.CanSave(r):
		err = l.backend.Grant(ctx, r.ID, grant.Project, grant.Proposals(r)[0])
	default: // also an option that was not offered
		err = l.backend.Reply(ctx, r.ID, lathe.Reject, "")
	}
	l.logAnswer(err)
}

// logAnswer logs that an answer was not accepted. One that came too late is nothing to report.
func (l *loop) logAnswer(err error) {
	if err != nil && lathe.CodeOf(err) != lathe.NotFound && l.ctx.Err() == nil {
		l.server.Log.Warn("acp: answer not accepted", "error", err)
	}
}

// permissionOptions are the answers to choose from. Some requests are answered one at a time.
func permissionOptions(r lathe.PermissionRequest) []wire.PermissionOption {
	out := []wire.PermissionOption{{OptionID: allowOnce, Name: "Allow once", Kind: wire.PermissionOptionKindAllowOnce}}
	if grant.CanSave(r) {
		what := oneLine(strings.Join(grant.Proposals(r)[0], ", "), 60)
		out = append(out,
			wire.PermissionOption{OptionID: allowSession, Name: "Allow for this session: " + what, Kind: wire.PermissionOptionKindAllowAlways},
			wire.PermissionOption{OptionID: allowAlways, Name: "Always allow in this project: " + what, Kind: wire.PermissionOptionKindAllowAlways})
	}
	return append(out, wire.PermissionOption{OptionID: rejectOnce, Name: "Reject", Kind: wire.PermissionOptionKindRejectOnce})
}

// permissionCall describes the call that needs a permission: its diff, its command, or the patterns of the request.
func permissionCall(dir string, r lathe.PermissionRequest) wire.ToolCallUpdate {
	c := newCall(dir, r.Permission, "", r.Metadata, r.Metadata)
	c.in.FilePath = cmp.Or(c.in.FilePath, c.meta.Filepath)
	u := wire.ToolCallUpdate{Status: wire.ToolCallStatusPending, Kind: c.kind()}
	summary := r.Summary()
	switch r.Permission {
	case "bash":
		u.Title = cmp.Or(c.meta.Command, summary)
	case "edit":
		u.Title = "Edit " + c.shown(c.in.FilePath)
	case "external_directory":
		u.Title = "Access files outside of the project: " + summary
	case "sandbox":
		u.Title = "Leave the sandbox: " + cmp.Or(c.meta.Command, c.meta.Filepath, summary)
		u.Kind = wire.ToolKindExecute
	case "doom_loop":
		u.Title = "Repeat the same call again: " + summary
	default:
		u.Title = r.Permission + " " + summary
	}
	u.Title = oneLine(u.Title, maxTitle)
	if c.meta.Diff != "" || len(c.meta.Files) > 0 {
		u.Content, u.Locations = c.diffs()
	}
	if c.meta.Command != "" {
		u.Content = append(u.Content, fenced(c.meta.Command))
	}
	if c.meta.Reason != "" {
		u.Content = append(u.Content, textContent(c.meta.Reason))
	}
	if len(u.Content) == 0 && summary != "" {
		u.Content = []wire.ToolCallContent{textContent(r.Permission + ": " + summary)}
	}
	if isObject(r.Metadata) {
		u.RawInput = r.Metadata
	}
	return u
}
