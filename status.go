package lathe

import "encoding/json"

// Status is what a session is doing: idle, busy, or waiting to try again. A session
// without a status is idle.
type Status struct {
	Type    string // idle, busy or retry
	Attempt int
	Message string
	Next    Time            // when the next attempt begins
	Action  json.RawMessage // how the user can fix it
	Extra   Extra
}

// The kinds of status.
const (
	Idle     = "idle"
	Busy     = "busy"
	Retrying = "retry"
)

func (s *Status) fields(c *codec) {
	str(c, "type", &s.Type)
	if s.Type == Retrying {
		integer(c, "attempt", &s.Attempt)
		str(c, "message", &s.Message)
		number(c, "next", &s.Next)
		raw(c, "action", &s.Action)
	}
	c.rest(&s.Extra)
}

// Todo is one entry of a session's list. The first generation also had an id, stored in Extra.
type Todo struct {
	Content, Status, Priority string
	Extra                     Extra
}

func (t *Todo) fields(c *codec) {
	str(c, "content", &t.Content)
	str(c, "status", &t.Status)
	str(c, "priority", &t.Priority)
	c.rest(&t.Extra)
}
