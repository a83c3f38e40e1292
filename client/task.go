package client

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// background requests the background tasks, the board and the search of a server.
type background struct {
	send func(ctx context.Context, r request) error
}

var _ api.Background = background{}

// Tasks lists background tasks.
func (b background) Tasks(ctx context.Context, session lathe.SessionID) (out []lathe.BackgroundTask, err error) {
	return out, b.send(ctx, request{method: "GET", path: "/lathe/task", query: url.Values{"session": {string(session)}}, to: &out})
}

// TaskOutput returns the end of a task's output.
func (b background) TaskOutput(ctx context.Context, id lathe.TaskID, limit int) (out lathe.TaskOutput, err error) {
	return out, b.send(ctx, request{method: "GET", path: taskPath(id), query: url.Values{"limit": {strconv.Itoa(limit)}}, to: &out})
}

// StopTask ends a running task.
func (b background) StopTask(ctx context.Context, id lathe.TaskID) error {
	return b.send(ctx, request{method: "POST", path: taskPath(id) + "/stop"})
}

func taskPath(id lathe.TaskID) string { return "/lathe/task/" + url.PathEscape(string(id)) }

// MoveToBackground lets running calls of a session continue in the background.
func (b background) MoveToBackground(ctx context.Context, id lathe.SessionID) (int, error) {
	var out struct {
		Moved int `json:"moved"`
	}
	err := b.send(ctx, request{method: "POST", path: "/lathe/session/" + url.PathEscape(string(id)) + "/background", to: &out})
	return out.Moved, err
}

// Search finds places in the sessions of all projects.
func (b background) Search(ctx context.Context, q lathe.SearchQuery) (out lathe.SearchResult, err error) {
	v := url.Values{"q": {q.Text}}
	for name, value := range map[string]string{"session": string(q.Session), "project": q.Project, "path": q.Path, "model": q.Model, "tool": q.Tool, "cursor": q.Cursor} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Typing {
		v.Set("typing", "true")
	}
	if q.Since != 0 {
		v.Set("since", strconv.FormatInt(int64(q.Since), 10))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return out, b.send(ctx, request{method: "GET", path: "/lathe/search", query: v, to: &out})
}

// Board returns what sessions of all projects are doing.
func (b background) Board(ctx context.Context, q lathe.BoardQuery) (out []lathe.BoardEntry, err error) {
	v := url.Values{"limit": {strconv.Itoa(q.Limit)}, "archived": {strconv.FormatBool(q.Archived)}}
	ids := make([]string, len(q.Sessions))
	for i, id := range q.Sessions {
		ids[i] = string(id)
	}
	if len(ids) > 0 {
		v.Set("sessions", strings.Join(ids, ","))
	}
	return out, b.send(ctx, request{method: "GET", path: "/lathe/board", query: v, to: &out})
}
