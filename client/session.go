package client

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Health returns the version of the server.
func (c *Client) Health(ctx context.Context) (version string, err error) {
	var out struct {
		Version string `json:"version"`
	}
	err = c.call(ctx, request{method: "GET", path: "/global/health", to: &out})
	return out.Version, err
}

// Location returns the project of a directory; "" means that of the options.
func (c *Client) Location(ctx context.Context, dir string) (lathe.Location, error) {
	var out struct {
		Directory string
		Project   struct{ ID, Directory string }
	}
	err := c.call(ctx, request{method: "GET", path: "/api/location", directory: dir, to: &out})
	at := out.Directory
	return lathe.Location{
		Directory: at, Project: out.Project.ID, Worktree: out.Project.Directory,
		Path: strings.Trim(filepath.ToSlash(strings.TrimPrefix(at, filepath.VolumeName(at))), "/"),
	}, err
}

// Create starts a session in a directory of the server; "" means that of the options.
func (c *Client) Create(ctx context.Context, dir string, in lathe.NewSession) (s lathe.Session, err error) {
	return s, c.call(ctx, request{method: "POST", path: "/session", directory: dir, body: in, to: &s})
}

// Get returns the record of a session.
func (c *Client) Get(ctx context.Context, id lathe.SessionID) (s lathe.Session, err error) {
	return s, c.call(ctx, request{method: "GET", path: in(id, ""), to: &s})
}

// Children lists the sessions that this one started.
func (c *Client) Children(ctx context.Context, id lathe.SessionID) (all []lathe.Session, err error) {
	return all, c.call(ctx, request{method: "GET", path: in(id, "/children"), to: &all})
}

// listPage is how many records are asked for at a time.
const listPage = 500

// List returns sessions of all projects, those that changed last first. What the wire cannot
// be asked for is left out here.
func (c *Client) List(ctx context.Context, q lathe.Query) ([]lathe.Session, error) {
	out, seen := []lathe.Session{}, map[lathe.SessionID]bool{}
	want, page, cursor := q.Limit, listPage, ""
	for {
		all, next, err := c.listed(ctx, q, page, cursor)
		if err != nil {
			return nil, err
		}
		fresh := 0
		for _, s := range all {
			if seen[s.ID] {
				continue
			}
			seen[s.ID] = true
			fresh++
			if !selects(q, s) {
				continue
			}
			if out = append(out, s); want > 0 && len(out) == want {
				return out, nil
			}
		}
		if next == "" {
			return out, nil
		}
		if fresh == 0 {
			page *= 2 // more of one instant than a page holds
		}
		cursor = next
	}
}

// listed asks for one page, and where the next one begins.
func (c *Client) listed(ctx context.Context, q lathe.Query, page int, cursor string) (all []lathe.Session, next string, err error) {
	ask := url.Values{"limit": {strconv.Itoa(page)}}
	set := func(name, value string) {
		if value != "" {
			ask.Set(name, value)
		}
	}
	set("search", q.Search)
	set("directory", q.Directory)
	set("cursor", cursor)
	if q.Roots {
		ask.Set("roots", "true")
	}
	if q.Archived != lathe.HideArchived {
		ask.Set("archived", "true")
	}
	if q.Since > 0 {
		ask.Set("start", strconv.FormatInt(int64(q.Since), 10))
	}
	var h http.Header
	var found []listedSession
	if err = c.call(ctx, request{method: "GET", path: "/experimental/session", query: ask, to: &found, header: &h}); err != nil {
		return nil, "", err
	}
	for _, f := range found {
		all = append(all, lathe.Session(f))
	}
	if h.Get("X-Next-Cursor") == "" || len(all) == 0 {
		return all, "", nil
	}
	// A cursor is a time, and what has the very same one would be passed over.
	return all, strconv.FormatInt(int64(all[len(all)-1].Updated)+1, 10), nil
}

// listedSession is a record of a list, to which the wire adds its project.
type listedSession lathe.Session

// UnmarshalJSON reads the record without the project.
func (l *listedSession) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	delete(members, "project")
	bare, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return (*lathe.Session)(l).UnmarshalJSON(bare)
}

// selects holds a session against those members of a query that the wire has not.
func selects(q lathe.Query, s lathe.Session) bool {
	switch {
	case q.Project != "" && s.Project != q.Project,
		q.Parent != "" && s.Parent != q.Parent,
		q.Archived == lathe.OnlyArchived && s.Archived == nil:
		return false
	}
	if q.Path == "" {
		return true
	}
	if s.Path == nil {
		return false
	}
	at := path.Clean("/" + *s.Path)
	under := path.Clean("/" + q.Path)
	return at == under || under == "/" || strings.HasPrefix(at, under+"/")
}

// Rename gives a session another title.
func (c *Client) Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	return c.Update(ctx, id, lathe.Edit{Title: lathe.Some(title)})
}

// Archive takes a session off the list, or with nil brings it back.
func (c *Client) Archive(ctx context.Context, id lathe.SessionID, at *lathe.Time) (s lathe.Session, err error) {
	if at == nil { // the wire has no word for it
		return s, c.call(ctx, request{method: "POST", path: own(id, "/unarchive"), to: &s})
	}
	return c.Update(ctx, id, lathe.Edit{Archived: lathe.Some(at)})
}

// change is an edit as the wire has it.
type change struct {
	Title    *string         `json:"title,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Rules    lathe.Ruleset   `json:"permission,omitempty"`
	Time     *changeTime     `json:"time,omitempty"`
}

type changeTime struct {
	Archived float64 `json:"archived"`
}

// Update changes title or metadata of a session, archives it, and adds rules to it. The rest of
// an edit is the engine's own and cannot be asked for.
func (c *Client) Update(ctx context.Context, id lathe.SessionID, edit lathe.Edit) (s lathe.Session, err error) {
	var body change
	if edit.Title.Set {
		body.Title = &edit.Title.Value
	}
	body.Metadata, body.Rules = edit.Metadata.Value, edit.AddRules
	if at := edit.Archived.Value; at != nil {
		body.Time = &changeTime{float64(*at)}
	}
	return s, c.call(ctx, request{method: "PATCH", path: in(id, ""), body: body, to: &s})
}

// Fork copies a session up to before a message, if one is named. A server copies it in its directory, and knows
// no other place for it.
func (c *Client) Fork(ctx context.Context, _ string, id lathe.SessionID, before lathe.MessageID) (s lathe.Session, err error) {
	return s, c.call(ctx, request{method: "POST", path: in(id, "/fork"), body: lathe.Undo{Message: before}, to: &s})
}

// ForkStep copies a session up to the end of a step.
func (c *Client) ForkStep(ctx context.Context, _ string, id lathe.SessionID, step int) (s lathe.Session, err error) {
	return s, c.call(ctx, request{method: "POST", path: own(id, "/fork"), body: lathe.Rewind{Step: step}, to: &s})
}

// Remove deletes a session and all below it.
func (c *Client) Remove(ctx context.Context, id lathe.SessionID) error {
	return c.call(ctx, request{method: "DELETE", path: in(id, "")})
}

// Share gives a session an address at which others can read it; Unshare removes it.
func (c *Client) Share(ctx context.Context, id lathe.SessionID) (s lathe.Session, err error) {
	return c.ShareFor(ctx, id, "")
}

// ShareFor is Share for a time such as 7d; "" never ends.
func (c *Client) ShareFor(ctx context.Context, id lathe.SessionID, lasts string) (s lathe.Session, err error) {
	r := request{method: "POST", path: in(id, "/share"), to: &s}
	if lasts != "" {
		r.query = url.Values{"expires": {lasts}}
	}
	return s, c.call(ctx, r)
}

// Unshare removes a share.
func (c *Client) Unshare(ctx context.Context, id lathe.SessionID) (s lathe.Session, err error) {
	return s, c.call(ctx, request{method: "DELETE", path: in(id, "/share"), to: &s})
}

// Statuses returns the status of each session of a directory that is not idle. A scope without a directory means that
// of the options.
func (c *Client) Statuses(ctx context.Context, scope lathe.Scope) (all map[lathe.SessionID]lathe.Status, err error) {
	err = c.call(ctx, request{method: "GET", path: "/session/status", directory: scope.Directory, to: &all})
	maps.DeleteFunc(all, func(id lathe.SessionID, _ lathe.Status) bool { return scope.Session != "" && id != scope.Session })
	return all, err
}

// Todos is the session's list of things to do.
func (c *Client) Todos(ctx context.Context, id lathe.SessionID) (all []lathe.Todo, err error) {
	return all, c.call(ctx, request{method: "GET", path: in(id, "/todo"), to: &all})
}

// Diff returns the file changes of a session, or of one exchange.
func (c *Client) Diff(ctx context.Context, id lathe.SessionID, prompt lathe.MessageID) (all []lathe.FileDiff, err error) {
	q := url.Values{}
	if prompt != "" {
		q.Set("messageID", string(prompt))
	}
	return all, c.call(ctx, request{method: "GET", path: in(id, "/diff"), query: q, to: &all})
}

// Interrupted lists the sessions with an interrupted turn.
func (c *Client) Interrupted(ctx context.Context) (all []lathe.SessionID, err error) {
	err = c.call(ctx, request{method: "GET", path: "/lathe/interrupted", to: &all})
	return slices.Clip(all), err
}
