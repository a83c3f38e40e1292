// Package check reviews the work of a model without relying on its cooperation: the result of
// each call, and the turn before it ends.
//
// Everything is a pure function of the history and of [Input]. The engine records the findings.
// Start at Input.AtEnd and ResultChecker.Look.
package check

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// Check is a review that lathe makes itself, without relying on the model. Each is a pure
// function of the history. It acts by a line in the result of a call, or by words before the
// turn ends.
type Check string

// The checks, by the names the settings have.
const (
	Syntax      Check = "syntax"        // a file that was written can be parsed; see tool.Syntax
	Todos       Check = "todos"         // the list has open items at the end
	StaleTodos  Check = "stale_todos"   // much was done since the list was written
	Unverified  Check = "unverified"    // code changed and no command ran since
	EmptyDiff   Check = "empty_diff"    // work is said to be done and no file changed
	Checklist   Check = "checklist"     // files changed: the prompt again, and four questions
	Leftovers   Check = "leftovers"     // stray files, processes that still run
	TestMemory  Check = "test_memory"   // the project's test command is stored
	TestsEdited Check = "tests_edited"  // tests failed and only tests were changed
	Loop        Check = "loop"          // the same call with the same result, cycles, failing edits
	NoProgress  Check = "no_progress"   // many calls that brought nothing new
	Budget      Check = "budget"        // half and more of steps, money or time is used
	CutOff      Check = "cut_off"       // the answer was as long as it may be
	EmptyReply  Check = "empty_reply"   // neither words nor calls
	SaidNotDone Check = "said_not_done" // a call is announced and not made
	NewErrors   Check = "new_errors"    // a language server found errors after the last call; found by the engine
)

// Mode is the effect of a check that fires.
type Mode int

// The modes. The zero value is off.
const (
	Off  Mode = iota
	Show      // the user sees issues, the model does not
	Act       // the model sees issues
)

// Checks says what each check does; one that is not in it is off.
type Checks map[Check]Mode

// Defaults are the modes for interactive or headless sessions.
func Defaults(headless bool) Checks {
	c := Checks{
		Syntax: Act, Todos: Show, StaleTodos: Act, Leftovers: Show, TestMemory: Act, TestsEdited: Act,
		Loop: Act, CutOff: Act, EmptyReply: Act, NewErrors: Act,
	}
	if headless {
		for _, name := range All() {
			c[name] = Act
		}
	}
	return c
}

// All lists the checks in the order of their explanation.
func All() []Check {
	return []Check{
		Syntax, Todos, StaleTodos, Unverified, EmptyDiff, Checklist, Leftovers, TestMemory, TestsEdited,
		Loop, NoProgress, Budget, CutOff, EmptyReply, SaidNotDone, NewErrors,
	}
}

// With returns the checks with some switched on or off.
func (c Checks) With(switches map[string]bool) Checks {
	out := maps.Clone(c)
	if out == nil {
		out = Checks{}
	}
	for name, on := range switches {
		out[Check(name)] = Off
		if on {
			out[Check(name)] = Act
		}
	}
	return out
}

// MaxPrompts is how many prompts all checks together may add to a turn.
const MaxPrompts = 2

// Issue is the finding of a check: a fact, and advice to the model.
type Issue struct {
	Check  Check
	level  int // distinguishes several issues of one check; 0 if it has one
	Fact   string
	advice string
}

func (f Issue) Text() string {
	if f.advice == "" || strings.HasSuffix(f.Fact, "\n") {
		return f.Fact + f.advice
	}
	return f.Fact + " " + f.advice
}

// Input is the input of checks: the history, the config and the project.
type Input struct {
	Session   lathe.Session
	Messages  []*history.Message
	Checks    Checks
	Edits     bool          // files may be changed
	Tests     lathe.TestRun // the last of the project
	Read      *Reader
	IsDeleted func(file string) bool // it is no longer there
}

// Result is the demand of checks before a turn ends: a message to the model, which then
// continues, a message to the user, or the last step once more.
type Result struct {
	ToModel, ToUser []Issue
	Retry           bool
}

// IsEmpty reports whether the turn may end.
func (v Result) IsEmpty() bool { return !v.Retry && len(v.ToModel)+len(v.ToUser) == 0 }

// AtEnd checks a turn after its last answer. Later messages without a reply and shell commands
// of the user are not part of the turn.
func (s Input) AtEnd(asked *history.Message, answers []*history.Message) (out Result) {
	if len(s.Checks) == 0 || len(answers) == 0 || lastUserPrompt(s.Messages) != asked {
		return out
	}
	last := answers[len(answers)-1]
	if a := last.Data.(*lathe.Assistant); a.Structured != nil || a.Summary.On() {
		return out
	}
	t := s.turn()
	if t.wasRefused() {
		return out
	}
	say := t.prompts < MaxPrompts
	if isEmpty(last) {
		return s.checkEmpty(t, answers, say)
	}
	if f, ok := s.first(t, t.cutOff, t.saidNotDone); ok && say {
		return Result{ToModel: []Issue{f}}
	}
	if s.Session.Parent != "" || !s.Edits {
		return out // the parent checks a task, and an agent without write access leaves nothing
	}
	for _, f := range s.find(t) {
		switch {
		case t.fired[f.Check]:
		case s.Checks[f.Check] == Show:
			out.ToUser = append(out.ToUser, f)
		case s.Checks[f.Check] == Act && say:
			out.ToModel = append(out.ToModel, f)
		}
	}
	return out
}

// Issues are the findings of all checks for a whole turn, whether they are on or not.
func (s Input) Issues() []Issue { return s.find(s.turn()) }

func (s Input) find(t *turnView) (out []Issue) {
	for _, find := range []func(Input) (Issue, bool){t.todos, t.unverified, t.emptyDiff, t.checklist, t.leftovers} {
		if f, ok := find(s); ok {
			out = append(out, f)
		}
	}
	return out
}

// first is the finding of the first check that is on and has not fired.
func (s Input) first(t *turnView, finds ...func(Input) (Issue, bool)) (Issue, bool) {
	for _, find := range finds {
		if f, ok := find(s); ok && s.Checks[f.Check] == Act && !t.fired[f.Check] {
			return f, true
		}
	}
	return Issue{}, false
}

// Meta is the metadata of checks: on the part with their message, and on a call whose result
// has one of their lines. Levels are there where a check says several things.
type Meta struct {
	Checks []Check       `json:"checks"`
	Levels map[Check]int `json:"levels"`
}

// metaKey is the member of metadata that is not the wire's.
const metaKey = "lathe"

func MetaOf(meta json.RawMessage) Meta {
	var m struct {
		Lathe Meta `json:"lathe"`
	}
	if !bytes.Contains(meta, []byte(`"checks"`)) || json.Unmarshal(meta, &m) != nil {
		return Meta{}
	}
	return m.Lathe
}

// WithMeta notes in metadata which checks spoke.
func WithMeta(meta json.RawMessage, found ...Issue) json.RawMessage {
	said := MetaOf(meta)
	for _, f := range found {
		said.Checks = append(said.Checks, f.Check)
		if f.level > 0 {
			said.Levels = maps.Clone(said.Levels)
			if said.Levels == nil {
				said.Levels = map[Check]int{}
			}
			said.Levels[f.Check] = f.level
		}
	}
	var m map[string]json.RawMessage
	_ = json.Unmarshal(meta, &m) // a value that is no object has no keys
	ours := m[metaKey]
	if list, err := json.Marshal(said.Checks); err == nil {
		ours = history.WithMember(ours, "checks", list)
	}
	if list, err := json.Marshal(said.Levels); err == nil && len(said.Levels) > 0 {
		ours = history.WithMember(ours, "levels", list)
	}
	return history.WithMember(meta, metaKey, ours)
}

// isCheckPrompt reports whether a message was written by a check.
func isCheckPrompt(h *history.Message) bool {
	if _, ok := h.Data.(*lathe.User); !ok || !history.IsSynthetic(h.Parts) {
		return false
	}
	return slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
		text := p.Body.(*lathe.Text)
		return !text.Ignored.On() && len(MetaOf(text.Metadata).Checks) > 0
	})
}

// CountIssues counts the issues in messages, by the names of checks.
func CountIssues(messages []lathe.Message) map[Check]int {
	out := map[Check]int{}
	for _, m := range messages {
		for _, p := range m.Parts {
			var names []Check
			switch b := p.Body.(type) {
			case *lathe.Text:
				names = MetaOf(b.Metadata).Checks
			case *lathe.ToolCall:
				names = MetaOf(history.MetadataOf(b.State)).Checks
			default:
			}
			for _, name := range names {
				out[name]++
			}
		}
	}
	return out
}

// lastUserPrompt is the newest prompt that is not one of ours that lets a compressed history continue.
func lastUserPrompt(messages []*history.Message) *history.Message {
	for {
		u := history.LastUser(messages)
		if u == nil || !history.IsSynthetic(u.Parts) || !history.HasMark(u.Parts[0].Body.(*lathe.Text).Metadata, history.ContinueMark) {
			return u
		}
		messages = messages[:slices.Index(messages, u)]
	}
}
