// Package replay compares the tool results of a recorded session with those of the present tools. It finds the steps and
// calls of a history, decides which of them may run again, and describes where results differ.
//
// It has no effects: package engine runs the tools in a scratch copy of the project. Start at Steps, then Compare.
package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/until"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// Step is one answer of the model with its calls.
type Step struct {
	Number  int // from 1
	Message lathe.MessageID
	Index   int // of the message in the history
	Agent   string
	Model   lathe.ModelRef
	Calls   []Call
}

// Call is a recorded tool call.
type Call struct {
	ID       string
	Tool     string
	Input    json.RawMessage
	Recorded Result
	// Why says why the recorded result is used; "" lets the call run again.
	Why string
	// Kind is how far the call reaches. A call whose Why comes from its kind may run if that is opened: see [Call.Runs].
	Kind Kind
	// Overlaps says that another call of the step ran at the same time. A replay runs them one after the other.
	Overlaps bool

	start, end lathe.Time
}

// Result is the outcome of a call, as the model saw it.
type Result struct {
	Output string
	Failed bool // Output is the error
	Exit   *int // of a command
	Noted  bool // checks of lathe have added lines
	// TextOnly says that only Output is known: a provider does not tell the rest.
	TextOnly bool
}

// Steps lists the answers of a history that ended. Summaries of a compaction did nothing.
func Steps(messages []lathe.Message) (out []Step) {
	for i, m := range messages {
		a, ok := m.Data.(*lathe.Assistant)
		if !ok || a.Summary.On() || !hasStep(m.Parts) {
			continue
		}
		s := Step{Number: len(out) + 1, Message: m.ID, Index: i, Agent: a.Agent, Model: a.Model}
		for _, p := range m.Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok {
				s.Calls = append(s.Calls, callOf(c))
			}
		}
		s.markOverlaps()
		out = append(out, s)
	}
	return out
}

func (s *Step) markOverlaps() {
	for i := range s.Calls {
		c := &s.Calls[i]
		c.Overlaps = slices.ContainsFunc(s.Calls, func(o Call) bool { return o.ID != c.ID && o.start <= c.end && c.start <= o.end })
	}
}

func hasStep(parts []lathe.Part) bool {
	return slices.ContainsFunc(parts, func(p lathe.Part) bool { _, ok := p.Body.(*lathe.StepStart); return ok })
}

// callOf reads a recorded call.
func callOf(c *lathe.ToolCall) Call {
	out := Call{ID: c.CallID, Tool: c.Tool, Input: history.InputOf(c.State), Why: reason(c)}
	out.Kind = kindOf(c.Tool, out.Input)
	if out.Why == "" {
		out.Why = out.Kind.because(c.Tool)
	}
	meta := history.MetadataOf(c.State)
	var m struct {
		Exit  *int
		Lathe struct{ Checks []string }
	}
	_ = json.Unmarshal(meta, &m) // of any tool
	out.Recorded = Result{Exit: m.Exit, Noted: len(m.Lathe.Checks) > 0}
	switch s := c.State.(type) {
	case *lathe.Completed:
		out.Recorded.Output, out.start, out.end = s.Output, s.Start, s.End
	case *lathe.Failed:
		out.Recorded.Output, out.Recorded.Failed, out.start, out.end = s.Error, true, s.Start, s.End
	default:
	}
	return out
}

// reason says why a call does not run again.
func reason(c *lathe.ToolCall) string {
	meta := history.MetadataOf(c.State)
	switch s := c.State.(type) {
	case *lathe.Completed:
		if s.Compacted != 0 {
			return "its output is no longer stored"
		}
	case *lathe.Failed:
		for _, mark := range []string{history.RejectedMark, history.StoppedMark, history.UnattendedMark, history.InterruptedMark, history.RepeatedMark} {
			if history.HasMark(meta, mark) {
				return "it was not run to its end (" + mark + ")"
			}
		}
	default:
		return "it never ended"
	}
	if runsInBackground(history.InputOf(c.State)) {
		return "it ran in the background"
	}
	return ""
}

func runsInBackground(input json.RawMessage) bool {
	var in struct {
		Background bool `json:"run_in_background"`
	}
	_ = json.Unmarshal(input, &in) // of any tool
	return in.Background
}

// because says why calls of a kind do not run.
func (k Kind) because(tool string) string {
	switch k {
	case Local:
		return ""
	case Network:
		return "the command reaches the network"
	case Git:
		return "the command reaches a git remote"
	case Web, MCP, Closed:
		return tool + " reaches beyond the project"
	}
	return ""
}

// Runs reports whether a call runs again if some kinds are opened.
func (c Call) Runs(open []Kind) bool {
	return c.Why == "" || c.Kind != Local && c.Kind != Closed && c.Why == c.Kind.because(c.Tool) && slices.Contains(open, c.Kind)
}

// Range selects steps by number or message ID; "" is the first or the last.
func Range(steps []Step, from, to string) ([]Step, error) {
	if len(steps) == 0 {
		return nil, lathe.Errorf(lathe.NotFound, "nothing to replay: no model answered")
	}
	at := func(name string, missing int) (int, error) {
		if name == "" {
			return missing, nil
		}
		n, err := strconv.Atoi(name)
		i := slices.IndexFunc(steps, func(s Step) bool { return err == nil && s.Number == n || string(s.Message) == name })
		if i < 0 {
			return 0, lathe.Errorf(lathe.NotFound, "no step %.60q: choose one from 1 to %d", name, len(steps))
		}
		return i, nil
	}
	first, err := at(from, 0)
	if err != nil {
		return nil, err
	}
	last, err := at(to, len(steps)-1)
	if err != nil {
		return nil, err
	}
	if last < first {
		return nil, lathe.Errorf(lathe.Invalid, "step %d comes after step %d: the first step must not be after the last", steps[first].Number, steps[last].Number)
	}
	return steps[first : last+1], nil
}

// Outcome is how the result of a call compares with the recorded one.
type Outcome string

// The outcomes.
const (
	Same       Outcome = "same"
	Alike      Outcome = "alike" // same but for times, paths and the like
	Differs    Outcome = "differs"
	FromRecord Outcome = "from the record" // it did not run
)

// Difference is where two results differ.
type Difference struct {
	What     string `json:"what"` // result, exit code or line N
	Recorded string `json:"recorded"`
	Now      string `json:"now"`
}

// maxExcerpt is the length of a line in a difference, in bytes.
const maxExcerpt = 200

// Compare compares two results. The difference is nil unless they differ.
func Compare(recorded, now Result) (Outcome, *Difference) {
	kind := func(r Result) string { return map[bool]string{true: "an error", false: "a result"}[r.Failed] }
	exit := func(r Result) string {
		if r.Exit == nil {
			return "none"
		}
		return strconv.Itoa(*r.Exit)
	}
	if recorded.TextOnly {
		now.Failed, now.Exit = recorded.Failed, recorded.Exit
	}
	if recorded.Failed != now.Failed {
		return Differs, &Difference{"result", kind(recorded) + ": " + firstLine(recorded.Output), kind(now) + ": " + firstLine(now.Output)}
	}
	if exit(recorded) != exit(now) {
		return Differs, &Difference{"exit code", exit(recorded), exit(now)}
	}
	a, b := strings.TrimRight(recorded.Output, "\n"), strings.TrimRight(now.Output, "\n")
	switch {
	case a == b:
		return Same, nil
	case recorded.Noted && strings.HasPrefix(a, b):
		return Same, nil
	case until.Normalize(a) == until.Normalize(b):
		return Alike, nil
	}
	a, jobs := cutJobs(a)
	b, jobsNow := cutJobs(b)
	if until.Normalize(a) == until.Normalize(b) && (jobs == "" || jobs == jobsNow) {
		return Alike, nil
	}
	return Differs, firstDifference(a+jobs, b+jobsNow)
}

// processNumber is the number of a process in the list of those that a command left running.
var processNumber = phrase.Regexp(`(?m)^((?:\[\d+\])?\s*)\d+ `)

// cutJobs cuts off the list of processes that a command left running, without their numbers. Programs start some of their own
// in a new home, as go does for telemetry, so a list that the recorded result does not have is no difference.
func cutJobs(output string) (rest, jobs string) {
	const heading = "Still running in the background"
	i := strings.LastIndex(output, heading)
	if i < 0 || i > 0 && output[i-1] != '\n' {
		return output, ""
	}
	return strings.TrimRight(output[:i], "\n"), "\n" + processNumber().ReplaceAllString(output[i:], "${1}N ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return clip(line)
}

func clip(line string) string {
	if len(line) > maxExcerpt {
		line = strings.ToValidUTF8(line[:maxExcerpt], "") + "…"
	}
	return line
}

// firstDifference finds the first line that differs in more than times and paths.
func firstDifference(a, b string) *Difference {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	line := func(lines []string, i int) string {
		if i < len(lines) {
			return clip(lines[i])
		}
		return "(end)"
	}
	other := -1
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || until.Normalize(x[i]) != until.Normalize(y[i]) {
			other = i
			break
		}
	}
	if other < 0 { // the order of lines, or a line that reads alike
		other = 0
	}
	return &Difference{fmt.Sprintf("line %d", other+1), line(x, other), line(y, other)}
}

// Rebase replaces a directory by another in a text, where it stands as a whole name.
func Rebase(text, from, to string) string {
	if from == "" || from == "/" || from == to {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, from)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(from)
		b.WriteString(text[:i])
		if end == len(text) || !isNameByte(text[end]) {
			b.WriteString(to)
		} else {
			b.WriteString(from)
		}
		text = text[end:]
	}
}

// isNameByte reports whether a byte continues a file name.
func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
