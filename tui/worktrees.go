package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/permit"
	"github.com/lathe-agent/lathe/tui/report"
	"github.com/lathe-agent/lathe/tui/review"
	"github.com/lathe-agent/lathe/tui/toast"
	"github.com/lathe-agent/lathe/tui/worktree"
)

// newWorktrees connects the controller of worktrees with the screen.
func newWorktrees(s *services, f *features, r *regions) *worktree.Controller {
	return &worktree.Controller{
		Keys: s.keys, State: s.state, Dir: s.dir, Now: s.now, Open: f.sessions.open, Leave: f.sessions.startNew, Review: r.reviewer.show,
		Call: func(what string, work func(ctx context.Context, e api.Worktrees) (func() tea.Cmd, error)) tea.Cmd {
			return s.longCall(what, func(ctx context.Context, e Engine) (then, error) { next, err := work(ctx, e); return next, err })
		},
		Show: func(b permit.Box, onResult func(dialog.Result) tea.Cmd, onClose func() tea.Cmd) tea.Cmd {
			return r.overlays.show(&overlay{box: b, onResult: onResult, onClose: onClose})
		},
		Notify: func(n toast.Note) tea.Cmd { s.stack.Add(n, s.now()); return s.expireToasts() },
		Report: func(title, text string) tea.Cmd {
			_, cmd := f.reports.showReport(title, func(int) []report.Row { return report.Plain(text) })
			return cmd
		},
		Propose: func(prompt string) {
			if f.drafts.edit.IsEmpty() {
				f.drafts.edit.Insert(prompt)
			}
		},
	}
}

// show shows changes that were read elsewhere.
func (rv *reviewer) show(title string, files []lathe.FileDiff) {
	rv.view = review.New(review.Options{Keys: rv.keys, Split: !rv.look.show.Stacked, Wrap: !rv.look.show.CutDiff})
	rv.view.Set(title, files)
}
