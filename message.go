package lathe

import (
	"cmp"
	"encoding/json"
)

// Message is what one side said. Messages of a session are ordered by time of
// creation, then id. Parts is filled where a message is read whole; the event
// message.updated leaves it out, because parts travel alone.
type Message struct {
	ID      MessageID
	Session SessionID
	Created Time
	Data    RoleData
	Parts   []Part
}

// RoleData is the meaning of a message: [User] or [Assistant]. Sealed. A value that is in
// a message is not changed any more; change a copy of it.
type RoleData interface {
	// Role is user or assistant.
	Role() string
	record
}

type (
	// User is a prompt.
	User struct {
		Agent     string
		Model     ModelRef
		System    string          // an extra system prompt, for this exchange
		Tools     json.RawMessage // {name: bool}, for this exchange
		Format    json.RawMessage // the structured output asked for
		Summary   *UserSummary
		TimeExtra Extra
		Extra     Extra
	}
	// Assistant is the answer of one step.
	Assistant struct {
		Parent     MessageID // the user message it answers
		Model      ModelRef
		Agent      string
		Mode       string // the agent again, for old clients
		Path       Paths
		Completed  Time // 0 while the step runs
		Cost       Money
		Tokens     Tokens // of the last step, not a sum
		Finish     string // why the last step ended; "" while none has
		Error      Fault
		Summary    Flag            // this answer is a compaction's summary
		Structured json.RawMessage // the structured output captured
		TimeExtra  Extra
		Extra      Extra
	}
)

// ModelRef names a model of a provider and the variant to run.
type ModelRef struct {
	Provider, Model, Variant string
	Extra                    Extra
}

// UserSummary is what an exchange changed.
type UserSummary struct {
	Title, Body string
	Diffs       []FileDiff
	Extra       Extra
}

// Paths says where a step ran: the session's directory and the top of its checkout.
type Paths struct {
	Cwd, Root string
	Extra     Extra
}

// FileDiff is the change of one file. Old data holds before and after in Extra.
type FileDiff struct {
	File, Patch          string
	Additions, Deletions int
	Status               string // added, deleted or modified
	Extra                Extra
}

func (*User) Role() string      { return "user" }
func (*Assistant) Role() string { return "assistant" }

// Before reports whether m comes before n in the session.
func (m Message) Before(n Message) bool { return m.compare(n) < 0 }

func (m Message) compare(n Message) int {
	return cmp.Or(cmp.Compare(m.Created, n.Created), cmp.Compare(m.ID, n.ID))
}

// Parent returns the user message an answer belongs to, "" for a user message.
func (m Message) Parent() MessageID {
	if a, ok := m.Data.(*Assistant); ok {
		return a.Parent
	}
	return ""
}

// WithParent returns the answer with another parent; a user message stays as it is.
func (m Message) WithParent(id MessageID) Message {
	if a, ok := m.Data.(*Assistant); ok {
		next := *a
		next.Parent = id
		m.Data = &next
	}
	return m
}

// info is the message without its parts, the way events carry it.
type info struct{ *Message }

func (i info) fields(c *codec) {
	m, role := i.Message, ""
	if !c.reading {
		role = m.Data.Role()
	}
	if !c.row {
		str(c, "id", &m.ID)
		str(c, "sessionID", &m.Session)
		str(c, "role", &role)
	}
	if c.reading && m.Data == nil {
		switch role {
		case "user":
			m.Data = &User{}
		case "assistant":
			m.Data = &Assistant{}
		default:
			c.failAt("role", "user or assistant")
			return
		}
	}
	time := messageTime{created: &m.Created}
	switch s := m.Data.(type) {
	case *User:
		time.extra = &s.TimeExtra
	case *Assistant:
		time.completed, time.extra = &s.Completed, &s.TimeExtra
	}
	object(c, "time", &time)
	m.Data.fields(c)
}

// messageTime is the time object; in a row the creation has a column.
type messageTime struct {
	created, completed *Time
	extra              *Extra
}

func (t *messageTime) fields(c *codec) {
	if !c.row {
		number(c, "created", t.created)
	}
	if t.completed != nil {
		optNumber(c, "completed", t.completed)
	}
	c.rest(t.extra)
}

func (u *User) fields(c *codec) {
	str(c, "agent", &u.Agent)
	object(c, "model", &u.Model)
	if c.reading { // the first generation had the variant beside the model
		beside := ""
		str(c, "variant", &beside)
		if u.Model.Variant == "" {
			u.Model.Variant = beside
		}
	}
	optStr(c, "system", &u.System)
	raw(c, "tools", &u.Tools)
	raw(c, "format", &u.Format)
	optObject(c, "summary", &u.Summary)
	c.rest(&u.Extra)
}

func (a *Assistant) fields(c *codec) {
	if !c.row {
		str(c, "parentID", &a.Parent)
	}
	str(c, "modelID", &a.Model.Model)
	str(c, "providerID", &a.Model.Provider)
	optStr(c, "variant", &a.Model.Variant)
	str(c, "mode", &a.Mode)
	str(c, "agent", &a.Agent)
	if c.reading && a.Agent == "" { // the oldest messages have only a mode
		a.Agent = a.Mode
	}
	object(c, "path", &a.Path)
	money(c, "cost", &a.Cost)
	object(c, "tokens", &a.Tokens)
	optStr(c, "finish", &a.Finish)
	optFault(c, "error", &a.Error)
	flag(c, "summary", &a.Summary)
	raw(c, "structured", &a.Structured)
	c.rest(&a.Extra)
}

func (m *ModelRef) fields(c *codec) {
	str(c, "providerID", &m.Provider)
	str(c, "modelID", &m.Model)
	if !c.request {
		optStr(c, "variant", &m.Variant)
	}
	c.rest(&m.Extra)
}

func (s *UserSummary) fields(c *codec) {
	optStr(c, "title", &s.Title)
	optStr(c, "body", &s.Body)
	list(c, "diffs", &s.Diffs)
	c.rest(&s.Extra)
}

func (p *Paths) fields(c *codec) {
	str(c, "cwd", &p.Cwd)
	str(c, "root", &p.Root)
	c.rest(&p.Extra)
}

func (d *FileDiff) fields(c *codec) {
	optStr(c, "file", &d.File)
	optStr(c, "patch", &d.Patch)
	integer(c, "additions", &d.Additions)
	integer(c, "deletions", &d.Deletions)
	optStr(c, "status", &d.Status)
	c.rest(&d.Extra)
}

// fields is the message with its parts, the way lists and exports carry it.
func (m *Message) fields(c *codec) {
	object(c, "info", info{m})
	list(c, "parts", &m.Parts)
}

// AppendJSON appends {"info","parts"}.
func (m Message) AppendJSON(dst []byte) []byte { return encode(dst, &m) }

// AppendInfo appends the message without its parts.
func (m Message) AppendInfo(dst []byte) []byte { return encode(dst, info{&m}) }

// MarshalJSON writes {"info","parts"}.
func (m Message) MarshalJSON() ([]byte, error) { return encode(nil, &m), nil }

// UnmarshalJSON reads {"info","parts"} of either generation.
func (m *Message) UnmarshalJSON(data []byte) error {
	*m = Message{}
	if err := decode(data, "message", m); err != nil {
		return err
	}
	if m.Data == nil {
		return Errorf(Invalid, "message: info is missing")
	}
	return nil
}

// ReadInfo reads a message without parts.
func (m *Message) ReadInfo(data []byte) error {
	*m = Message{}
	if !json.Valid(data) {
		return Errorf(Invalid, "message: this is not JSON")
	}
	return decode(data, "message", info{m})
}

// AppendRow appends the message as the store keeps it: without ids, creation and
// parent, which have columns.
func (m Message) AppendRow(dst []byte) []byte { return encodeAs(dst, info{&m}, form{row: true}) }

// ReadRow fills in what AppendRow wrote. Ids and creation are set before, the parent after.
func (m *Message) ReadRow(role string, data []byte) error {
	m.Data = &User{}
	if role == "assistant" {
		m.Data = &Assistant{}
	}
	return decodeAs(data, "message", info{m}, form{row: true})
}
