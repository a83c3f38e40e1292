package lathe

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Step is one answer in a session: a request to a model with its tool calls, a shell command of the user, or a summary
// of the history. Steps are what a session can be rewound to.
type Step struct {
	Number   int           `json:"step" doc:"position among the steps of the session, from 1"`
	Message  MessageID     `json:"messageID"`
	Kind     StepKind      `json:"kind" enum:"model,shell,compaction"`
	Created  Time          `json:"created"`
	Prompt   string        `json:"prompt,omitempty" doc:"first line of the prompt, on the first step that answers it"`
	Text     string        `json:"text,omitempty" doc:"first line of the answer"`
	Model    string        `json:"model,omitempty"`
	Files    []string      `json:"files" doc:"files that the step changed, by commands too; absolute"`
	Commands []StepCommand `json:"commands"`
	Tools    []string      `json:"tools" doc:"other tools that the step called, in their order"`
	Cost     float64       `json:"cost" doc:"in dollars"`
	Tokens   int64         `json:"tokens"`
	Error    string        `json:"error,omitempty"`
	Undone   bool          `json:"undone,omitempty" doc:"hidden by an undo or a rewind, until the next prompt deletes it"`
}

// StepKind says what a step is.
type StepKind string

// The kinds of steps.
const (
	ModelStep      StepKind = "model"
	ShellStep      StepKind = "shell" // a command of the user
	CompactionStep StepKind = "compaction"
)

// StepCommand is a shell command of a step.
type StepCommand struct {
	Command string `json:"command"`
	Exit    *int   `json:"exit,omitempty" doc:"absent if it did not end"`
	Tests   string `json:"tests,omitempty" enum:"passed,failed,unknown" doc:"outcome of the tests it ran; absent if it ran none"`
}

// StepQuery selects steps: the newest ones before a number, at most Limit.
type StepQuery struct {
	Before int // 0 is the end
	Limit  int // 0 is DefaultSteps
}

// DefaultSteps and MaxSteps limit a list of steps.
const (
	DefaultSteps = 50
	MaxSteps     = 1000
)

// StepList is a part of a session's steps, oldest first.
type StepList struct {
	Total int    `json:"total" doc:"number of steps in the session"`
	At    int    `json:"at" doc:"step that the conversation is at; less than total after an undo or a rewind"`
	Steps []Step `json:"steps"`
	// Rewound counts files because those are at no step of their own: some may have been left alone.
	Rewound int `json:"rewoundFiles" doc:"files that an undo or a rewind changed, and that redo brings back"`
}

// RewindScope says what a rewind moves.
type RewindScope string

// The scopes of a rewind.
const (
	RewindBoth         RewindScope = "both"
	RewindCode         RewindScope = "code"
	RewindConversation RewindScope = "conversation"
)

// Rewind asks for a session to go back, or forward again, to the end of a step.
type Rewind struct {
	Step   int         `json:"step" doc:"everything after this step is undone; 0 undoes all"`
	Scope  RewindScope `json:"scope,omitempty" enum:"both,code,conversation" doc:"both without it"`
	Redo   bool        `json:"redo,omitempty" doc:"bring back everything that was undone; step and scope do not count"`
	DryRun bool        `json:"dryRun,omitempty" doc:"say what would be done, and do nothing"`
}

// Rewound is what a rewind did, or would do.
type Rewound struct {
	Step    int          `json:"step" doc:"step that the session is at"`
	Scope   RewindScope  `json:"scope" enum:"both,code,conversation"`
	DryRun  bool         `json:"dryRun"`
	Session Session      `json:"session"`
	Files   []UndoneFile `json:"files"`
	Undone  int          `json:"undone" doc:"steps after that one"`
	Pruned  []int        `json:"pruned,omitempty" doc:"undone steps whose snapshots are deleted, so that their files cannot be restored"`
	CutOff  []int        `json:"cutOff,omitempty" doc:"undone steps in which a command ended with its process: what it changed is not known, and stays"`
	Problem string       `json:"problem,omitempty" doc:"of a dry run: why files cannot be rewound; the conversation can"`
}

// Summary says in one line what the step did; dir shortens the names of files. Names and commands are as models wrote them:
// a caller removes control characters.
func (s Step) Summary(dir string) string {
	const most = 3
	var out []string
	switch s.Kind {
	case CompactionStep:
		out = append(out, "compaction")
	case ShellStep:
		out = append(out, "your command")
	case ModelStep:
	}
	if len(s.Files) > 0 {
		out = append(out, "changed "+joinSome(s.Files, most, func(f string) string { return shortPath(dir, f) }))
	}
	if len(s.Commands) > 0 {
		out = append(out, joinSome(s.Commands, most, StepCommand.summary))
	}
	if len(s.Tools) > 0 {
		out = append(out, joinSome(s.Tools, most, func(t string) string { return t }))
	}
	if len(out) == 0 && s.Text != "" {
		out = append(out, "“"+s.Text+"”")
	}
	if s.Error != "" {
		out = append(out, "error: "+s.Error)
	}
	if s.Cost > 0 {
		out = append(out, Dollars(s.Cost).Short())
	}
	if len(out) == 0 {
		return "no output"
	}
	return strings.Join(out, " · ")
}

// summary shows a command with its outcome, if that is not plain success: most commands succeed.
func (c StepCommand) summary() string {
	out := "$ " + c.Command
	switch {
	case c.Tests == "passed" || c.Tests == "failed":
		return out + " (tests " + c.Tests + ")"
	case c.Exit == nil:
		return out + " (did not end)"
	case *c.Exit != 0:
		return fmt.Sprintf("%s (exit %d)", out, *c.Exit)
	}
	return out
}

// joinSome joins the first items and counts the others, so that a step stays one line.
func joinSome[T any](items []T, most int, text func(T) string) string {
	var out []string
	for _, it := range items[:min(most, len(items))] {
		out = append(out, text(it))
	}
	if n := len(items) - most; n > 0 {
		out = append(out, fmt.Sprintf("+%d", n))
	}
	return strings.Join(out, ", ")
}

// shortPath shortens a path below a directory.
func shortPath(dir, file string) string {
	if rel, err := filepath.Rel(dir, filepath.FromSlash(file)); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}
