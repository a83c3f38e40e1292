package lathe

import "encoding/json"

// Status is what a session is doing: idle, busy, or waiting to try again. A session
// without a status is idle.
type Status struct {
	Type    string // idle, busy or retry
	Attempt int
	Message string
	Next    Time            // when the next attempt begins
	Action  json.RawMessage // what the user can do about it
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

// MarshalJSON writes the status as the wire has it.
func (s Status) MarshalJSON() ([]byte, error) { return encode(nil, &s), nil }

// UnmarshalJSON reads a status.
func (s *Status) UnmarshalJSON(data []byte) error {
	*s = Status{}
	return decode(data, "status", s)
}

// Todo is one entry of a session's list. The first generation also had an id, kept in Extra.
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

// MarshalJSON writes the entry as the wire has it.
func (t Todo) MarshalJSON() ([]byte, error) { return encode(nil, &t), nil }

// UnmarshalJSON reads an entry.
func (t *Todo) UnmarshalJSON(data []byte) error {
	*t = Todo{}
	return decode(data, "todo", t)
}

// MarshalJSON writes the diff as the wire has it.
func (d FileDiff) MarshalJSON() ([]byte, error) { return encode(nil, &d), nil }

// UnmarshalJSON reads a diff.
func (d *FileDiff) UnmarshalJSON(data []byte) error {
	*d = FileDiff{}
	return decode(data, "diff", d)
}
