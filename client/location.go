package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// Info describes a directory of the server. The server does not report trust and sandbox, so both count as on.
func (c *Client) Info(ctx context.Context, dir string) (api.Info, error) {
	var at struct{ Home, Directory string }
	if err := c.call(ctx, request{method: "GET", path: "/path", directory: dir, to: &at}); err != nil {
		return api.Info{}, err
	}
	out := api.Info{Directory: at.Directory, Home: at.Home, Trusted: true, Confined: true, Remote: !c.IsLocal()}
	var vcs struct{ Branch string }
	// The branch is shown and not needed: a server that cannot say has none.
	_ = c.call(ctx, request{method: "GET", path: "/vcs", directory: dir, to: &vcs})
	out.Branch = vcs.Branch
	var err error
	if out.Version, err = c.Health(ctx); err == nil {
		out.Mode, out.Limits, err = c.settings(ctx, dir)
	}
	return out, err
}

// settings are the permission mode that counts in a directory, "" for the default, and the limits of requests.
func (c *Client) settings(ctx context.Context, dir string) (lathe.Mode, api.Limits, error) {
	var raw json.RawMessage
	if err := c.call(ctx, request{method: "GET", path: "/config", directory: dir, to: &raw}); err != nil {
		return "", api.Limits{}, err
	}
	var config struct {
		Mode lathe.Mode `json:"permission_mode"`
	}
	err := json.Unmarshal(raw, &config)
	return config.Mode, api.ParseLimits(raw), err
}

// SetMode changes the permission mode in the config of the server's user. A project or the environment may keep a
// stricter one.
func (c *Client) SetMode(ctx context.Context, dir string, m lathe.Mode) (lathe.Mode, error) {
	change := struct {
		Mode lathe.Mode `json:"permission_mode"`
	}{m}
	if err := c.call(ctx, request{method: "PATCH", path: "/global/config", body: change}); err != nil {
		return "", err
	}
	is, _, err := c.settings(ctx, dir)
	return cmp.Or(is, lathe.SandboxMode), err
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

// Changes returns the differences that version control reports.
func (c *Client) Changes(ctx context.Context, dir string, from api.Source) (all []lathe.FileDiff, err error) {
	return all, c.call(ctx, request{method: "GET", path: "/vcs/diff", query: url.Values{"mode": {string(from)}}, directory: dir, to: &all})
}
