package lathe

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Session is a durable conversation about one directory.
type Session struct {
	ID         SessionID
	Slug       string
	Project    string
	Workspace  WorkspaceID
	Directory  string
	Path       *string // directory relative to the worktree, "" at its top
	Parent     SessionID
	Title      string
	Version    string
	Created    Time
	Updated    Time
	Compacting Time
	Archived   *Time // negative values exist
	Summary    *SessionSummary
	Share      *Share
	Rules      Ruleset
	Revert     *Revert
	Cost       *Money
	Tokens     *Tokens
	Agent      string
	Model      *SessionModel
	Metadata   json.RawMessage
	TimeExtra  Extra
	Extra      Extra
}

// SessionSummary is what the session changed in its project.
type SessionSummary struct {
	Additions, Deletions, Files int
	Diffs                       []FileDiff
	Extra                       Extra
}

// Share is where a session can be read by others.
type Share struct {
	URL   string
	Extra Extra
}

// Revert marks the point from which on the session is undone but not yet cut off.
type Revert struct {
	Message        MessageID
	Part           PartID
	Snapshot, Diff string
	Extra          Extra
}

// SessionModel is a [ModelRef] the way a session record spells it.
type SessionModel struct {
	ID, Provider, Variant string
	Extra                 Extra
}

func (s *Session) fields(c *codec) {
	str(c, "id", &s.ID)
	str(c, "slug", &s.Slug)
	str(c, "projectID", &s.Project)
	optStr(c, "workspaceID", &s.Workspace)
	str(c, "directory", &s.Directory)
	optional(c, "path", &s.Path, str)
	optStr(c, "parentID", &s.Parent)
	optObject(c, "summary", &s.Summary)
	optional(c, "cost", &s.Cost, money)
	optObject(c, "tokens", &s.Tokens)
	optObject(c, "share", &s.Share)
	str(c, "title", &s.Title)
	optStr(c, "agent", &s.Agent)
	optObject(c, "model", &s.Model)
	str(c, "version", &s.Version)
	raw(c, "metadata", &s.Metadata)
	object(c, "time", (*sessionTime)(s))
	optList(c, "permission", (*[]Rule)(&s.Rules))
	optObject(c, "revert", &s.Revert)
	c.rest(&s.Extra)
}

type sessionTime Session

func (t *sessionTime) fields(c *codec) {
	number(c, "created", &t.Created)
	number(c, "updated", &t.Updated)
	optNumber(c, "compacting", &t.Compacting)
	optional(c, "archived", &t.Archived, number)
	c.rest(&t.TimeExtra)
}

func (s *SessionSummary) fields(c *codec) {
	integer(c, "additions", &s.Additions)
	integer(c, "deletions", &s.Deletions)
	integer(c, "files", &s.Files)
	optList(c, "diffs", &s.Diffs)
	c.rest(&s.Extra)
}

func (s *Share) fields(c *codec) {
	str(c, "url", &s.URL)
	c.rest(&s.Extra)
}

func (r *Revert) fields(c *codec) {
	str(c, "messageID", &r.Message)
	optStr(c, "partID", &r.Part)
	optStr(c, "snapshot", &r.Snapshot)
	optStr(c, "diff", &r.Diff)
	c.rest(&r.Extra)
}

func (m *SessionModel) fields(c *codec) {
	str(c, "id", &m.ID)
	str(c, "providerID", &m.Provider)
	optStr(c, "variant", &m.Variant)
	c.rest(&m.Extra)
}

// AppendJSON appends the session record as the wire has it.
func (s Session) AppendJSON(dst []byte) []byte { return encode(dst, &s) }

// Titles that a session has until a better one is known; clients recognize them.
const (
	rootTitle  = "New session - "
	childTitle = "Child session - "
)

// DefaultTitle is the title of an unnamed session.
func DefaultTitle(child bool, at Time) string {
	if child {
		return childTitle + at.ISO()
	}
	return rootTitle + at.ISO()
}

// IsDefaultTitle reports whether the session still has its default title: exactly one of the
// two words and a time.
func IsDefaultTitle(title string) bool {
	at, root := strings.CutPrefix(title, rootTitle)
	if !root {
		var child bool
		if at, child = strings.CutPrefix(title, childTitle); !child {
			return false
		}
	}
	const form = "0000-00-00T00:00:00.000Z" // a nought stands for any digit
	if len(at) != len(form) {
		return false
	}
	for i := range len(form) {
		if digit := at[i] >= '0' && at[i] <= '9'; digit != (form[i] == '0') || !digit && at[i] != form[i] {
			return false
		}
	}
	return true
}

// maxForkDigits bounds the number that is counted up: a longer one is part of the title.
const maxForkDigits = 15

// ForkTitle is the title of a fork: the original's with a number that counts up.
func ForkTitle(title string) string {
	n := int64(0)
	if i := strings.LastIndex(title, " (fork #"); i >= 0 && strings.HasSuffix(title, ")") {
		digits := title[i+len(" (fork #") : len(title)-1]
		if m, err := strconv.ParseUint(digits, 10, 63); err == nil && len(digits) <= maxForkDigits && digits[0] != '+' {
			title, n = title[:i], int64(m)
		}
	}
	return title + " (fork #" + strconv.FormatInt(n+1, 10) + ")"
}
