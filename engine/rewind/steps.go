// Package rewind describes the steps of a session, and finds the messages that a rewind to one of them undoes. It is
// pure: package store reads the messages, workspace/snapshot moves the files, and the engine combines them.
//
// Start reading at [Describe] and [Find].
package rewind

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/undo"
)

// Limits of a described step: a list of a thousand stays small, whatever models and commands wrote.
const (
	maxLine  = 200 // bytes of a text or command
	maxItems = 100 // files, commands and tools of each
)

// Describe describes a step by its message. It has no number yet.
func Describe(m lathe.Message) lathe.Step {
	out := lathe.Step{
		Message: m.ID, Kind: lathe.ModelStep, Created: m.Created,
		Files: []string{}, Commands: []lathe.StepCommand{}, Tools: []string{},
	}
	a, ok := m.Data.(*lathe.Assistant)
	if !ok {
		return out
	}
	out.Model, out.Cost, out.Tokens = a.Model.Provider+"/"+a.Model.Model, a.Cost.Dollars(), lathe.TokensUsed(a.Tokens)
	if a.Summary.On() {
		out.Kind = lathe.CompactionStep
	}
	if a.Error != nil {
		out.Error = clip(lathe.FaultMessage(a.Error))
	}
	requested := false
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if out.Text == "" && !b.Synthetic.On() && !b.Ignored.On() {
				out.Text = clip(b.Text)
			}
		case *lathe.ToolCall:
			addCall(&out, b)
		case *lathe.Patch:
			out.Files = appendSome(out.Files, b.Files...)
		case *lathe.StepStart, *lathe.StepFinish:
			requested = true
		default:
		}
	}
	if !requested && out.Kind == lathe.ModelStep && len(out.Commands) == 1 && out.Tokens == 0 && out.Text == "" {
		out.Kind = lathe.ShellStep // no request was made for it
	}
	return out
}

// addCall adds a tool call to its step.
func addCall(to *lathe.Step, c *lathe.ToolCall) {
	if c.Tool != "bash" {
		to.Tools = appendSome(to.Tools, clip(c.Tool))
		return
	}
	var in struct{ Command string }
	var meta struct{ Exit *int }
	_ = json.Unmarshal(history.InputOf(c.State), &in) // a call with broken arguments has no command
	if json.Unmarshal(history.MetadataOf(c.State), &meta) != nil {
		meta.Exit = nil // it did not end, as far as we know
	}
	out := lathe.StepCommand{Command: clip(in.Command), Exit: meta.Exit}
	if check.RunsTests(in.Command) {
		out.Tests = outcomeOfTests(in.Command, meta.Exit)
	}
	to.Commands = appendSome(to.Commands, out)
}

// AddFiles adds the files that messages of a subagent changed, each once.
func AddFiles(to *lathe.Step, messages []lathe.Message) {
	for _, m := range messages {
		for _, p := range m.Parts {
			b, ok := p.Body.(*lathe.Patch)
			if !ok {
				continue
			}
			for _, f := range b.Files {
				if !slices.Contains(to.Files, f) {
					to.Files = appendSome(to.Files, f)
				}
			}
		}
	}
}

// outcomeOfTests says whether tests passed. The exit code of a line need not be that of its tests, as in a pipe; then it is
// unknown, which is better than a guess.
func outcomeOfTests(command string, exit *int) string {
	if exit == nil {
		return "unknown"
	}
	switch code := check.ExitOf(command, *exit, check.IsTest); {
	case code == 0:
		return "passed"
	case code > 0:
		return "failed"
	}
	return "unknown"
}

// appendSome appends items up to the limit; the rest is left out without a word, because a list only helps to choose.
func appendSome[T any](to []T, items ...T) []T {
	return append(to, items[:min(len(items), max(0, maxItems-len(to)))]...)
}

// PromptLine is the first line of a prompt that a user wrote, or "".
func PromptLine(m lathe.Message) string {
	if _, ok := m.Data.(*lathe.User); !ok || history.IsSynthetic(m.Parts) {
		return ""
	}
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Synthetic.On() && strings.TrimSpace(t.Text) != "" {
			return clip(t.Text)
		}
	}
	return ""
}

// clip returns the first line that has text, within the limit.
func clip(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.TrimSpace(text)
	if len(text) <= maxLine {
		return strings.ToValidUTF8(text, "�")
	}
	end := maxLine
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "�") + "…"
}

// Target is the place of a rewind in a history.
type Target struct {
	undo.Point // of the first message that is undone; without a message nothing is
	Step       int
	After      int // steps that are undone
}

// Find finds the place of a rewind to the end of a step. Step 0 is the beginning.
func Find(messages []*history.Message, step int) (Target, error) {
	total, from := 0, -1
	if step == 0 {
		from = 0
	}
	for i, h := range messages {
		if _, ok := h.Data.(*lathe.Assistant); !ok {
			continue
		}
		if total++; total == step {
			from = i + 1
		}
	}
	if from < 0 {
		return Target{}, lathe.Errorf(lathe.NotFound, "no step %d: the session has %d; `lathe session rewind` lists them", step, total)
	}
	t := Target{Point: undo.Point{From: from}, Step: step, After: total - step}
	if from < len(messages) {
		t.Message = messages[from].ID
	}
	return t, nil
}

// Numbers returns the numbers of the steps with these keys, which are message IDs, among the messages after a step, each
// once and in their order. A key that is not there is that of a subagent, and counts for the first of those steps.
func Numbers(messages []*history.Message, after int, keys []string) (numbers []int) {
	if len(keys) == 0 {
		return nil
	}
	wanted := make(map[lathe.MessageID]struct{}, len(keys))
	for _, k := range keys {
		wanted[lathe.MessageID(k)] = struct{}{}
	}
	n := after
	for _, h := range messages {
		if _, ok := h.Data.(*lathe.Assistant); !ok {
			continue
		}
		n++
		if _, ok := wanted[h.ID]; ok {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) < len(wanted) && (len(numbers) == 0 || numbers[0] != after+1) {
		numbers = slices.Insert(numbers, 0, after+1)
	}
	return numbers
}

// CutOff lists the steps with a command whose process died, so that nothing is known of what it changed. after is the number
// of the step before the messages.
func CutOff(messages []*history.Message, after int) (numbers []int) {
	for _, h := range messages {
		if _, ok := h.Data.(*lathe.Assistant); !ok {
			continue
		}
		after++
		if slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
			c, ok := p.Body.(*lathe.ToolCall)
			return ok && c.Tool == "bash" && history.HasMark(history.MetadataOf(c.State), history.InterruptedMark)
		}) {
			numbers = append(numbers, after)
		}
	}
	return numbers
}

// Ranges names steps, given in their order: "step 3", or "steps 1 to 4, 7".
func Ranges(steps []int) string {
	const most = 10 // a message stays readable; the JSON output of a dry run has all
	var out []string
	for i := 0; i < len(steps); {
		j := i + 1
		for j < len(steps) && steps[j] == steps[j-1]+1 {
			j++
		}
		switch {
		case len(out) == most:
			out = append(out, "…")
			j = len(steps)
		case j-i > 1:
			out = append(out, fmt.Sprintf("%d to %d", steps[i], steps[j-1]))
		default:
			out = append(out, strconv.Itoa(steps[i]))
		}
		i = j
	}
	if len(steps) == 1 {
		return "step " + out[0]
	}
	return "steps " + strings.Join(out, ", ")
}

// StepOf is how many steps come before a message; all of them if the message is not there.
func StepOf(messages []*history.Message, message lathe.MessageID) int {
	n := 0
	for _, h := range messages {
		if h.ID == message {
			return n
		}
		if _, ok := h.Data.(*lathe.Assistant); ok {
			n++
		}
	}
	return n
}
