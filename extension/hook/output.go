package hook

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// blockExit is the exit code by which a hook refuses.
const blockExit = 2

// maxText is how much of a reason or context reaches the model.
const maxText = 32 << 10

// answer is how one hook ended.
type answer struct {
	command        string // for people
	exit           int
	stdout, stderr string
	problem        string // why it has no exit code
}

// outcome is the merged answer of all hooks of an event.
type outcome struct {
	// action is deny if a hook refused, else ask, else allow; "" if none decided.
	action     lathe.Action
	reason     string
	input      json.RawMessage // of the last hook that changed it
	context    []string
	halt       bool // the turn ends
	haltReason string
	messages   []string // for the user
	notes      []string // about hooks that failed, for the user
}

// contextText is the text for the model, bounded because it stays in the conversation.
func (o outcome) contextText() string {
	return phrase.Shorten(strings.Join(o.context, "\n\n"), maxText)
}

// merge makes one outcome of all answers. A refusal counts before a question, and a question before an allow, whatever
// their order; reasons and texts stay in the order of the config.
func merge(event string, answers []answer) (out outcome) {
	reasons := map[lathe.Action][]string{}
	for _, a := range answers {
		said, err := a.read(event)
		if err != nil {
			out.notes = append(out.notes, fmt.Sprintf("%s hook failed: %s (%s)", event, err, a.command))
			continue
		}
		if stricter(said.action, out.action) {
			out.action = said.action
		}
		if said.reason != "" {
			reasons[said.action] = append(reasons[said.action], said.reason)
		}
		if said.input != nil {
			out.input = said.input
		}
		if said.halt {
			out.halt = true
			out.haltReason = strings.TrimSpace(out.haltReason + " " + said.haltReason)
		}
		out.context = append(out.context, said.context...)
		out.messages = append(out.messages, said.messages...)
	}
	out.reason = phrase.Shorten(strings.Join(reasons[out.action], "\n"), maxText)
	return out
}

// stricter orders decisions, so that the order of hooks does not matter.
func stricter(a, b lathe.Action) bool {
	rank := map[lathe.Action]int{lathe.Allow: 1, lathe.Ask: 2, lathe.Deny: 3}
	return rank[a] > rank[b]
}

// read returns what one hook said.
func (a answer) read(event string) (outcome, error) {
	text := strings.TrimSpace(a.stdout)
	switch {
	case a.problem != "":
		return outcome{}, fmt.Errorf("%s", a.problem)
	case a.exit == blockExit:
		return outcome{action: lathe.Deny, reason: a.blockReason(event)}, nil
	case a.exit != 0:
		why := phrase.Shorten(strings.TrimSpace(a.stderr), 300)
		if why == "" {
			why = "no error message"
		}
		return outcome{}, fmt.Errorf("exit code %d: %s", a.exit, why)
	case strings.HasPrefix(text, "{"):
		return readJSON(event, text)
	case text != "" && (event == userPromptSubmit || event == sessionStart):
		return outcome{context: []string{text}}, nil
	}
	return outcome{}, nil
}

// blockReason is the reason of a hook that exits with 2: its error output.
func (a answer) blockReason(event string) string {
	if text := strings.TrimSpace(a.stderr); text != "" {
		return text
	}
	return fmt.Sprintf("The %s hook %q exited with code 2 and printed no reason.", event, a.command)
}

// hookOutput is the JSON that a hook may print.
type hookOutput struct {
	Continue       *bool  `json:"continue"`
	StopReason     string `json:"stopReason"`
	SuppressOutput bool   `json:"suppressOutput"` // nothing of it is shown anyway
	SystemMessage  string `json:"systemMessage"`
	Decision       string `json:"decision"`
	Reason         string `json:"reason"`
	Specific       struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Input    json.RawMessage `json:"updatedInput"`
		Context  string          `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// readJSON reads an answer in JSON. Unknown members are ignored, because hooks are written for newer versions of Claude
// Code too; known members of another kind are an error, because the hook meant something by them.
func readJSON(event, text string) (out outcome, err error) {
	var said hookOutput
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return out, fmt.Errorf("its output begins like JSON and is not a valid answer: %w", err)
	}
	if own := said.Specific.Event; own != "" && own != event {
		return out, fmt.Errorf("its output is for the event %s", phrase.Shorten(own, 40))
	}
	if said.Continue != nil && !*said.Continue {
		out.halt, out.haltReason = true, said.StopReason
		if out.haltReason == "" {
			out.haltReason = "The hook gave no reason."
		}
	}
	if said.SystemMessage != "" {
		out.messages = []string{phrase.Shorten(said.SystemMessage, 2000)}
	}
	if said.Specific.Context != "" {
		out.context = []string{said.Specific.Context}
	}
	if err := out.decide(event, said); err != nil {
		return outcome{}, err
	}
	if input := said.Specific.Input; len(input) > 0 && string(input) != "null" {
		if event != preToolUse || input[0] != '{' {
			return outcome{}, fmt.Errorf("updatedInput must be an object, and only PreToolUse has it")
		}
		out.input = input
	}
	return out, nil
}

// decide reads the decision, which has an old form and, for PreToolUse, a new one.
func (o *outcome) decide(event string, said hookOutput) error {
	decision, reason := said.Decision, said.Reason
	if event == preToolUse && said.Specific.Decision != "" {
		decision, reason = said.Specific.Decision, said.Specific.Reason
	}
	switch decision {
	case "", "defer":
		return nil
	case "block", "deny":
		o.action = lathe.Deny
		if o.reason = reason; reason == "" {
			o.reason = "The hook gave no reason."
		}
		return nil
	case "approve", "allow", "ask":
		if event != preToolUse { // nothing to allow
			return nil
		}
		o.action, o.reason = lathe.Allow, reason
		if decision == "ask" {
			o.action = lathe.Ask
		}
		return nil
	default:
		return fmt.Errorf("its decision %q is not known", phrase.Shorten(decision, 40))
	}
}
