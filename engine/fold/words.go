package fold

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// ChildOf is the session that works for a call, "" if there is none.
func ChildOf(c *lathe.ToolCall) (id lathe.SessionID) {
	var meta struct {
		Session lathe.SessionID `json:"sessionId"`
	}
	if c.Tool == TaskName && json.Unmarshal(history.MetadataOf(c.State), &meta) == nil {
		id = meta.Session
	}
	return id
}

// ChildWords tell how to go on with a task that was cut off.
func ChildWords(c *lathe.ToolCall) string {
	if id := ChildOf(c); id != "" {
		return " (task_id " + string(id) + " goes on with what its agent has done)"
	}
	return ""
}

// AbortedText are the result of a call that was cut off.
func AbortedText(c *lathe.ToolCall) string { return "Tool execution aborted" + ChildWords(c) }

// TaskName is the tool that hands work to other agents.
const TaskName = "task"
