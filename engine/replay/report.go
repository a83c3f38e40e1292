package replay

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Report is the result of a replay.
type Report struct {
	Session lathe.SessionID `json:"session,omitempty"` // "" of a recording
	From    int             `json:"from"`
	To      int             `json:"to"`
	Calls   []CallReport    `json:"calls"`
	// Unknown are files whose content at the first step is not stored.
	Unknown []string `json:"unknown,omitempty"`
	Counts  `json:"counts"`
}

// Counts are calls by outcome.
type Counts struct {
	Same       int `json:"same"`
	Alike      int `json:"alike"`
	Differs    int `json:"differs"`
	FromRecord int `json:"fromRecord"`
}

// CallReport is the result of one call.
type CallReport struct {
	Step    int         `json:"step"`
	Tool    string      `json:"tool"`
	Subject string      `json:"subject,omitempty"`
	Outcome Outcome     `json:"outcome"`
	Why     string      `json:"why,omitempty"` // of one from the record, or a possible reason
	Diff    *Difference `json:"difference,omitempty"`
}

// Add adds a call.
func (r *Report) Add(c CallReport) {
	r.Calls = append(r.Calls, c)
	switch c.Outcome {
	case Same:
		r.Same++
	case Alike:
		r.Alike++
	case Differs:
		r.Differs++
	case FromRecord:
		r.FromRecord++
	}
}

// Subject is what a call is about, in one line.
func Subject(input json.RawMessage) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	for _, name := range []string{"command", "filePath", "pattern", "url", "query", "description", "name"} {
		var text string
		if json.Unmarshal(in[name], &text) == nil && text != "" {
			return clip(strings.Join(strings.Fields(text), " "))
		}
	}
	return ""
}

// Summary counts the calls in one line.
func (r *Report) Summary() string {
	return fmt.Sprintf("steps %d to %d: %d same, %d alike, %d differ, %d from the record", r.From, r.To, r.Same, r.Alike, r.Differs, r.FromRecord)
}
