package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
)

// End is why a run ended.
type End string

// The ends of a run. After Done and the limits the check has decided. The others say nothing about the model, so that
// the run is repeated when the eval continues.
const (
	Done        End = "done"
	ByBudget    End = "budget"
	ByTokens    End = "tokens"
	BySteps     End = "steps"
	ByTimeout   End = "timeout"
	Failed      End = "error"       // of the model, the network, or the copy of the project
	Interrupted End = "interrupted" // by a signal, or the end of the process
	Stopped     End = "stopped"     // by the budget of the whole eval
)

// Result is one line of a result file.
type Result struct {
	Key     string          `json:"key"`
	Case    string          `json:"case,omitempty"`
	Model   string          `json:"model,omitempty"` // as it is shown
	Run     int             `json:"run,omitempty"`
	Session lathe.SessionID `json:"session,omitempty"` // has the conversation
	At      time.Time       `json:"at,omitzero"`       // when it ended

	Began bool `json:"began,omitempty"` // the line only says that the run began
	Fresh bool `json:"fresh,omitempty"` // results before the line do not count

	End     End      `json:"end,omitempty"`
	Passed  bool     `json:"passed,omitempty"`  // by the check
	Exit    *int     `json:"exit,omitempty"`    // of the check; absent if it did not run
	Changed []string `json:"changed,omitempty"` // files of the check that the agent changed
	Output  string   `json:"output,omitempty"`  // the end of the output of a check that failed
	Error   string   `json:"error,omitempty"`   // why it says nothing about the model
	Effort
}

// Effort is what a run used and changed.
type Effort struct {
	Steps     int64   `json:"steps"` // model requests, subagents included
	Tokens    int64   `json:"tokens"`
	Cost      float64 `json:"cost"`
	Seconds   float64 `json:"seconds"` // with the copy and the check
	Files     int     `json:"files"`   // that the agent changed
	Additions int     `json:"additions"`
	Deletions int     `json:"deletions"`
}

// Counts reports whether the result says something about the model.
func (r Result) Counts() bool {
	return slices.Contains([]End{Done, ByBudget, ByTokens, BySteps, ByTimeout}, r.End)
}

// The limits of a result file.
const (
	MaxResults = 256 << 20 // bytes
	maxLine    = 1 << 20   // bytes of a result
	maxOutput  = 4000      // bytes of a text in it
)

// Line is the result as a line of a result file.
func (r Result) Line() []byte {
	if len(r.Output) > maxOutput {
		r.Output = r.Output[len(r.Output)-maxOutput:]
	}
	if len(r.Error) > maxOutput {
		r.Error = r.Error[:maxOutput]
	}
	b, _ := json.Marshal(r) // it has only texts and numbers
	return append(b, '\n')
}

// Results are the lines of a result file.
type Results struct {
	All  []Result // in the order of the file
	Size int64    // up to the end of the last whole line: a line after it was cut off
}

// ReadResults reads a result file, which may come from a stranger. A last line that was cut off is left out.
func ReadResults(name string, data []byte) (Results, error) {
	var out Results
	bad := func(n int, why string) error {
		return lathe.Errorf(lathe.Invalid, "%s:%d: %s; it is not a result file of lathe eval", name, n, why)
	}
	for n := 1; len(data) > 0; n++ {
		end := bytes.IndexByte(data, '\n')
		if end < 0 { // the process was killed while it wrote the line
			if n == 1 && data[0] != '{' {
				return out, bad(n, "the line is not a result")
			}
			break
		}
		line := bytes.TrimSpace(data[:end])
		data, out.Size = data[end+1:], out.Size+int64(end)+1
		if len(line) == 0 {
			continue
		}
		var r Result
		if len(line) > maxLine {
			return out, bad(n, "the line is too long")
		}
		if json.Unmarshal(line, &r) != nil || r.Key == "" {
			return out, bad(n, "the line is not a result")
		}
		if why := r.wrong(); why != "" {
			return out, bad(n, why)
		}
		if out.All = append(out.All, r); r.Fresh {
			out.All = nil
		}
	}
	return out, nil
}

// wrong says which value cannot be that of a run.
func (r Result) wrong() string {
	for _, x := range []float64{float64(r.Steps), float64(r.Tokens), r.Cost, r.Seconds, float64(r.Files), float64(r.Additions), float64(r.Deletions), float64(r.Run)} {
		if math.IsNaN(x) || x < 0 || x > 1e15 {
			return "a number is out of range"
		}
	}
	switch {
	case len(r.Key) > 100 || len(r.Case) > maxName || len(r.Model) > 2*maxName || len(r.Session) > 100:
		return "a name is too long"
	case !r.Began && !r.Fresh && !r.Counts() && r.End != Failed && r.End != Interrupted && r.End != Stopped:
		return fmt.Sprintf("the end %.20q is not known", string(r.End))
	}
	return ""
}

// Kept are the results of a plan: the last of each run that counts.
func (r Results) Kept(plan []Run) map[string]Result {
	wanted := map[string]bool{}
	for _, p := range plan {
		wanted[p.Key] = true
	}
	out := map[string]Result{}
	for _, one := range r.All {
		if wanted[one.Key] && !one.Began && one.Counts() {
			out[one.Key] = one
		}
	}
	return out
}

// Cut are the runs that began and have no result: their process was killed.
func (r Results) Cut() (out []Result) {
	open := map[string]Result{}
	for _, one := range r.All {
		if one.Began {
			open[one.Key] = one
		} else {
			delete(open, one.Key)
		}
	}
	for _, one := range r.All { // in the order of the file
		if o, ok := open[one.Key]; ok && one.Began && o.Session == one.Session {
			out = append(out, one)
			delete(open, one.Key)
		}
	}
	return out
}

// Cost is what all runs of a plan have cost, also those that do not count.
func (r Results) Cost(plan []Run) (sum float64) {
	wanted := map[string]bool{}
	for _, p := range plan {
		wanted[p.Key] = true
	}
	for _, one := range r.All {
		if wanted[one.Key] {
			sum += one.Cost
		}
	}
	return sum
}
