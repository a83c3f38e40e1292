package dialog

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/key"
)

// Sessions is the input of the session list.
type Sessions struct {
	List      []lathe.Session // subagents and archived sessions are skipped
	Current   lathe.SessionID
	Directory string            // sessions elsewhere show theirs
	Pinned    []lathe.SessionID // in the order of their slots
	Running   map[lathe.SessionID]lathe.Status
	Waiting   map[lathe.SessionID]bool   // waiting for an answer
	Cut       map[lathe.SessionID]bool   // with an interrupted turn
	First     map[lathe.SessionID]string // first words, as far as they are known
	Home      string                     // abbreviated as ~
	Now       time.Time                  // days are grouped in its time zone
}

// NewSessions picks a session: Chosen has its id, and session_delete, session_archive, session_rename or
// session_pin_toggle as its key. The filter is also sent as Query. Below the list stands the
// preview of the selected session, such as that of Sessions.Preview.
func NewSessions(m *key.Map, s Sessions, preview func(id string) string) *List {
	return NewList(m, Options{
		Title: "Sessions", Placeholder: "Search titles; / searches all text", Empty: "No sessions yet. Type a prompt to start one.",
		Items: s.Items(m), Selected: string(s.Current), Ask: true, Wide: true, Live: true, Preview: preview,
		Extras: []Extra{
			{Name: key.SessionDelete, Label: "delete", Confirm: "Press " + m.Label(key.SessionDelete) + " again to delete"},
			{Name: key.SessionRename, Label: "rename"},
			{Name: key.SessionArchive, Label: "archive"},
			{Name: key.SessionPinToggle, Label: "pin"},
		},
	})
}

// Items are the entries, for SetItems when something has changed.
func (s Sessions) Items(m *key.Map) []Item {
	roots := slices.DeleteFunc(slices.Clone(s.List), func(x lathe.Session) bool {
		return x.Parent != "" || x.Archived != nil && *x.Archived > 0
	})
	slices.SortStableFunc(roots, func(a, b lathe.Session) int {
		return cmp.Or(cmp.Compare(b.Updated, a.Updated), cmp.Compare(a.ID, b.ID))
	})
	var out []Item
	for slot, id := range s.Pinned {
		if i := slices.IndexFunc(roots, func(x lathe.Session) bool { return x.ID == id }); i >= 0 {
			it := s.item(roots[i])
			it.Group = "Pinned"
			if slots := key.QuickSwitches(); slot < len(slots) {
				it.Right = strings.TrimPrefix(it.Right+"  "+m.Label(slots[slot]), "  ")
			}
			out = append(out, it)
		}
	}
	for _, x := range roots {
		if slices.Contains(s.Pinned, x.ID) {
			continue
		}
		it := s.item(x)
		it.Group = day(x.Updated.Std(), s.Now)
		out = append(out, it)
	}
	return out
}

// item is the entry of a session: its state and, if it differs from the current one, its directory; at the right its
// cost and age.
func (s Sessions) item(x lathe.Session) Item {
	it := Item{ID: string(x.ID), Title: x.Title, Search: x.Slug}
	var right []string
	if x.Cost != nil && *x.Cost > 0 {
		right = append(right, x.Cost.Short())
	}
	if at := x.Updated.Std(); !at.IsZero() {
		right = append(right, age(at, s.Now))
	}
	it.Right = strings.Join(right, "  ")
	if x.ID == s.Current {
		it.Mark = Current
	}
	st, ok := s.Running[x.ID]
	state := ""
	switch {
	case s.Waiting[x.ID]:
		it.Mark, state = Waiting, "waiting for you"
	case ok && st.Type != lathe.Idle && st.Type != "":
		it.Mark, state = Running, "running"
	case s.Cut[x.ID]:
		it.Mark, state = Interrupted, "interrupted"
	}
	dir := ""
	if s.Directory != "" && x.Directory != s.Directory {
		dir = path.Base(strings.ReplaceAll(x.Directory, "\\", "/"))
	}
	it.Detail = strings.Trim(state+" · "+dir, " ·")
	return it
}

// Preview is the directory of a session and how it began.
func (s Sessions) Preview(id string) string {
	i := slices.IndexFunc(s.List, func(x lathe.Session) bool { return string(x.ID) == id })
	if i < 0 {
		return ""
	}
	first := s.First[lathe.SessionID(id)]
	if first != "" {
		first = "“" + first + "”"
	}
	return strings.Trim(termtext.Tilde(s.List[i].Directory, s.Home)+" · "+first, " ·")
}

// NewSubagents picks a child of a session: Chosen has its id.
func NewSubagents(m *key.Map, s Sessions) *List {
	list := slices.Clone(s.List)
	slices.SortStableFunc(list, func(a, b lathe.Session) int { return cmp.Compare(a.Created, b.Created) })
	var items []Item
	for _, x := range list {
		it := s.item(x)
		it.Detail = x.Agent
		items = append(items, it)
	}
	return NewList(m, Options{Title: "Subagents", Items: items, Selected: string(s.Current), Empty: "This session has no subagents."})
}

// NewRename asks for a session's title.
func NewRename(m *key.Map, title string) *Input {
	return NewInput(m, InputOptions{Title: "Rename session", Text: title, Placeholder: "Title", Required: true, SubmitLabel: "rename"})
}

// NewShareConsent asks before a session becomes public.
func NewShareConsent(m *key.Map) *Confirm {
	return NewConfirm(m, ConfirmOptions{
		Title: "Share this session?", Yes: "Share", No: "Cancel", Danger: true,
		Text: "Anyone with the link can read the whole session: prompts, answers, and everything tools read or wrote. " +
			"It stays public until you run /unshare.",
	})
}
