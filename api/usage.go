package api

import "github.com/lathe-agent/lathe"

// SessionUsage says where the time and the money of a session went. Times are milliseconds, money is dollars.
type SessionUsage struct {
	Session lathe.SessionID `json:"sessionID"`
	Title   string          `json:"title"`
	From    lathe.Time      `json:"from"` // the first message
	To      lathe.Time      `json:"to"`   // the end of the last one

	Time      TimeUse    `json:"time"`
	Models    []CostLine `json:"models"`    // most expensive first, without subagents
	Subagents CostLine   `json:"subagents"` // of all sessions below this one

	Turns  []TurnUse `json:"turns"`  // oldest first
	Tools  []ToolUse `json:"tools"`  // most time first
	Events []Finding `json:"events"` // losses of time or money, largest first
}

// TimeUse is a time by what it was spent on. The parts are disjoint; calls at the same time count once.
type TimeUse struct {
	Model      int64 `json:"model"`      // answers of models
	Retries    int64 `json:"retries"`    // failed requests that were made again, and the pauses before
	Tools      int64 `json:"tools"`      // tool calls
	Waiting    int64 `json:"waiting"`    // calls that waited for an answer of the user
	Compaction int64 `json:"compaction"` // summaries of the history
	Idle       int64 `json:"idle"`       // between the end of an answer and the next prompt
}

// TurnUse is a prompt and the work on it.
type TurnUse struct {
	Message lathe.MessageID `json:"messageID"`
	Prompt  string          `json:"prompt"` // its first line
	At      lathe.Time      `json:"at"`
	Time    TimeUse         `json:"time"`
	Cost    float64         `json:"cost"`
	Steps   int             `json:"steps"`
	Calls   int             `json:"calls"`
	Failed  int             `json:"failed"` // calls
	Sent    int64           `json:"sent"`   // tokens, cached or not
	Cached  int64           `json:"cached"` // of them, read from the cache
}

// ToolUse is the calls of one tool.
type ToolUse struct {
	Name   string `json:"tool"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
	Time   int64  `json:"time"` // without waits; calls at the same time all count
	Bytes  int64  `json:"bytes"`
}

// Finding is something that a user may want to avoid.
type Finding struct {
	// Kind is failure (calls that failed the same way), cache-miss (a request without most of its cached history), result
	// (a large tool result), request (a failed request to a model), retry (requests that failed the same way and were made
	// again) or compaction.
	Kind    string          `json:"kind" enum:"failure,cache-miss,result,request,retry,compaction"`
	Message lathe.MessageID `json:"messageID"`      // of the last time
	Name    string          `json:"name,omitempty"` // the tool or the model
	Detail  string          `json:"detail,omitempty"`
	Count   int             `json:"count"`
	Bytes   int64           `json:"bytes,omitempty"`  // of a result
	Tokens  int64           `json:"tokens,omitempty"` // sent again without the cache
}
