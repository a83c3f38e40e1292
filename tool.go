package lathe

import "encoding/json"

// ToolState is what has become of a tool call. Sealed. It moves
//
//	pending → running → completed or error
//	pending → error
//
// and no other way; completed and error are final. The methods of [ToolCall] make
// the moves and refuse all others.
type ToolState interface {
	// Status is the wire's name of the state.
	Status() string
	record
}

type (
	// Pending is a call whose arguments still stream in. Raw stays empty on the wire.
	Pending struct {
		Input json.RawMessage
		Raw   string
		Extra Extra
	}
	// Running is a call whose tool works.
	Running struct {
		Input            json.RawMessage
		Title            string
		Metadata         json.RawMessage
		Start            Time
		TimeExtra, Extra Extra
	}
	// Completed is a call with a result. Compacted is when its output was left out of
	// the context; the store keeps the output.
	Completed struct {
		Input, Metadata       json.RawMessage
		Output, Title         string
		Start, End, Compacted Time
		Attachments           []Part // files
		TimeExtra, Extra      Extra
	}
	// Failed is a call that ended in an error.
	Failed struct {
		Input, Metadata  json.RawMessage
		Error            string
		Start, End       Time
		TimeExtra, Extra Extra
	}
)

func (*Pending) Status() string   { return "pending" }
func (*Running) Status() string   { return "running" }
func (*Completed) Status() string { return "completed" }
func (*Failed) Status() string    { return "error" }

// Settled reports whether the call has come to its end.
func (t *ToolCall) Settled() bool {
	switch t.State.(type) {
	case *Completed, *Failed:
		return true
	default:
		return false
	}
}

// Run moves a pending call to running.
func (t *ToolCall) Run(input json.RawMessage, at Time) (*ToolCall, error) {
	if _, ok := t.State.(*Pending); !ok {
		return nil, t.refuse("running")
	}
	return t.with(&Running{Input: input, Start: at}), nil
}

// Progress replaces title and metadata of a running call and keeps its start.
func (t *ToolCall) Progress(title string, metadata json.RawMessage) (*ToolCall, error) {
	r, ok := t.State.(*Running)
	if !ok {
		return nil, t.refuse("running")
	}
	next := *r
	next.Title, next.Metadata = title, metadata
	return t.with(&next), nil
}

// Complete moves a running call to completed. Input and start stay when the result
// has none.
func (t *ToolCall) Complete(res Completed) (*ToolCall, error) {
	r, ok := t.State.(*Running)
	if !ok {
		return nil, t.refuse("completed")
	}
	if res.Input == nil {
		res.Input = r.Input
	}
	res.Start = r.Start
	return t.with(&res), nil
}

// Fail moves a pending or running call to error.
func (t *ToolCall) Fail(message string, metadata json.RawMessage, at Time) (*ToolCall, error) {
	f := Failed{Error: message, Metadata: metadata, Start: at, End: at}
	switch s := t.State.(type) {
	case *Pending:
		f.Input = s.Input
	case *Running:
		f.Input, f.Start = s.Input, s.Start
		if metadata == nil {
			f.Metadata = s.Metadata
		}
	default:
		return nil, t.refuse("error")
	}
	return t.with(&f), nil
}

// Compact marks the output of a completed call as left out of the context. It is the
// one change a settled call may see.
func (t *ToolCall) Compact(at Time) (*ToolCall, error) {
	s, ok := t.State.(*Completed)
	if !ok {
		return nil, t.refuse("compacted")
	}
	next := *s
	next.Compacted = at
	return t.with(&next), nil
}

func (t *ToolCall) with(s ToolState) *ToolCall {
	next := *t
	next.State = s
	return &next
}

func (t *ToolCall) refuse(to string) error {
	is := "without a state"
	if t.State != nil {
		is = t.State.Status()
	}
	return Errorf(Conflict, "tool call %s is %s and cannot become %s", t.CallID, is, to)
}

// stateBox is the object around a state: its status decides the variant.
type stateBox struct{ state ToolState }

func (b *stateBox) fields(c *codec) {
	status := ""
	if !c.reading {
		status = b.state.Status()
	}
	str(c, "status", &status)
	if c.reading {
		switch status {
		case "pending":
			b.state = &Pending{}
		case "running":
			b.state = &Running{}
		case "completed":
			b.state = &Completed{}
		case "error":
			b.state = &Failed{}
		default:
			c.failAt("status", "pending, running, completed or error")
			return
		}
	}
	b.state.fields(c)
}

func (s *Pending) fields(c *codec) {
	rawObject(c, "input", &s.Input)
	str(c, "raw", &s.Raw)
	c.rest(&s.Extra)
}

func (s *Running) fields(c *codec) {
	rawObject(c, "input", &s.Input)
	optStr(c, "title", &s.Title)
	raw(c, "metadata", &s.Metadata)
	object(c, "time", &toolTime{start: &s.Start, extra: &s.TimeExtra})
	c.rest(&s.Extra)
}

func (s *Completed) fields(c *codec) {
	rawObject(c, "input", &s.Input)
	str(c, "output", &s.Output)
	str(c, "title", &s.Title)
	rawObject(c, "metadata", &s.Metadata)
	object(c, "time", &toolTime{start: &s.Start, end: &s.End, compacted: &s.Compacted, extra: &s.TimeExtra})
	s.attachments(c)
	c.rest(&s.Extra)
}

// attachments are parts with their own ids. A row leaves out which session and message they
// belong to: that is where the row belongs.
func (s *Completed) attachments(c *codec) {
	outer := c.attached
	c.attached = true
	optList(c, "attachments", &s.Attachments)
	c.attached = outer
}

func (s *Failed) fields(c *codec) {
	rawObject(c, "input", &s.Input)
	str(c, "error", &s.Error)
	raw(c, "metadata", &s.Metadata)
	object(c, "time", &toolTime{start: &s.Start, end: &s.End, extra: &s.TimeExtra})
	c.rest(&s.Extra)
}

// toolTime is the time object of a state or a retry; each has its own members of it.
type toolTime struct {
	created, start, end, compacted *Time
	extra                          *Extra
}

func (t *toolTime) fields(c *codec) {
	if t.created != nil {
		number(c, "created", t.created)
	}
	if t.start != nil {
		number(c, "start", t.start)
	}
	if t.end != nil {
		number(c, "end", t.end)
	}
	if t.compacted != nil {
		optNumber(c, "compacted", t.compacted)
	}
	c.rest(t.extra)
}
