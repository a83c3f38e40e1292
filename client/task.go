package client

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// background requests the background tasks and the board of a server.
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
