// Package worktree controls isolated copies of the checkout from the terminal UI: the dialogs of /worktree that make,
// open, compare, merge and drop them. It owns no state.
//
// Start at Controller.
package worktree

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/permit"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// Controller manages worktrees. Its functions reach the screen. Every action reads the worktrees again, because other
// processes make and drop them too.
type Controller struct {
	Keys  *key.Map
	State *state.State
	Dir   func() string // of calls to the engine
	Now   func() time.Time
	// Call runs work in the background without a time limit and then next, which may be nil.
	Call func(what string, work func(ctx context.Context, e api.Worktrees) (next func() tea.Cmd, err error)) tea.Cmd
	// Show opens a dialog. onClose, if any, is called when it closes without a choice.
	Show    func(b permit.Box, onResult func(dialog.Result) tea.Cmd, onClose func() tea.Cmd) tea.Cmd
	Notify  func(n toast.Note) tea.Cmd
	Open    func(id lathe.SessionID) tea.Cmd // shows a session
	Leave   func() tea.Cmd                   // shows the home screen
	Review  func(title string, files []lathe.FileDiff)
	Report  func(title, text string) tea.Cmd
	Propose func(prompt string) // fills an empty prompt
}

// Run carries out /worktree with arguments.
func (c *Controller) Run(arguments string) tea.Cmd {
	action, name := Parse(arguments)
	switch {
	case action == List:
		return c.List()
	case action == New:
		return c.start(name)
	case action == "":
		return c.notify(toast.Info, Usage)
	default:
		return c.find(func(all []api.Worktree) tea.Cmd {
			i := slices.IndexFunc(all, func(t api.Worktree) bool { return t.Name == name })
			if i < 0 {
				return c.notify(toast.Warning, "No worktree is called "+name+"; /worktree lists all")
			}
			return c.act(action, all[i])
		})
	}
}

// notify shows a short note.
func (c *Controller) notify(v toast.Variant, text string) tea.Cmd {
	return c.Notify(toast.Note{Variant: v, Text: text})
}

// find reads the worktrees.
func (c *Controller) find(do func(all []api.Worktree) tea.Cmd) tea.Cmd {
	dir := c.Dir()
	return c.Call("list the worktrees", func(ctx context.Context, e api.Worktrees) (func() tea.Cmd, error) {
		all, err := e.ListWorktrees(ctx, dir)
		return onSuccess(err, func() tea.Cmd { return do(all) })
	})
}

// onSuccess returns next, unless the call failed.
func onSuccess(err error, next func() tea.Cmd) (func() tea.Cmd, error) {
	if err != nil {
		return nil, err
	}
	return next, nil
}

// List picks a worktree, then what to do with it.
func (c *Controller) List() tea.Cmd {
	return c.find(func(all []api.Worktree) tea.Cmd {
		return c.pick(newList(c.Keys, all, c.Now()), nil, func(id string) tea.Cmd {
			if id == newTree {
				return c.askName()
			}
			i := slices.IndexFunc(all, func(t api.Worktree) bool { return t.Name == id })
			return c.pick(newActions(c.Keys, all[i]), c.List, func(action string) tea.Cmd { return c.act(action, all[i]) })
		})
	})
}

// pick shows a dialog and calls do with the chosen id.
func (c *Controller) pick(b permit.Box, onClose func() tea.Cmd, do func(id string) tea.Cmd) tea.Cmd {
	return c.Show(b, func(out dialog.Result) tea.Cmd {
		if chosen, ok := out.(dialog.Chosen); ok {
			return do(chosen.ID)
		}
		return nil
	}, onClose)
}

// askName asks for the name of a new worktree.
func (c *Controller) askName() tea.Cmd {
	box := dialog.NewInput(c.Keys, dialog.InputOptions{Title: "New worktree", Description: "A name for the worktree and its branch lathe/NAME", Placeholder: "a free name"})
	return c.Show(box, func(out dialog.Result) tea.Cmd {
		if e, ok := out.(dialog.Entered); ok {
			return c.start(strings.TrimSpace(e.Text))
		}
		return nil
	}, c.List)
}

// start makes a worktree and opens its session.
func (c *Controller) start(name string) tea.Cmd {
	dir := c.Dir()
	return tea.Batch(c.notify(toast.Info, "Making a worktree"), c.Call("make the worktree", func(ctx context.Context, e api.Worktrees) (func() tea.Cmd, error) {
		t, err := e.StartWorktree(ctx, dir, name)
		return onSuccess(err, func() tea.Cmd {
			return tea.Batch(c.Open(t.Session), c.notify(toast.Success, "This session works in worktree "+t.Name+". Your checkout stays as it is; /worktree merges the changes"))
		})
	}))
}

// act runs an action on a worktree.
func (c *Controller) act(action string, t api.Worktree) tea.Cmd {
	switch {
	case action == Open && t.Session == "":
		return c.notify(toast.Info, "Worktree "+t.Name+" has no session; start one with `lathe "+t.Directory+"`")
	case action == Open:
		return c.Open(t.Session)
	case action == Compare:
		return c.compare(t)
	case action == Merge:
		return c.merge(t)
	case t.Changed > 0:
		box := dialog.NewConfirm(c.Keys, dialog.ConfirmOptions{
			Title: "Drop worktree " + t.Name, Text: "Its changes are not merged and will be lost: " + StateText(t) + ".", Yes: "Drop it", No: "Keep it", Danger: true,
		})
		return c.pick(box, nil, func(answer string) tea.Cmd {
			if answer != dialog.Yes {
				return nil
			}
			return c.drop(t, true)
		})
	default:
		return c.drop(t, false)
	}
}

// compare shows the changes of a worktree.
func (c *Controller) compare(t api.Worktree) tea.Cmd {
	dir := c.Dir()
	return c.Call("read the changes", func(ctx context.Context, e api.Worktrees) (func() tea.Cmd, error) {
		files, err := e.CompareWorktree(ctx, dir, t.Name)
		return onSuccess(err, func() tea.Cmd {
			if len(files) == 0 {
				return c.notify(toast.Info, "Worktree "+t.Name+" has no changes")
			}
			c.Review("worktree "+t.Name, files)
			return nil
		})
	})
}

// merge merges a worktree as a step of the session on the screen if that works in the checkout, so that its agent knows
// of it; else as a step of a new session.
func (c *Controller) merge(t api.Worktree) tea.Cmd {
	dir, o := c.Dir(), api.WorktreeMerge{}
	if s, ok := c.State.Session(c.State.Current); ok && s.Parent == "" && s.Directory == c.State.Info.Directory && !c.State.Busy(s.ID) {
		o.Session = s.ID
	}
	return c.Call("merge the worktree", func(ctx context.Context, e api.Worktrees) (func() tea.Cmd, error) {
		r, err := e.ApplyWorktree(ctx, dir, t.Name, o)
		return onSuccess(err, func() tea.Cmd { return c.showMerge(r, o.Session) })
	})
}

// showMerge shows the report. For conflicts it proposes a prompt, which the user may send: nothing resolves them unasked.
func (c *Controller) showMerge(r api.WorktreeReport, current lathe.SessionID) tea.Cmd {
	var cmd tea.Cmd
	text := r.Text
	if r.Session != "" {
		text += "\n/undo in this session reverts the merge."
		if r.Session != current {
			cmd = c.Open(r.Session)
		}
	}
	if len(r.Conflicts) > 0 && r.Session != "" {
		c.Propose("Resolve the conflicts of merging worktree " + r.Name + ": " + strings.Join(r.Conflicts, ", "))
	}
	return tea.Batch(cmd, c.Report("Merge", text))
}

// drop removes a worktree.
func (c *Controller) drop(t api.Worktree, force bool) tea.Cmd {
	dir := c.Dir()
	return c.Call("drop the worktree", func(ctx context.Context, e api.Worktrees) (func() tea.Cmd, error) {
		kept, err := e.DropWorktree(ctx, dir, t.Name, force)
		return onSuccess(err, func() tea.Cmd {
			note := "Dropped worktree " + t.Name
			if kept != "" {
				note += "; its branch " + kept + " has commits and stays"
			}
			var cmd tea.Cmd
			if s, ok := c.State.Session(c.State.Current); ok && s.Directory == t.Directory {
				cmd = c.Leave()
			}
			return tea.Batch(cmd, c.notify(toast.Success, note))
		})
	})
}
