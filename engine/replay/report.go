package replay

import (
	"encoding/json"
	"fmt"
	"strconv"
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
	// Requests compares what the models were sent with what they would be sent today; nil of a recording.
	Requests *Requests `json:"requests,omitempty"`
	Counts   `json:"counts"`
}

// Counts are calls by outcome.
type Counts struct {
	Same       int `json:"same"`
	Alike      int `json:"alike"`
	Differs    int `json:"differs"`
	FromRecord int `json:"fromRecord"`
}

// Requests are the requests of the steps, by how they compare.
type Requests struct {
	Same   int   `json:"same"`             // byte-equal, but for headers, limits and cache marks
	Differ []int `json:"differ,omitempty"` // steps
	// Replaced are equal but for the system prompt, of which a session stores only the present one.
	Replaced int `json:"replaced,omitempty"`
	Unknown  int `json:"unknown,omitempty"` // of which nothing was kept
	// Versions are those that sent requests that differ, if they are not the present one.
	Versions []string `json:"versions,omitempty"`
}

// Summary describes the requests in one line.
func (r *Requests) Summary() string {
	out := fmt.Sprintf("requests: %d equal, %d differ", r.Same, len(r.Differ))
	if len(r.Differ) > 0 {
		const most = 10
		var steps []string
		for _, n := range r.Differ[:min(len(r.Differ), most)] {
			steps = append(steps, strconv.Itoa(n))
		}
		if len(r.Differ) > most {
			steps = append(steps, "…")
		}
		out += " (steps " + strings.Join(steps, ", ") + ")"
	}
	if r.Replaced > 0 {
		out += fmt.Sprintf(", %d equal but for a system prompt that was replaced", r.Replaced)
	}
	if r.Unknown > 0 {
		out += fmt.Sprintf(", %d not stored", r.Unknown)
	}
	if len(r.Versions) > 0 {
		out += "; sent by lathe " + strings.Join(r.Versions, ", ")
	}
	return out
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
