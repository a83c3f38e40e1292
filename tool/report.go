package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Assignment is work for another agent.
type Assignment struct {
	Agent       string
	Description string // a few words for people
	Prompt      string // all that the agent sees
	Resume      lathe.SessionID
	Background  bool
	// Isolated says that the agent works in a worktree of its own.
	Isolated bool
	// Preapproved says that the user wants it: no permission is needed.
	Preapproved bool
}

// The states of a task.
const (
	TaskCompleted   = "completed"
	TaskRunning     = "running"     // in the background
	TaskAsks        = "question"    // it waits for an answer of its caller
	TaskPartial     = "partial"     // its steps are used up
	TaskFailed      = "error"       //
	TaskCanceled    = "cancelled"   // by a person
	TaskInterrupted = "interrupted" // its process ended
)

// Report is the result of an [Assignment].
type Report struct {
	Session  lathe.SessionID
	State    string
	Text     string // the agent's text, or the error
	Steps    int
	Tokens   int64
	Files    []string        // that it changed
	Metadata json.RawMessage // an object, for clients
}

// Failed reports whether the task did not come to its end.
func (r Report) Failed() bool {
	return r.State == TaskFailed || r.State == TaskCanceled || r.State == TaskInterrupted
}

// Envelope is the report as a model reads it. What the agent wrote cannot close it.
func (r Report) Envelope() string {
	tag := "task_result"
	if r.Failed() {
		tag = "task_error"
	} else if r.State == TaskAsks {
		tag = "task_question"
	}
	text := strings.ReplaceAll(strings.TrimSpace(r.Text), "</task", "<\\/task")
	return fmt.Sprintf("<task id=%q state=%q>\n<%s>\n%s\n</%s>\n%s</task>", r.Session, r.State, tag, text, tag, r.footer())
}

// footer says what the task took and changed.
func (r Report) footer() string {
	if r.Steps == 0 && r.Tokens == 0 && len(r.Files) == 0 {
		return ""
	}
	line := fmt.Sprintf("%d steps, %d tokens", r.Steps, r.Tokens)
	if r.Steps == 1 {
		line = fmt.Sprintf("1 step, %d tokens", r.Tokens)
	}
	if len(r.Files) > 0 {
		line += ", changed " + strings.Join(r.Files, ", ")
	}
	return line + "\n"
}
