package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// worktrees manages the worktrees of a server. It is a type of its own, which Client embeds, as reports is.
type worktrees struct {
	send func(ctx context.Context, r request) error
}

var _ api.Worktrees = worktrees{}

// ListWorktrees returns the worktrees by name.
func (w worktrees) ListWorktrees(ctx context.Context, dir string) (out []api.Worktree, err error) {
	return out, w.send(ctx, request{method: "GET", path: "/lathe/worktree", directory: dir, to: &out})
}

// StartWorktree makes a worktree and a session in it. A setup command takes as long as it takes.
func (w worktrees) StartWorktree(ctx context.Context, dir, name string) (out api.Worktree, err error) {
	body := struct {
		Name string `json:"name,omitempty"`
	}{name}
	return out, w.send(ctx, request{method: "POST", path: "/lathe/worktree", directory: dir, body: body, to: &out, endless: true})
}

// ForkWorktree makes a worktree with the files at the end of a step, and a copy of the session in it.
func (w worktrees) ForkWorktree(ctx context.Context, id lathe.SessionID, step int, name string) (out api.Worktree, err error) {
	body := struct {
		Step int    `json:"step"`
		Name string `json:"name,omitempty"`
	}{step, name}
	return out, w.send(ctx, request{method: "POST", path: own(id, "/worktree"), body: body, to: &out, endless: true})
}

// CompareWorktree returns the changes of a worktree.
func (w worktrees) CompareWorktree(ctx context.Context, dir, name string) (out []lathe.FileDiff, err error) {
	return out, w.send(ctx, request{method: "GET", path: "/lathe/worktree/" + url.PathEscape(name) + "/diff", directory: dir, to: &out})
}

// ApplyWorktree merges a worktree into its checkout.
func (w worktrees) ApplyWorktree(ctx context.Context, dir, name string, o api.WorktreeMerge) (out api.WorktreeReport, err error) {
	return out, w.send(ctx, request{method: "POST", path: "/lathe/worktree/" + url.PathEscape(name) + "/merge", directory: dir, body: o, to: &out})
}

// DropWorktree removes a worktree.
func (w worktrees) DropWorktree(ctx context.Context, dir, name string, force bool) (keptBranch string, err error) {
	var out struct{ Branch string }
	query := url.Values{"force": {strconv.FormatBool(force)}}
	err = w.send(ctx, request{method: "DELETE", path: "/lathe/worktree/" + url.PathEscape(name), query: query, directory: dir, to: &out})
	return out.Branch, err
}
