package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/lathe-agent/lathe"
)

// Paths are the folders of the server's machine, and where a directory belongs.
type Paths struct {
	Home      string `json:"home"`
	State     string `json:"state"`
	Config    string `json:"config"`
	Worktree  string `json:"worktree"`
	Directory string `json:"directory"`
}

// Paths tells the folders; "" is the directory of the options.
func (c *Client) Paths(ctx context.Context, dir string) (p Paths, err error) {
	return p, c.call(ctx, request{method: "GET", path: "/path", directory: dir, to: &p})
}

// FindFiles returns paths of files and folders, these with a slash at their end, that fit a query, best
// first. A limit of 0 leaves it to the server.
func (c *Client) FindFiles(ctx context.Context, dir, query string, limit int) (all []string, err error) {
	q := url.Values{"query": {query}}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return all, c.call(ctx, request{method: "GET", path: "/find/file", query: q, directory: dir, to: &all})
}

// Branch is the branch that a directory is on, and the default one; "" outside of git.
func (c *Client) Branch(ctx context.Context, dir string) (branch, main string, err error) {
	var reply struct {
		Branch  string `json:"branch"`
		Default string `json:"default_branch"`
	}
	err = c.call(ctx, request{method: "GET", path: "/vcs", directory: dir, to: &reply})
	return reply.Branch, reply.Default, err
}

// Source says against what the files of a directory are compared.
type Source string

// The sources of changes.
const (
	Uncommitted Source = "git"    // the last commit
	SinceBranch Source = "branch" // where the branch left the default one
)

// Changes is what version control says differs.
func (c *Client) Changes(ctx context.Context, dir string, from Source) (all []lathe.FileDiff, err error) {
	return all, c.call(ctx, request{method: "GET", path: "/vcs/diff", query: url.Values{"mode": {string(from)}}, directory: dir, to: &all})
}
