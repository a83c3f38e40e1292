package dialog

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// The actions of NewRewindActions.
const (
	RewindBoth         = "both"
	RewindCode         = "code"
	RewindConversation = "conversation"
	RewindFork         = "fork"
	RewindWorktree     = "worktree"
)

// RewindRedo and RewindEarlier are entries of NewRewind that are no steps.
const (
	RewindRedo    = "redo"
	RewindEarlier = "earlier"
)

// NewRewind picks a step, newest last: Chosen has its number, RewindRedo or RewindEarlier.
func NewRewind(m *key.Map, dir string, list lathe.StepList, now time.Time) *List {
	return NewList(m, Options{
		Title: RewindTitle, Placeholder: "Search steps", Items: RewindItems(dir, list, now), Last: true, Wide: true, Empty: "No steps yet.",
	})
}

// RewindTitle asks for a step.
const RewindTitle = "Rewind to the end of a step"

// RewindItems are the entries of NewRewind.
func RewindItems(dir string, list lathe.StepList, now time.Time) (items []Item) {
	if len(list.Steps) > 0 && list.Steps[0].Number > 1 {
		items = append(items, Item{ID: RewindEarlier, Title: "Earlier steps"})
	} else if len(list.Steps) > 0 {
		items = append(items, Item{ID: "0", Title: "0  the beginning of the session"})
	}
	group := ""
	for _, st := range list.Steps {
		if st.Prompt != "" {
			group = termtext.Plain(st.Prompt)
		}
		title := fmt.Sprintf("%d  %s", st.Number, termtext.Plain(st.Summary(dir)))
		if st.Undone {
			title += " · undone"
		}
		items = append(items, Item{ID: strconv.Itoa(st.Number), Group: group, Title: title, Right: style.Clock(st.Created.Std(), now)})
	}
	switch {
	case list.At < list.Total:
		items = append(items, Item{ID: RewindRedo, Title: "Redo everything", Detail: fmt.Sprintf("the conversation is at step %d of %d", list.At, list.Total)})
	case list.Rewound > 0: // the files alone
		items = append(items, Item{ID: RewindRedo, Title: "Redo everything", Detail: style.Plural(list.Rewound, "file") + " at an earlier step"})
	}
	return items
}

// fileIn shortens a path below a directory.
func fileIn(dir, file string) string {
	if rel, err := filepath.Rel(dir, filepath.FromSlash(file)); err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	return termtext.Plain(file)
}

// NewRewindActions picks what to rewind, given a dry run: Chosen has one of the Rewind… actions. The files follow, so that
// nobody rewinds blindly.
func NewRewindActions(m *key.Map, plan lathe.Rewound) *List {
	return NewList(m, Options{Title: fmt.Sprintf("Rewind to step %d", plan.Step), Items: append(RewindActions(plan), RewindFiles(plan)...), Wide: true})
}

// RewindActions are the entries of NewRewindActions that do something.
func RewindActions(plan lathe.Rewound) (items []Item) {
	hidden := style.Plural(plan.Undone, "later step") + " hidden"
	if plan.Problem == "" {
		effect := fileEffect(plan.Files)
		items = append(items, Item{ID: RewindBoth, Title: "Files and conversation", Detail: effect + "; " + hidden},
			Item{ID: RewindCode, Title: "Only files", Detail: effect})
	}
	items = append(items, Item{ID: RewindConversation, Title: "Only conversation", Detail: hidden + "; files stay as they are"},
		Item{ID: RewindFork, Title: "Fork from here", Detail: "new session up to this step; files stay as they are"})
	if plan.Problem == "" {
		items = append(items, Item{ID: RewindWorktree, Title: "Fork into a worktree", Detail: "new session in a copy of the checkout as of this step"})
	}
	return items
}

// RewindFiles are entries that only inform: what happens to each file, or why nothing can.
func RewindFiles(plan lathe.Rewound) (items []Item) {
	if plan.Problem != "" {
		items = append(items, Item{ID: rewindNote, Group: "Files", Title: termtext.Plain(plan.Problem)})
	}
	for i, f := range plan.Files {
		detail := f.Action
		if f.Conflict != "" {
			detail = f.Conflict
		}
		items = append(items, Item{ID: rewindNote + strconv.Itoa(i), Group: "Files", Title: fileIn(plan.Session.Directory, f.File), Detail: detail})
	}
	return items
}

// rewindNote begins the IDs of entries that only inform.
const rewindNote = "note "

// fileEffect counts what a rewind does to files.
func fileEffect(files []lathe.UndoneFile) string {
	changed, left := 0, 0
	for _, f := range files {
		if f.Conflict != "" {
			left++
		} else {
			changed++
		}
	}
	out := style.Plural(changed, "file") + " restored"
	if left > 0 {
		out += fmt.Sprintf(", %d changed by you stay", left)
	}
	return out
}
