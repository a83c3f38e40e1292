package tui

import (
	"testing"

	"github.com/lathe-agent/lathe"
)

// rewindSample is a session with a command of a model that has hostile names, and with undone steps.
func rewindSample() *canned {
	c := sample()
	exit := 1
	c.steps = lathe.StepList{Total: 12, At: 11, Steps: []lathe.Step{
		{Number: 10, Prompt: "Fix the parser\x1b[31m", Files: []string{"parse.go", "evil\n\x1b[2J.go"}, Tools: []string{"edit"}, Cost: 0.012},
		{Number: 11, Commands: []lathe.StepCommand{{Command: "go test ./...", Exit: &exit, Tests: "failed"}}, Cost: 0.02},
		{Number: 12, Text: "Done.", Undone: true},
	}}
	c.undone.Files = []lathe.UndoneFile{
		{File: "parse.go", Action: "restore"},
		{File: "mine.go", Action: "restore", Conflict: "it changed after the step, so it stays as it is"},
	}
	return c
}

// A list of steps leads to a dry run, and that to the choice of what to rewind. Names of files cannot break the list.
func TestRewind(t *testing.T) {
	onStage(t, rewindSample(), inSample(), func(s *stage) {
		s.slash("rewind")
		s.did("steps " + string(sampleID) + " 0")
		s.sees("Rewind to the end of a step", "Earlier steps", "10  changed parse.go", "11  $ go test ./... (tests failed) · $0.02", "12  “Done.” · undone", "Redo everything")
		s.golden("rewind_steps")
		s.typed("go test")
		s.press("enter")
		s.sees("Rewind to step 11", "Files and conversation", "1 file restored, 1 changed by you stay", "Fork from here", "Fork into a worktree", "mine.go")
		s.golden("rewind_actions")
		s.typed("only files")
		s.press("enter")
		s.did("rewind ses_1 {11  false true}", "rewind ses_1 {11 code false false}")
		s.sees("Rewound to step 11")
	})
}

// Files that cannot be rewound are no choice, and the reason is shown.
func TestRewind_ConversationOnly(t *testing.T) {
	c := rewindSample()
	c.problem = "the snapshots of step 12 are deleted"
	onStage(t, c, inSample(), func(s *stage) {
		s.slash("rewind")
		s.typed("go test")
		s.press("enter")
		s.sees("Only conversation", "the snapshots of step 12 are deleted", "Fork from here")
		s.lacks("Files and conversation", "Only files", "Fork into a worktree")
	})
}

// A rewind of the files alone leaves no mark in the session, so the engine decides whether there is anything to redo.
func TestRedo_FilesAlone(t *testing.T) {
	c := rewindSample()
	onStage(t, c, inSample(), func(s *stage) {
		s.slash("redo")
		s.did("redo ses_1")
		s.sees("Redone; files changed: 1, left unchanged: 1")
		c.fails = map[string]error{"redo": lathe.Errorf(lathe.NotFound, "nothing is undone in ses_1")}
		s.slash("redo")
		s.sees("Nothing to redo")
	})
}
