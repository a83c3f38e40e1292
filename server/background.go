package server

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
)

// backgroundAPI serves the background tasks and the board.
type backgroundAPI struct {
	engine Engine
}

// taskQuery selects the tasks of a session; "" those of all.
type taskQuery struct {
	Session string `query:"session"`
}

// outputQuery limits an output, in bytes.
type outputQuery struct {
	Limit int `query:"limit"`
}

// boardQuery is a [lathe.BoardQuery]; IDs are separated by commas.
type boardQuery struct {
	Sessions string `query:"sessions"`
	Archived bool   `query:"archived"`
	Limit    int    `query:"limit"`
}

// movedBody says how many calls went to the background.
type movedBody struct {
	Moved int `json:"moved"`
}

func (a backgroundAPI) routes() []row {
	bad, missing, busy := []failure{failsBad}, []failure{failsBad, failsMissing}, []failure{failsBad, failsMissing, failsBusy}
	return []row{
		answer(route("GET /lathe/task", "lathe.task.list", "lathe", mayRead,
			"List background tasks: commands, subagents and sessions at work", missing, withoutDirectory),
			func(c *call, q taskQuery, _ none) ([]lathe.BackgroundTask, error) {
				return a.engine.Tasks(c.Context(), lathe.SessionID(q.Session))
			}),
		answer(route("GET /lathe/task/{taskID}", "lathe.task.output", "lathe", mayRead,
			"Get a background task and the end of its output", missing, withoutDirectory),
			func(c *call, q outputQuery, _ none) (lathe.TaskOutput, error) {
				return a.engine.TaskOutput(c.Context(), lathe.TaskID(c.PathValue("taskID")), q.Limit)
			}),
		answer(route("POST /lathe/task/{taskID}/stop", "lathe.task.stop", "lathe", mayAll,
			"Stop a background task", busy, withoutDirectory),
			func(c *call, _, _ none) (none, error) {
				return none{}, a.engine.StopTask(context.WithoutCancel(c.Context()), lathe.TaskID(c.PathValue("taskID")))
			}),
		answer(route("POST /lathe/session/{sessionID}/background", "lathe.session.background", "lathe", mayAll,
			"Let the running commands and subagents of a session continue in the background", busy),
			ofSession(func(c *call, rec lathe.Session, _, _ none) (movedBody, error) {
				n, err := a.engine.MoveToBackground(c.Context(), rec.ID)
				return movedBody{n}, err
			})),
		answer(route("GET /lathe/board", "lathe.board", "lathe", mayRead,
			"List the sessions of all projects with state, model, cost, last line and branch", bad, withoutDirectory),
			func(c *call, q boardQuery, _ none) ([]lathe.BoardEntry, error) {
				in := lathe.BoardQuery{Archived: q.Archived, Limit: q.Limit}
				for id := range strings.SplitSeq(q.Sessions, ",") {
					if id != "" {
						in.Sessions = append(in.Sessions, lathe.SessionID(id))
					}
				}
				return a.engine.Board(c.Context(), in)
			}),
	}
}
