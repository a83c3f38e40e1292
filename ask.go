package lathe

import (
	"encoding/json"
	"strings"
)

// PermissionRequest asks a person whether a call may continue.
type PermissionRequest struct {
	ID         AskID
	Session    SessionID
	Permission string
	Patterns   []string
	Metadata   json.RawMessage
	Always     []string // patterns that "always" would allow
	Tool       *ToolRef
	Extra      Extra
}

// Summary describes the call in one line: for a command its text and the extra patterns it
// needs (<option> …, <unknown command>), for other tools the patterns.
func (r PermissionRequest) Summary() string {
	var meta struct{ Command string }
	if r.Permission != "bash" || json.Unmarshal(r.Metadata, &meta) != nil || strings.TrimSpace(meta.Command) == "" {
		return strings.Join(r.Patterns, " ")
	}
	out := strings.ReplaceAll(strings.TrimSpace(meta.Command), "\n", " ↵ ")
	for _, pattern := range r.Patterns {
		if strings.HasPrefix(pattern, "<") {
			out += " " + pattern
		}
	}
	return out
}

// QuestionRequest asks a person something the model wants to know.
type QuestionRequest struct {
	ID        AskID
	Session   SessionID
	Questions []Question
	Tool      *ToolRef
	Extra     Extra
}

// ToolRef names the call that asks.
type ToolRef struct {
	Message MessageID
	Call    string
	Extra   Extra
}

// Question is one question with its choices. Custom answers are allowed unless No.
type Question struct {
	Question, Header string
	Options          []Option
	Multiple, Custom Flag
	Extra            Extra
}

// Option is one choice of a question.
type Option struct {
	Label, Description string
	Extra              Extra
}

// Reply is a person's word on a permission.
type Reply string

// The replies to a permission request.
const (
	Once   Reply = "once"
	Always Reply = "always"
	Reject Reply = "reject"

	// Unattended rejects because no user can answer: the call fails and the turn continues. On
	// the wire and in events it is a reject.
	Unattended Reply = "unattended"
)

// UnattendedHeader is the HTTP header that makes a reject an [Unattended] one.
const UnattendedHeader = "X-Lathe-Unattended"

func (r *PermissionRequest) fields(c *codec) {
	str(c, "id", &r.ID)
	str(c, "sessionID", &r.Session)
	str(c, "permission", &r.Permission)
	strList(c, "patterns", &r.Patterns)
	rawObject(c, "metadata", &r.Metadata)
	strList(c, "always", &r.Always)
	optObject(c, "tool", &r.Tool)
	c.rest(&r.Extra)
}

func (r *QuestionRequest) fields(c *codec) {
	str(c, "id", &r.ID)
	str(c, "sessionID", &r.Session)
	list(c, "questions", &r.Questions)
	optObject(c, "tool", &r.Tool)
	c.rest(&r.Extra)
}

func (t *ToolRef) fields(c *codec) {
	str(c, "messageID", &t.Message)
	str(c, "callID", &t.Call)
	c.rest(&t.Extra)
}

func (q *Question) fields(c *codec) {
	str(c, "question", &q.Question)
	str(c, "header", &q.Header)
	list(c, "options", &q.Options)
	flag(c, "multiple", &q.Multiple)
	flag(c, "custom", &q.Custom)
	c.rest(&q.Extra)
}

func (o *Option) fields(c *codec) {
	str(c, "label", &o.Label)
	str(c, "description", &o.Description)
	c.rest(&o.Extra)
}
