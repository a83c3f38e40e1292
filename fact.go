package lathe

// The facts that are stored. Each changes one row and takes one number.
type (
	// SessionCreated tells of a new session.
	SessionCreated struct {
		Info  Session
		Extra Extra
	}
	// SessionChanged carries the present record of a session.
	SessionChanged struct {
		Info  Session
		Extra Extra
	}
	// SessionDeleted carries the last record of a session.
	SessionDeleted struct {
		Info  Session
		Extra Extra
	}
	// MessageChanged carries a message without its parts.
	MessageChanged struct {
		Info  Message
		Extra Extra
	}
	// MessageRemoved says that a message and its parts are gone.
	MessageRemoved struct {
		Session SessionID
		Message MessageID
		Extra   Extra
	}
	// PartChanged carries a part.
	PartChanged struct {
		Part  Part
		Time  Time // when it changed
		Extra Extra
	}
	// PartRemoved says that a part is gone.
	PartRemoved struct {
		Session SessionID
		Message MessageID
		Part    PartID
		Extra   Extra
	}
	// StatusChanged carries what a session is doing.
	StatusChanged struct {
		Session SessionID
		Status  Status
		Extra   Extra
	}
	// PermissionAsked carries a permission request that waits for its answer.
	PermissionAsked struct{ PermissionRequest }
	// PermissionReplied says that a permission request is answered or withdrawn.
	PermissionReplied struct {
		Session SessionID
		Request AskID
		Reply   Reply
		Extra   Extra
	}
	// QuestionAsked carries a question that waits for its answer.
	QuestionAsked struct{ QuestionRequest }
	// QuestionReplied tells the answers to a question, one list for each.
	QuestionReplied struct {
		Session SessionID
		Request AskID
		Answers [][]string
		Extra   Extra
	}
	// QuestionRejected says that a question was dismissed or withdrawn.
	QuestionRejected struct {
		Session SessionID
		Request AskID
		Extra   Extra
	}
	// TodosChanged carries the whole list of a session.
	TodosChanged struct {
		Session SessionID
		Todos   []Todo
		Extra   Extra
	}
	// DiffChanged carries what a session changed in its project.
	DiffChanged struct {
		Session SessionID
		Diff    []FileDiff
		Extra   Extra
	}
	// ProjectChanged carries the present record of a project.
	ProjectChanged struct{ Project }
)

// The facts that only the store sees.
type (
	// Checkpoint appends to the stored text of an open part, silently: live readers
	// had it as deltas. Offset is in bytes and must be where the stored text ends.
	Checkpoint struct {
		Session SessionID
		Part    PartID
		Offset  int
		Text    string
	}
	// Promote gives a waiting prompt its place in the history.
	Promote struct {
		Session SessionID
		Message MessageID
	}
	// Interrupted marks a turn as interrupted until the session continues.
	Interrupted struct{ Session SessionID }
	// Spent adds to the accounts of a session, of those above it, of a day and of the
	// project. With a slot, what was reserved there is no longer held.
	Spent struct {
		Session SessionID
		Slot    string
		Day     string // 2006-01-02
		Used    Spending
	}
	// SystemPromptSaved saves the system prompt, in place of the one before.
	SystemPromptSaved struct {
		Session      SessionID
		SystemPrompt SystemPrompt
	}
	// RequestSent keeps a digest of the request that an answer is for, so that a replay can tell whether it would be
	// the same today.
	RequestSent struct {
		Session SessionID
		Message MessageID
		Digest  string
	}
	// TestsRan keeps for a project which command ran its tests. Where there is none, it is
	// for the directory.
	TestsRan struct {
		Session SessionID
		Project string
		Run     TestRun
	}
)

func (*SessionCreated) Type() string    { return "session.created" }
func (*SessionChanged) Type() string    { return "session.updated" }
func (*SessionDeleted) Type() string    { return "session.deleted" }
func (*MessageChanged) Type() string    { return "message.updated" }
func (*MessageRemoved) Type() string    { return "message.removed" }
func (*PartChanged) Type() string       { return "message.part.updated" }
func (*PartRemoved) Type() string       { return "message.part.removed" }
func (*StatusChanged) Type() string     { return "session.status" }
func (*PermissionAsked) Type() string   { return "permission.asked" }
func (*PermissionReplied) Type() string { return "permission.replied" }
func (*QuestionAsked) Type() string     { return "question.asked" }
func (*QuestionReplied) Type() string   { return "question.replied" }
func (*QuestionRejected) Type() string  { return "question.rejected" }
func (*TodosChanged) Type() string      { return "todo.updated" }
func (*DiffChanged) Type() string       { return "session.diff" }
func (*ProjectChanged) Type() string    { return "project.updated" }
func (*Checkpoint) Type() string        { return "" }
func (*Promote) Type() string           { return "" }
func (*Interrupted) Type() string       { return "" }
func (*Spent) Type() string             { return "" }
func (*SystemPromptSaved) Type() string { return "" }
func (*RequestSent) Type() string       { return "" }
func (*TestsRan) Type() string          { return "" }

func (f *SessionCreated) fields(c *codec) { sessionFields(c, &f.Info, &f.Extra) }
func (f *SessionChanged) fields(c *codec) { sessionFields(c, &f.Info, &f.Extra) }
func (f *SessionDeleted) fields(c *codec) { sessionFields(c, &f.Info, &f.Extra) }

func sessionFields(c *codec, s *Session, x *Extra) {
	id := s.ID
	str(c, "sessionID", &id)
	object(c, "info", s)
	c.rest(x)
}

func (f *MessageChanged) fields(c *codec) {
	id := f.Info.Session
	str(c, "sessionID", &id)
	object(c, "info", info{&f.Info})
	if c.reading && f.Info.Data == nil {
		c.failAt("info", "a message")
	}
	c.rest(&f.Extra)
}

func (f *MessageRemoved) fields(c *codec) {
	str(c, "sessionID", &f.Session)
	str(c, "messageID", &f.Message)
	c.rest(&f.Extra)
}

func (f *PartChanged) fields(c *codec) {
	id := f.Part.Session
	str(c, "sessionID", &id)
	object(c, "part", &f.Part)
	if c.reading && f.Part.Body == nil {
		c.failAt("part", "a part")
	}
	number(c, "time", &f.Time)
	c.rest(&f.Extra)
}

func (f *PartRemoved) fields(c *codec) {
	str(c, "sessionID", &f.Session)
	str(c, "messageID", &f.Message)
	str(c, "partID", &f.Part)
	c.rest(&f.Extra)
}

func (f *StatusChanged) fields(c *codec) {
	str(c, "sessionID", &f.Session)
	object(c, "status", &f.Status)
	c.rest(&f.Extra)
}

func (f *PermissionAsked) fields(c *codec) { f.PermissionRequest.fields(c) }

func (f *PermissionReplied) fields(c *codec) {
	str(c, "sessionID", &f.Session)
	str(c, "requestID", &f.Request)
	str(c, "reply", &f.Reply)
	c.rest(&f.Extra)
}

func (f *QuestionAsked) fields(c *codec) { f.QuestionRequest.fields(c) }

func (f *QuestionReplied) fields(c *codec) {
	str(c, "sessionID", &f.Session)
	str(c, "requestID", &f.Request)
	answers(c, "answers", &f.Answers)
	c.rest(&f.Extra)
}

func (f *QuestionRejected) fields(c *codec) {
	str(c, "sessionID", &f.Session)
	str(c, "requestID", &f.Request)
	c.rest(&f.Extra)
}

func (f *TodosChanged) fields(c *codec) {
	str(c, "sessionID", &f.Session)
	list(c, "todos", &f.Todos)
	c.rest(&f.Extra)
}

func (f *DiffChanged) fields(c *codec) {
	str(c, "sessionID", &f.Session)
	list(c, "diff", &f.Diff)
	c.rest(&f.Extra)
}

func (f *ProjectChanged) fields(c *codec) { f.Project.fields(c) }

func (*Checkpoint) fields(*codec)        {}
func (*Promote) fields(*codec)           {}
func (*Interrupted) fields(*codec)       {}
func (*Spent) fields(*codec)             {}
func (*SystemPromptSaved) fields(*codec) {}
func (*RequestSent) fields(*codec)       {}
func (*TestsRan) fields(*codec)          {}

// answers is an array of arrays of strings.
func answers(c *codec, key string, v *[][]string) {
	array(c, key, v, func(one *[]string) {
		writeItems(c, *one, func(s *string) { c.buf = appendString(c.buf, *s) })
	}, func(item []byte, one *[]string) {
		readItems(c, item, one, func(item []byte, s *string) { readText(c, item, s) })
	})
}
