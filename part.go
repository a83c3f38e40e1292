package lathe

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Part is the unit that is stored, streamed and drawn: a piece of what was said.
// Parts of a message are ordered by birth, never by id.
type Part struct {
	ID      PartID
	Session SessionID
	Message MessageID
	Body    Body
}

// IsReminder reports whether lathe added the text to a prompt for the model alone: a project overview, also one of an older
// version, or a system reminder.
func (b *Text) IsReminder() bool {
	return b.Synthetic.On() && (strings.HasPrefix(b.Text, "Project overview at the start of this session:") ||
		strings.HasPrefix(b.Text, "What is here, as this session begins:") || strings.HasPrefix(b.Text, "<system-reminder>"))
}

// Body is what a part holds. Sealed: its variants are pointers to the structs of this
// file. A body that is in a part is not changed any more; change a copy of it.
type Body interface {
	// Type is the wire's name of the variant.
	Kind() string
	record
}

type (
	// Text is what the user wrote or the model answered.
	Text struct {
		Text      string
		Synthetic Flag // written by the engine: sent to the model, dimmed or hidden on screens
		Ignored   Flag // shown, but not sent to the model
		Time      *Span
		Metadata  json.RawMessage // the provider's, keyed by provider; goes back unchanged
		Extra     Extra
	}
	// Reasoning is what the model thought aloud.
	Reasoning struct {
		Text     string
		Time     Span
		Metadata json.RawMessage
		Extra    Extra
	}
	// File is an attachment: of a prompt, or of a tool's result.
	File struct {
		Mime, URL, Filename string
		Source              *FileSource
		Extra               Extra
	}
	// ToolCall is a call of a tool and what became of it; see tool.go.
	ToolCall struct {
		CallID, Tool string
		State        ToolState
		Metadata     json.RawMessage
		Extra        Extra
	}
	// StepStart opens a step, with the tree before it.
	StepStart struct {
		Snapshot string
		Extra    Extra
	}
	// StepFinish closes a step, with the tree after it and what it used. Writing one
	// adds its cost and tokens to the session.
	StepFinish struct {
		Reason, Snapshot string
		Cost             Money
		Tokens           Tokens
		Extra            Extra
	}
	// Snapshot names a tree. Old data has it; nothing writes it now.
	Snapshot struct {
		Snapshot string
		Extra    Extra
	}
	// Patch lists the files a step changed. Hash is the tree before.
	Patch struct {
		Hash  string
		Files []string
		Extra Extra
	}
	// AgentMention is an @agent in a prompt.
	AgentMention struct {
		Name   string
		Source *Mention
		Extra  Extra
	}
	// Subtask asks for a subagent to run.
	Subtask struct {
		Prompt, Description, Agent string
		Model                      *ModelRef
		Command                    string
		Extra                      Extra
	}
	// Compaction asks for the history to be compressed. TailStart is the first message
	// that stays as it is.
	Compaction struct {
		Auto      bool
		Overflow  Flag
		TailStart MessageID
		Extra     Extra
	}
	// Retry records a failed attempt, at the time when the next one began.
	Retry struct {
		Attempt          int
		Error            Fault
		Created          Time
		TimeExtra, Extra Extra
	}
	// UnknownBody is a part this version does not know, stored as received.
	UnknownBody struct {
		TypeName string
		Extra    Extra
	}
)

// Span is the time from start to end; End is 0 while it runs.
type Span struct {
	Start, End Time
	Extra      Extra
}

// Mention is the text in a prompt that stands for something, with its range in UTF-16 units.
type Mention struct {
	Value      string
	Start, End int
	Extra      Extra
}

// FileSource says where in the prompt a file came from. Type is file, symbol or
// resource; the members of the latter two that we never look at stay in Extra.
type FileSource struct {
	Type, Path string
	Text       Mention
	Extra      Extra
}

func (*Text) Kind() string          { return "text" }
func (*Reasoning) Kind() string     { return "reasoning" }
func (*File) Kind() string          { return "file" }
func (*ToolCall) Kind() string      { return "tool" }
func (*StepStart) Kind() string     { return "step-start" }
func (*StepFinish) Kind() string    { return "step-finish" }
func (*Snapshot) Kind() string      { return "snapshot" }
func (*Patch) Kind() string         { return "patch" }
func (*AgentMention) Kind() string  { return "agent" }
func (*Subtask) Kind() string       { return "subtask" }
func (*Compaction) Kind() string    { return "compaction" }
func (*Retry) Kind() string         { return "retry" }
func (b *UnknownBody) Kind() string { return b.TypeName }

// Open reports whether the part's text still grows: its row then holds no text, the
// tails do.
func (p Part) Open() bool {
	switch b := p.Body.(type) {
	case *Text:
		return b.Time != nil && b.Time.End == 0
	case *Reasoning:
		return b.Time.End == 0
	default:
		return false
	}
}

// GrowingText returns the text of a text or reasoning part, "" of any other.
func (p Part) GrowingText() string {
	switch b := p.Body.(type) {
	case *Text:
		return b.Text
	case *Reasoning:
		return b.Text
	default:
		return ""
	}
}

// WithText returns the part with another text; parts that have none stay as they are.
func (p Part) WithText(text string) Part {
	switch b := p.Body.(type) {
	case *Text:
		t := *b
		t.Text = text
		p.Body = &t
	case *Reasoning:
		r := *b
		r.Text = text
		p.Body = &r
	default:
	}
	return p
}

func (p *Part) fields(c *codec) {
	kind := ""
	if !c.reading {
		kind = p.Body.Kind()
	}
	switch {
	case c.request: // most have no ids yet, and OpenCode takes none that is empty
		optStr(c, "id", &p.ID)
		optStr(c, "sessionID", &p.Session)
		optStr(c, "messageID", &p.Message)
	case !c.row:
		str(c, "id", &p.ID)
		str(c, "sessionID", &p.Session)
		str(c, "messageID", &p.Message)
	case c.attached:
		str(c, "id", &p.ID)
	}
	if !c.row || c.attached {
		str(c, "type", &kind)
	}
	if c.reading && p.Body == nil {
		if kind == "" {
			c.failAt("type", "the type of a part")
		}
		p.Body = newBody(kind)
		if _, file := p.Body.(*File); c.attached && !file { // so that calls do not nest without end
			p.Body = &UnknownBody{TypeName: kind}
		}
	}
	p.Body.fields(c)
}

// newBody returns the empty body of that type.
func newBody(kind string) Body {
	switch kind {
	case "text":
		return &Text{}
	case "reasoning":
		return &Reasoning{}
	case "file":
		return &File{}
	case "tool":
		return &ToolCall{}
	case "step-start":
		return &StepStart{}
	case "step-finish":
		return &StepFinish{}
	case "snapshot":
		return &Snapshot{}
	case "patch":
		return &Patch{}
	case "agent":
		return &AgentMention{}
	case "subtask":
		return &Subtask{}
	case "compaction":
		return &Compaction{}
	case "retry":
		return &Retry{}
	default:
		return &UnknownBody{TypeName: kind}
	}
}

func (b *Text) fields(c *codec) {
	str(c, "text", &b.Text)
	flag(c, "synthetic", &b.Synthetic)
	flag(c, "ignored", &b.Ignored)
	optObject(c, "time", &b.Time)
	raw(c, "metadata", &b.Metadata)
	c.rest(&b.Extra)
}

func (b *Reasoning) fields(c *codec) {
	str(c, "text", &b.Text)
	object(c, "time", &b.Time)
	raw(c, "metadata", &b.Metadata)
	c.rest(&b.Extra)
}

func (f *File) fields(c *codec) {
	str(c, "mime", &f.Mime)
	str(c, "url", &f.URL)
	optStr(c, "filename", &f.Filename)
	optObject(c, "source", &f.Source)
	c.rest(&f.Extra)
}

func (t *ToolCall) fields(c *codec) {
	str(c, "callID", &t.CallID)
	str(c, "tool", &t.Tool)
	box := stateBox{state: t.State}
	object(c, "state", &box)
	if c.reading { // a writer may share the value with others
		t.State = box.state
	}
	if c.reading && t.State == nil {
		t.State = &Pending{}
	}
	raw(c, "metadata", &t.Metadata)
	c.rest(&t.Extra)
}

func (b *StepStart) fields(c *codec) {
	optStr(c, "snapshot", &b.Snapshot)
	c.rest(&b.Extra)
}

func (b *StepFinish) fields(c *codec) {
	str(c, "reason", &b.Reason)
	optStr(c, "snapshot", &b.Snapshot)
	money(c, "cost", &b.Cost)
	object(c, "tokens", &b.Tokens)
	c.rest(&b.Extra)
}

func (b *Snapshot) fields(c *codec) {
	str(c, "snapshot", &b.Snapshot)
	c.rest(&b.Extra)
}

func (p *Patch) fields(c *codec) {
	str(c, "hash", &p.Hash)
	strList(c, "files", &p.Files)
	c.rest(&p.Extra)
}

func (b *AgentMention) fields(c *codec) {
	str(c, "name", &b.Name)
	optObject(c, "source", &b.Source)
	c.rest(&b.Extra)
}

func (t *Subtask) fields(c *codec) {
	str(c, "prompt", &t.Prompt)
	str(c, "description", &t.Description)
	str(c, "agent", &t.Agent)
	optObject(c, "model", &t.Model)
	optStr(c, "command", &t.Command)
	c.rest(&t.Extra)
}

func (b *Compaction) fields(c *codec) {
	boolean(c, "auto", &b.Auto)
	flag(c, "overflow", &b.Overflow)
	optStr(c, "tail_start_id", &b.TailStart)
	c.rest(&b.Extra)
}

func (b *Retry) fields(c *codec) {
	integer(c, "attempt", &b.Attempt)
	optFault(c, "error", &b.Error)
	object(c, "time", &toolTime{created: &b.Created, extra: &b.TimeExtra})
	c.rest(&b.Extra)
}

func (b *UnknownBody) fields(c *codec) { c.rest(&b.Extra) }

func (s *Span) fields(c *codec) {
	number(c, "start", &s.Start)
	optNumber(c, "end", &s.End)
	c.rest(&s.Extra)
}

func (m *Mention) fields(c *codec) {
	str(c, "value", &m.Value)
	integer(c, "start", &m.Start)
	integer(c, "end", &m.End)
	c.rest(&m.Extra)
}

func (s *FileSource) fields(c *codec) {
	str(c, "type", &s.Type)
	object(c, "text", &s.Text)
	if c.reading || s.Type == "file" || s.Type == "symbol" { // a resource has none
		str(c, "path", &s.Path)
	} else {
		optStr(c, "path", &s.Path)
	}
	c.rest(&s.Extra)
}

// AppendJSON appends the part as the wire has it.
func (p Part) AppendJSON(dst []byte) []byte { return encode(dst, &p) }

// AppendRow appends the part as the store keeps it: no ids and no type, which have
// columns, so that a fork can copy the row as it is.
func (p Part) AppendRow(dst []byte) []byte { return encodeAs(dst, &p, form{row: true}) }

// ReadRow fills in the body from what AppendRow wrote. The ids are set before.
func (p *Part) ReadRow(kind string, data []byte) error {
	p.Body = newBody(kind)
	if err := decodeAs(data, "part", p, form{row: true}); err != nil {
		return err
	}
	if t, ok := p.Body.(*ToolCall); ok {
		if done, ok := t.State.(*Completed); ok {
			for i := range done.Attachments {
				done.Attachments[i].Session, done.Attachments[i].Message = p.Session, p.Message
			}
		}
	}
	return nil
}

// SameBody reports whether two parts say the same, whatever their ids.
func SameBody(a, b Part) bool {
	return a.Body.Kind() == b.Body.Kind() && bytes.Equal(a.AppendRow(nil), b.AppendRow(nil))
}
