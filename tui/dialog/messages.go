package dialog

import (
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// The actions of NewMessageActions.
const (
	RevertMessage = "revert"
	CopyMessage   = "copy"
	ForkMessage   = "fork"
)

// WholeSession is the id of NewFork for a full copy.
const WholeSession = "whole"

// NewTimeline picks a prompt of a session, newest last: Chosen has the id of its message.
func NewTimeline(m *key.Map, messages []lathe.Message, now time.Time) *List {
	return NewList(m, Options{
		Title: "Timeline", Placeholder: "Search prompts", Items: TimelineItems(messages, now), Last: true, Wide: true,
		Empty: "No messages yet.",
	})
}

// NewEditEarlier picks a prompt to edit, newest last: Chosen has the id of its message.
func NewEditEarlier(m *key.Map, messages []lathe.Message, now time.Time) *List {
	return NewList(m, Options{
		Title: "Edit an earlier prompt", Placeholder: "Search prompts", Items: TimelineItems(messages, now), Last: true, Wide: true,
	})
}

// NewEditActions picks where a prompt is edited: Chosen has RevertMessage or ForkMessage.
func NewEditActions(m *key.Map) *List {
	return NewList(m, Options{Title: "Edit this prompt", Wide: true, Items: []Item{
		{ID: RevertMessage, Title: "Here", Detail: "undo it, later messages and their file changes; /redo restores them"},
		{ID: ForkMessage, Title: "In a fork", Detail: "start a new session from the messages before it; files stay"},
	}})
}

// NewFork picks the prompt before which a copy of the session ends: Chosen has its id, or WholeSession.
func NewFork(m *key.Map, messages []lathe.Message, now time.Time) *List {
	return NewList(m, Options{Title: "Fork session", Placeholder: "Search prompts", Items: ForkItems(messages, now), Wide: true})
}

// ForkItems are the entries of NewFork, for SetItems when more of the session was read.
func ForkItems(messages []lathe.Message, now time.Time) []Item {
	items := []Item{{ID: WholeSession, Title: "Whole session"}}
	for _, it := range TimelineItems(messages, now) {
		it.Group = "Everything before"
		items = append(items, it)
	}
	return items
}

// TimelineItems are the entries of NewTimeline, for SetItems when more of the session was read.
func TimelineItems(messages []lathe.Message, now time.Time) []Item {
	var out []Item
	for _, m := range messages {
		if isUser(m) {
			out = append(out, Item{ID: string(m.ID), Title: promptText(m), Right: style.Clock(m.Created.Std(), now)})
		}
	}
	return out
}

// NewMessageActions picks an action for a message: Chosen has RevertMessage, CopyMessage or ForkMessage.
func NewMessageActions(m *key.Map) *List {
	return NewList(m, Options{Title: "Message", Items: []Item{
		{ID: RevertMessage, Title: "Revert", Detail: "undo messages and file changes back to here"},
		{ID: CopyMessage, Title: "Copy", Detail: "copy its text to the clipboard"},
		{ID: ForkMessage, Title: "Fork", Detail: "start a new session from the messages before it"},
	}})
}

// NewQueued lists the queued prompts: Chosen has the id of one.
func NewQueued(m *key.Map, messages []lathe.Message, now time.Time) *List {
	return NewList(m, Options{
		Title: "Queued prompts", Items: TimelineItems(messages, now), Wide: true, Empty: "No queued prompts.",
	})
}

// Stashed is a stashed prompt.
type Stashed struct {
	Text  string
	Files int
	At    time.Time
}

// NewStash picks a stashed prompt, newest first: Chosen has its index in the list, and
// stash_delete as its key.
func NewStash(m *key.Map, list []Stashed, now time.Time) *List {
	return NewList(m, Options{
		Title: "Stash", Placeholder: "Search prompts", Items: StashItems(list, now), Wide: true,
		Empty:  "The stash is empty.",
		Extras: []Extra{{Name: key.StashDelete, Label: "delete", Confirm: "Press " + m.Label(key.StashDelete) + " again to delete"}},
	})
}

// StashItems are the entries of NewStash, for SetItems after one was deleted.
func StashItems(list []Stashed, now time.Time) []Item {
	var out []Item
	for i := len(list) - 1; i >= 0; i-- {
		it := Item{ID: strconv.Itoa(i), Title: style.FirstLine(list[i].Text), Right: style.Clock(list[i].At, now)}
		if list[i].Files > 0 {
			it.Detail = style.Plural(list[i].Files, "file")
		}
		out = append(out, it)
	}
	return out
}

// The fields of NewExport.
const (
	ExportFile     = "file"
	ExportThinking = "thinking"
	ExportTools    = "tools"
	ExportMetadata = "metadata"
	ExportOpen     = "open"
)

// NewExport asks for the file and content of an export: Filled has the fields named Export….
func NewExport(m *key.Map, file string) *Form {
	return NewForm(m, "Export session", "export", []FormField{
		{ID: ExportFile, Label: "File", Text: file, Placeholder: "session.md"},
		{ID: ExportThinking, Label: "Include thinking", Check: true},
		{ID: ExportTools, Label: "Include tool details", Check: true, On: true},
		{ID: ExportMetadata, Label: "Include model and duration", Check: true, On: true},
		{ID: ExportOpen, Label: "Open in the editor without saving", Check: true},
	})
}
