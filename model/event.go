package model

import "encoding/json"

// Event is a piece of an answer. Sealed. Texts, reasonings and tool inputs are blocks: each
// has a start, deltas and an end with the same id, and several may be open at once.
type Event interface{ event() }

type (
	// Start is the first event of an answer.
	Start struct {
		ID    string // the provider's, for its support
		Model string // which model answers, if it says so
	}
	// TextStart opens a block of text.
	TextStart struct{ ID string }
	// TextDelta extends it.
	TextDelta struct{ ID, Text string }
	// TextEnd closes it.
	TextEnd struct {
		ID   string
		Meta Meta
	}
	// ReasoningStart opens a block of reasoning.
	ReasoningStart struct {
		ID   string
		Meta Meta
	}
	// ReasoningDelta extends it.
	ReasoningDelta struct {
		ID, Text string
		Meta     Meta // replaces what came before, if not nil
	}
	// ReasoningEnd closes it.
	ReasoningEnd struct {
		ID   string
		Meta Meta
	}
	// InputStart opens the arguments of a tool call; ID is that of the call.
	InputStart struct {
		ID, Name string
		Executed bool
	}
	// InputDelta extends them; the text is a piece of JSON.
	InputDelta struct{ ID, Text string }
	// InputEnd closes them.
	InputEnd struct{ ID string }
	// ToolCall is a whole call. Input is the text the model wrote, which need not be JSON.
	ToolCall struct {
		ID, Name, Input string
		Executed        bool // the provider runs it itself
		Meta            Meta
	}
	// ToolResult is the result of a call that the provider ran itself.
	ToolResult struct {
		ID, Name string
		Output   json.RawMessage
		Failed   bool
		Meta     Meta
	}
	// Source is a citation of the answer.
	Source struct{ ID, URL, Title string }
	// UsageUpdate is the usage of the answer so far; the last one wins.
	UsageUpdate struct{ Usage Usage }
	// Finish is the last event of an answer that ended.
	Finish struct {
		Reason string // stop, length, tool-calls, content-filter, error or unknown
		Raw    string // the provider's own word
		Meta   Meta
	}
)

func (Start) event()          {}
func (TextStart) event()      {}
func (TextDelta) event()      {}
func (TextEnd) event()        {}
func (ReasoningStart) event() {}
func (ReasoningDelta) event() {}
func (ReasoningEnd) event()   {}
func (InputStart) event()     {}
func (InputDelta) event()     {}
func (InputEnd) event()       {}
func (ToolCall) event()       {}
func (ToolResult) event()     {}
func (Source) event()         {}
func (UsageUpdate) event()    {}
func (Finish) event()         {}

// Reasons an answer ends.
const (
	FinishStop    = "stop"
	FinishLength  = "length"
	FinishCalls   = "tool-calls"
	FinishFilter  = "content-filter"
	FinishError   = "error"
	FinishUnknown = "unknown"
)
