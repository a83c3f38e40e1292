package worktree

import (
	"strings"
	"time"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// newTree is the id of a worktree that does not exist yet. No worktree can be called that.
const newTree = "*"

// The actions of /worktree.
const (
	List    = "list"
	New     = "new"
	Open    = "open"
	Compare = "diff"
	Merge   = "merge"
	Drop    = "drop"
)

// Usage explains the arguments of /worktree.
const Usage = "Usage: /worktree [NAME], or /worktree open|diff|merge|drop NAME"

// Parse reads the arguments of /worktree: an action and a name, or only the name of a new worktree. An action that needs
// a name and has none is "".
func Parse(arguments string) (action, name string) {
	words := strings.Fields(arguments)
	if len(words) == 0 {
		return List, ""
	}
	switch action = words[0]; action {
	case List, New:
		if len(words) > 1 {
			name = words[1]
		}
	case Open, Compare, Merge, Drop:
		if len(words) != 2 {
			return "", ""
		}
		name = words[1]
	default:
		if len(words) > 1 {
			return "", ""
		}
		return New, action
	}
	return action, name
}

// newList picks a worktree: Chosen has its name, or newTree.
func newList(m *key.Map, all []api.Worktree, now time.Time) *dialog.List {
	items := []dialog.Item{{ID: newTree, Title: "New worktree", Detail: "a copy of this checkout with your uncommitted changes; your files stay as they are"}}
	for _, w := range all {
		it := dialog.Item{ID: w.Name, Title: w.Name, Group: "Worktrees", Right: StateText(w), Detail: style.Clock(w.Created.Std(), now), Search: w.Branch}
		switch {
		case w.Live:
			it.Mark = dialog.Running
		case w.Missing || w.Problem != "":
			it.Mark = dialog.Failed
		case w.Changed > 0:
			it.Mark = dialog.Waiting
		case w.Merged:
			it.Mark = dialog.Done
		}
		items = append(items, it)
	}
	return dialog.NewList(m, dialog.Options{Title: "Worktrees", Placeholder: "Search worktrees", Items: items, Wide: true})
}

// StateText is the state of a worktree in a few words.
func StateText(w api.Worktree) string {
	switch {
	case w.Missing:
		return "files missing"
	case w.Problem != "":
		return "cannot be compared"
	case w.Live:
		return "running"
	case w.Changed > 0:
		return style.Plural(w.Changed, "changed file")
	case w.Merged:
		return "merged"
	default:
		return "no changes"
	}
}

// newActions picks what to do with a worktree: Chosen has one of the actions.
func newActions(m *key.Map, w api.Worktree) *dialog.List {
	var items []dialog.Item
	if w.Session != "" {
		items = append(items, dialog.Item{ID: Open, Title: "Open session", Detail: "continue the work in it"})
	}
	items = append(
		items,
		dialog.Item{ID: Compare, Title: "Show changes", Detail: StateText(w)},
		dialog.Item{ID: Merge, Title: "Merge", Detail: "into this checkout, next to your own changes; /undo reverts it"},
		dialog.Item{ID: Drop, Title: "Drop", Detail: "remove it with its branch"},
	)
	return dialog.NewList(m, dialog.Options{Title: "Worktree " + w.Name, Items: items, Wide: true})
}
