// Package until decides when a run of prompts is done: a command of the user's passes, the same failure comes again and
// again, or the tries are used up. It also names the files that decide the result of the command.
//
// It has no effects. The state of a run is in the metadata of its prompts, so that a run continues after a crash with
// nothing but the session. Package engine runs the command. Start at Decide, then StateOf.
package until

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// DefaultTries and MaxTries limit how often the command runs.
const (
	DefaultTries = 10
	MaxTries     = 1000
)

// sameFailures is how often one failure may come before the run ends.
const sameFailures = 3

// Spec is what a run was begun with.
type Spec struct {
	Command string `json:"command"`
	Tries   int    `json:"tries"`
	Files   []File `json:"files,omitempty"` // that decide the result, as they were at the beginning
	// Scripts are named by those files. The work may be in them, so a change is only reported.
	Scripts []File `json:"scripts,omitempty"`
}

// File is a file that decides the result.
type File struct {
	Path string `json:"path"`          // absolute
	Sum  string `json:"sum,omitempty"` // of its content; "" if there is none
}

// Round is one run of the command.
type Round struct {
	Exit    int      `json:"exit"`
	Failure string   `json:"failure,omitempty"` // stands for the normalized output; "" if it passed
	Changed []string `json:"changed,omitempty"` // deciding files that differ from the beginning
}

// Passed reports whether the command passed, with the files that decide about it unchanged.
func (r Round) Passed() bool { return r.Exit == 0 && len(r.Changed) == 0 }

// NewRound is the result of a command. Output of the same failure may differ in times, paths and the like.
func NewRound(exit int, output string, changed []string) Round {
	r := Round{Exit: exit, Changed: changed}
	if !r.Passed() {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%s", exit, strings.Join(changed, "\n"), Normalize(output)))
		r.Failure = hex.EncodeToString(sum[:8])
	}
	return r
}

// Verdict is what follows a round.
type Verdict string

// The verdicts.
const (
	Passed     Verdict = "passed"
	Again      Verdict = "again"       // the model gets the output
	NoProgress Verdict = "no_progress" // the same failure came too often
	NoTries    Verdict = "no_tries"
)

// Decide says what follows the last of all rounds. Failures need not follow each other: a run that goes back and forth
// between two makes no progress either.
func Decide(s Spec, rounds []Round) Verdict {
	if len(rounds) == 0 {
		return Again
	}
	last, same := rounds[len(rounds)-1], 0
	for _, r := range rounds {
		if !r.Passed() && r.Failure == last.Failure {
			same++
		}
	}
	switch {
	case last.Passed():
		return Passed
	case same >= sameFailures:
		return NoProgress
	case len(rounds) >= s.Tries:
		return NoTries
	default:
		return Again
	}
}

// mark is the metadata of a prompt: the first has Begin, those that report a failure have Round.
type mark struct {
	Begin *Spec  `json:"begin,omitempty"`
	Round *Round `json:"round,omitempty"`
}

// WithBegin notes in the metadata of a prompt that it begins a run.
func WithBegin(meta json.RawMessage, s Spec) json.RawMessage { return withMark(meta, mark{Begin: &s}) }

func withMark(meta json.RawMessage, m mark) json.RawMessage {
	raw, err := json.Marshal(m)
	if err != nil {
		return meta
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal(meta, &all) // a value that is no object has no keys
	return history.WithMember(meta, "lathe", history.WithMember(all["lathe"], "until", raw))
}

func markOf(m *lathe.Message) (out mark) {
	for _, p := range m.Parts {
		t, ok := p.Body.(*lathe.Text)
		if !ok || !bytes.Contains(t.Metadata, []byte(`"until"`)) {
			continue
		}
		var all struct {
			Lathe struct {
				Until mark `json:"until"`
			} `json:"lathe"`
		}
		if json.Unmarshal(t.Metadata, &all) == nil && (all.Lathe.Until.Begin != nil || all.Lathe.Until.Round != nil) {
			return all.Lathe.Until
		}
	}
	return mark{}
}

// State is a run as the prompts of a session have it.
type State struct {
	Spec   Spec
	Rounds []Round
	// Last says that the newest prompt of the user belongs to the run.
	Last bool
}

// StateOf finds the newest run of a session. ok is false if it has none.
func StateOf(messages []lathe.Message) (s State, ok bool) {
	for i := range messages {
		m := &messages[i]
		if _, user := m.Data.(*lathe.User); !user || history.IsSynthetic(m.Parts) {
			continue
		}
		switch mark := markOf(m); {
		case mark.Begin != nil:
			s, ok = State{Spec: mark.Begin.bound(), Last: true}, true
		case mark.Round != nil && ok:
			s.Rounds, s.Last = append(s.Rounds, *mark.Round), true
		default:
			s.Last = false
		}
	}
	return s, ok
}

// bound limits a spec that another program may have written.
func (s Spec) bound() Spec {
	s.Tries = min(max(s.Tries, 1), MaxTries)
	s.Files = s.Files[:min(len(s.Files), maxFiles)]
	s.Scripts = s.Scripts[:min(len(s.Scripts), MaxScripts)]
	return s
}

// Changed lists the files that are not as they were, in order.
func Changed(were, now []File) (out []string) {
	for _, f := range were {
		if !slices.Contains(now, f) {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxOutput is how much of the output a prompt has, in bytes.
const maxOutput = 8000

// Next is the prompt after a failed round; n counts the rounds from 1.
func Next(s Spec, r Round, n int, output string) lathe.Part {
	var b strings.Builder
	switch {
	case r.Exit == 0:
		fmt.Fprintf(&b, "The check passed, but it does not count (run %d of %d).", n, s.Tries)
	case r.Exit < 0:
		fmt.Fprintf(&b, "The check failed: it was ended before it was done (run %d of %d).", n, s.Tries)
	default:
		fmt.Fprintf(&b, "The check failed with exit code %d (run %d of %d).", r.Exit, n, s.Tries)
	}
	fmt.Fprintf(&b, " This command decides when your task is done:\n\n%s\n\n", indent(s.Command))
	if len(r.Changed) > 0 {
		fmt.Fprintf(&b, "These files decide its result, and were changed since the run began:\n\n%s\n\nRestore them. The check does not count while they differ.\n\n", indent(strings.Join(r.Changed, "\n")))
	}
	if r.Exit != 0 {
		b.WriteString("Fix the cause of the failure, not the check. lathe runs it again when you end your turn.\n\n")
	}
	if text := Tail(output, maxOutput); text == "" {
		b.WriteString("The check printed nothing.")
	} else {
		fence := fenceFor(text)
		fmt.Fprintf(&b, "The end of its output:\n\n%s\n%s\n%s", fence, text, fence)
	}
	return lathe.Part{Body: &lathe.Text{Text: b.String(), Metadata: withMark(nil, mark{Round: &r})}}
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

// fenceFor is a fence that the text does not contain.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
