package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/key"
)

// NewTasks picks a background task: Chosen has its ID, and session_delete as its key to stop it.
func NewTasks(m *key.Map, all []lathe.BackgroundTask, now time.Time) *List {
	return NewList(m, Options{
		Title: "Background tasks", Placeholder: "Search tasks", Empty: "No background tasks.", Items: TaskItems(all, now), Wide: true,
		Extras: []Extra{{Name: key.SessionDelete, Label: "stop", Confirm: "Press " + m.Label(key.SessionDelete) + " again to stop"}},
	})
}

// TaskItems are the entries of NewTasks, for SetItems when something has changed.
func TaskItems(all []lathe.BackgroundTask, now time.Time) []Item {
	items := make([]Item, len(all))
	for i, t := range all {
		title, _, _ := strings.Cut(t.Title, "\n")
		it := Item{ID: string(t.ID), Title: title, Search: string(t.ID), Detail: string(t.State), Right: age(t.Started.Std(), now)}
		if t.State == lathe.TaskRunning {
			it.Mark = Running
		}
		if t.Exit != nil && *t.Exit != 0 {
			it.Detail += fmt.Sprintf(" (exit %d)", *t.Exit)
		}
		for _, port := range t.Ports {
			it.Detail += fmt.Sprintf(" · port %d", port)
		}
		items[i] = it
	}
	return items
}

// NewBoard picks a session of any project: Chosen has its ID, and session_delete to stop it or session_archive as its key.
// It is filled with BoardItems.
func NewBoard(m *key.Map, preview func(id string) string) *List {
	return NewList(m, Options{
		Title: "Board", Placeholder: "Search sessions", Empty: "No sessions yet.", Wide: true, Live: true, Preview: preview,
		Extras: []Extra{
			{Name: key.SessionDelete, Label: "stop", Confirm: "Press " + m.Label(key.SessionDelete) + " again to stop"},
			{Name: key.SessionArchive, Label: "archive"},
		},
	})
}

// BoardItems are the entries of NewBoard, grouped by state.
func BoardItems(all []lathe.BoardEntry, current lathe.SessionID, now time.Time) []Item {
	states := lathe.BoardStates()
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b lathe.BoardEntry) int {
		return cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State))
	})
	items := make([]Item, len(sorted))
	for i, e := range sorted {
		_, model, _ := strings.Cut(e.Model, "/")
		right := []string{model}
		if e.Cost > 0 {
			right = append(right, e.Cost.Short())
		}
		right = append(right, age(e.Updated.Std(), now))
		it := Item{
			ID: string(e.Session), Title: e.Title, Group: string(e.State), Detail: e.Last, Search: e.Directory + " " + e.Branch,
			Right: strings.TrimSpace(strings.Join(right, "  ")),
		}
		switch {
		case e.State == lathe.BoardNeedsYou:
			it.Mark = Waiting
		case e.State == lathe.BoardRunning:
			it.Mark = Running
		case e.State == lathe.BoardInterrupted:
			it.Mark = Interrupted
		case e.Session == current:
			it.Mark = Current
		}
		items[i] = it
	}
	return items
}

// BoardPreview is the place of a session on the board, and its last line.
func BoardPreview(all []lathe.BoardEntry, id, home string) string {
	i := slices.IndexFunc(all, func(e lathe.BoardEntry) bool { return string(e.Session) == id })
	if i < 0 {
		return ""
	}
	e := all[i]
	return strings.Trim(strings.Join([]string{termtext.Tilde(e.Directory, home), e.Branch, e.Last}, " · "), " ·")
}
