package server

import (
	"context"
	"net/http"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// Worktrees are the isolated trees of sessions. The operations that name a directory are OpenCode's.
type Worktrees interface {
	api.Worktrees
	MakeWorktree(ctx context.Context, dir, name, command string) (api.Worktree, error)
	RemoveWorktree(ctx context.Context, dir, directory string) error
	ResetWorktree(ctx context.Context, dir, directory string) error
}

// worktreeAPI serves worktrees: OpenCode's four routes, and ours with merges. A backend without them refuses.
type worktreeAPI struct{ trees Worktrees }

// The shapes of the first four routes are those of OpenCode. A directory stands for a worktree there, because its
// clients open sessions by directory and know no names.
type (
	worktreeInput struct {
		Name         string `json:"name,omitempty"`
		StartCommand string `json:"startCommand,omitempty" doc:"runs in the worktree after the command of the config"`
	}
	worktreeReply struct {
		Name      string `json:"name"`
		Branch    string `json:"branch,omitempty"`
		Directory string `json:"directory"`
	}
	worktreePath struct {
		Directory string `json:"directory"`
	}
	worktreeName struct {
		Name string `json:"name,omitempty"`
	}
	dropQuery struct {
		Force bool `query:"force"`
	}
	dropReply struct {
		Branch string `json:"branch,omitempty"` // it has commits, so it stays
	}
)

func (worktreeReply) schemaName() string { return "Worktree" }

// mostCommand is how long a start command may be, in bytes.
const mostCommand = 64 << 10

// routes are OpenCode's, then ours.
func (a worktreeAPI) routes() []row {
	bad, missing := []failure{failsBad}, []failure{failsBad, failsMissing}
	return []row{
		answer(route("GET /experimental/worktree", "worktree.list", "experimental", mayRead, "List the directories of the worktrees", bad), inTrees(a, a.directories)),
		answer(route("POST /experimental/worktree", "worktree.create", "experimental", mayAll,
			"Make a worktree; the event worktree.ready says that its setup commands are done", bad), inTrees(a, a.create)),
		answer(route("DELETE /experimental/worktree", "worktree.remove", "experimental", mayAll, "Remove a worktree with its changes", bad), inTrees(a, a.remove)),
		answer(route("POST /experimental/worktree/reset", "worktree.reset", "experimental", mayAll,
			"Make the files of a worktree again from the checkout", bad), inTrees(a, a.reset)),

		answer(route("GET /lathe/worktree", "lathe.worktree.list", "lathe", mayRead, "List the worktrees with state and number of changed files", bad),
			inTrees(a, func(c *call, dir string, _, _ none) ([]api.Worktree, error) {
				return a.trees.ListWorktrees(c.Context(), dir)
			})),
		answer(route("POST /lathe/worktree", "lathe.worktree.start", "lathe", mayAll, "Make a worktree and a session that works in it", bad),
			inTrees(a, func(c *call, dir string, _ none, in worktreeName) (api.Worktree, error) {
				return a.trees.StartWorktree(c.Context(), dir, in.Name)
			})),
		answer(route("POST /lathe/session/{sessionID}/worktree", "lathe.session.worktree", "lathe", mayAll,
			"Make a worktree with the files at the end of a step, and a copy of the session that works in it", missing), a.forkStep),
		answer(route("GET /lathe/worktree/{name}/diff", "lathe.worktree.diff", "lathe", mayRead, "Get the changes of a worktree", missing),
			inTrees(a, func(c *call, dir string, _, _ none) ([]lathe.FileDiff, error) {
				return a.trees.CompareWorktree(c.Context(), dir, c.PathValue("name"))
			})),
		answer(route("POST /lathe/worktree/{name}/merge", "lathe.worktree.merge", "lathe", mayAll,
			"Merge a worktree into its checkout as a step of a session, or only report", missing),
			inTrees(a, func(c *call, dir string, _ none, in api.WorktreeMerge) (api.WorktreeReport, error) {
				return a.trees.ApplyWorktree(c.Context(), dir, c.PathValue("name"), in)
			})),
		answer(route("DELETE /lathe/worktree/{name}", "lathe.worktree.drop", "lathe", mayAll,
			"Remove a worktree; one with changes that are not merged needs force", missing),
			inTrees(a, func(c *call, dir string, q dropQuery, _ none) (dropReply, error) {
				branch, err := a.trees.DropWorktree(c.Context(), dir, c.PathValue("name"), q.Force)
				return dropReply{branch}, err
			})),
	}
}

// forkTreeBody names the step of a fork, and the worktree.
type forkTreeBody struct {
	Step *int   `json:"step,omitempty" doc:"last step of the copy; 0 copies nothing"`
	Name string `json:"name,omitempty"`
}

func (a worktreeAPI) forkStep(c *call, _ none, in forkTreeBody) (api.Worktree, error) {
	rec, err := c.session()
	switch {
	case err != nil:
		return api.Worktree{}, err
	case in.Step == nil:
		return api.Worktree{}, badRequest("Body", "step is missing; GET /lathe/session/{sessionID}/steps lists them")
	case a.trees == nil:
		return api.Worktree{}, lathe.Errorf(lathe.Unavailable, "this server makes no worktrees")
	}
	return a.trees.ForkWorktree(c.Context(), rec.ID, *in.Step, in.Name)
}

// inTrees is atDirectory for a backend that may have no worktrees.
func inTrees[Q, In, Out any](a worktreeAPI, f func(c *call, dir string, q Q, in In) (Out, error)) func(c *call, q Q, in In) (Out, error) {
	return atDirectory(func(c *call, dir string, q Q, in In) (out Out, err error) {
		if a.trees == nil {
			return out, lathe.Errorf(lathe.Unavailable, "this server makes no worktrees")
		}
		return f(c, dir, q, in)
	})
}

// directories lists where sessions of worktrees work, as OpenCode does.
func (a worktreeAPI) directories(c *call, dir string, _, _ none) ([]string, error) {
	all, err := a.trees.ListWorktrees(c.Context(), dir)
	if err != nil {
		return nil, worktreeProblem("WorktreeListFailedError", err)
	}
	out := []string{}
	for _, t := range all {
		if t.State == "ready" || t.State == "merging" {
			out = append(out, t.Directory)
		}
	}
	return out, nil
}

// create answers when the files are there. Start commands run on, as with OpenCode, and clients wait for the event.
func (a worktreeAPI) create(c *call, dir string, _ none, in worktreeInput) (worktreeReply, error) {
	if len(in.Name) > mostProjectName || len(in.StartCommand) > mostCommand {
		return worktreeReply{}, badRequest("Body", "name is limited to %d bytes, startCommand to %d", mostProjectName, mostCommand)
	}
	t, err := a.trees.MakeWorktree(c.Context(), dir, in.Name, in.StartCommand)
	return worktreeReply{t.Name, t.Branch, t.Directory}, worktreeProblem("WorktreeCreateFailedError", err)
}

// remove drops changes that are not merged too: OpenCode has no flag for that, and its clients ask before.
func (a worktreeAPI) remove(c *call, dir string, _ none, in worktreePath) (bool, error) {
	err := a.trees.RemoveWorktree(c.Context(), dir, in.Directory)
	return err == nil, worktreeProblem("WorktreeRemoveFailedError", err)
}

// reset never drops commits: OpenCode resets to its default branch, which may be far from what the checkout has.
func (a worktreeAPI) reset(c *call, dir string, _ none, in worktreePath) (bool, error) {
	err := a.trees.ResetWorktree(c.Context(), dir, in.Directory)
	return err == nil, worktreeProblem("WorktreeResetFailedError", err)
}

// worktreeProblem is a failure as OpenCode names it. A canceled request has no answer.
func worktreeProblem(name string, err error) error {
	if err == nil || lathe.CodeOf(err) == lathe.Canceled {
		return err
	}
	return &problem{status: http.StatusBadRequest, body: named(name, messageData{err.Error()}), cause: err}
}
