package tui

import (
	"context"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

func (c *canned) ListWorktrees(context.Context, string) ([]api.Worktree, error) {
	return []api.Worktree{
		{Name: "parser", Branch: "lathe/parser", Session: sampleID, State: "ready", Changed: 2},
		{Name: "spare", Directory: "/trees/spare", State: "ready", Merged: true},
	}, nil
}

func (c *canned) ForkWorktree(_ context.Context, id lathe.SessionID, step int, name string) (api.Worktree, error) {
	return api.Worktree{Name: name}, c.did("forkworktree", id, step)
}

func (c *canned) StartWorktree(_ context.Context, _, name string) (api.Worktree, error) {
	return api.Worktree{Name: name, Session: sampleID}, c.did("worktree", "start", name)
}

func (c *canned) CompareWorktree(_ context.Context, _, name string) ([]lathe.FileDiff, error) {
	patch := "--- a/parse.go\n+++ b/parse.go\n@@ -1 +1 @@\n-old parser\n+new parser\n"
	return []lathe.FileDiff{{File: "parse.go", Status: "modified", Patch: patch, Additions: 1, Deletions: 1}}, c.did("worktree", "diff", name)
}

func (c *canned) ApplyWorktree(_ context.Context, _, name string, o api.WorktreeMerge) (api.WorktreeReport, error) {
	return api.WorktreeReport{
		Name: name, Session: o.Session, Changed: 2, Conflicts: []string{"lex.go"},
		Text: "Worktree parser: 2 changed files, 1 conflict.\n  modified  lex.go  CONFLICT: both changed the same lines\n",
	}, c.did("worktree", "merge", name, o.Session)
}

func (c *canned) DropWorktree(_ context.Context, _, name string, force bool) (string, error) {
	return "", c.did("worktree", "drop", name, force)
}

// A new worktree opens with its session. A merge becomes a step of the session on the screen, and its conflicts a prompt
// that the user may send.
func TestWorktree(t *testing.T) {
	onStage(t, sample(), Options{}, func(s *stage) {
		s.slash("worktree")
		s.sees("New worktree", "parser", "2 changed files", "spare", "merged")
		s.press("enter")
		s.typed("fix")
		s.press("enter")
		s.did("worktree start fix")
		s.sees("This session works in worktree fix")

		s.typed("/worktree merge parser")
		s.press("enter")
		s.did("worktree merge parser " + string(sampleID))
		s.sees("1 conflict", "lex.go", "/undo in this session reverts the merge")
		s.press("esc")
		if got, want := s.p.drafts.edit.Text(), "Resolve the conflicts of merging worktree parser: lex.go"; got != want {
			t.Errorf("proposes %q; want %q", got, want)
		}
	})
}

// Changes that are not merged are dropped only after a question whose answer is no unless the user moves.
func TestWorktree_Drop(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.typed("/worktree diff parser")
		s.press("enter")
		s.sees("parse.go", "new parser")
		s.press("esc")
		s.did("worktree diff parser")

		s.typed("/worktree drop parser")
		s.press("enter")
		s.sees("will be lost")
		s.press("enter")
		s.did()
		s.typed("/worktree drop spare")
		s.press("enter")
		s.did("worktree drop spare false")
		s.typed("/worktree merge nothing")
		s.press("enter")
		s.sees("No worktree is called nothing")
		s.typed("/worktree merge")
		s.press("enter")
		s.sees("Usage: /worktree")
		s.did()
	})
}
