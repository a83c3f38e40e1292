package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
)

// searchPlaces is how many places the search shows.
const searchPlaces = 50

// search finds places in the sessions of all projects while the user types, and opens one.
func (sd *sessionDialogs) search(text string) tea.Cmd {
	var found lathe.SearchResult // the places in the list
	problem := ""                // why nothing can be found, such as a search that is off
	list := dialog.NewSearch(sd.keys, text, func(id string) string { return dialog.SearchPreview(found, id, sd.state.Info.Home) },
		func() string { return cmp.Or(problem, dialog.SearchNothing(found)) })
	o := &overlay{box: list, keepOpen: true}
	latest := 0 // counts the texts: the answer to an earlier one comes too late
	var more func(text string, n int, before lathe.SearchResult) tea.Cmd
	more = func(text string, n int, before lathe.SearchResult) tea.Cmd {
		q := lathe.SearchQuery{Text: text, Typing: true, Limit: searchPlaces - len(before.Hits), Cursor: before.Next}
		return sd.call("search the sessions", func(ctx context.Context, e Engine) (then, error) {
			res, err := e.Search(ctx, q)
			why := ""
			switch lathe.CodeOf(err) {
			case lathe.Invalid: // nothing to search for yet
				res, err = lathe.SearchResult{Indexed: 1}, nil
			case lathe.Unavailable: // the list says so, since each letter would ask again
				why, res, err = style.Capitalize(err.Error()), lathe.SearchResult{Indexed: 1}, nil
			}
			return func() tea.Cmd {
				if sd.overlays.current != o || n != latest {
					return nil
				}
				res.Hits = append(slices.Clip(before.Hits), res.Hits...)
				found, problem = res, why
				list.SetItems(dialog.SearchItems(found, sd.now()))
				if found.Next != "" && len(found.Hits) < searchPlaces {
					return more(text, n, found)
				}
				list.SetLoading(false)
				return nil
			}, err
		})
	}
	look := func(text string) tea.Cmd {
		latest++
		if strings.TrimSpace(text) == "" {
			found = lathe.SearchResult{Indexed: 1}
			list.SetItems(nil)
			list.SetLoading(false)
			return nil
		}
		list.SetLoading(true)
		return more(text, latest, lathe.SearchResult{})
	}
	o.onResult = func(out dialog.Result) tea.Cmd {
		switch out := out.(type) {
		case dialog.Query:
			return look(out.Text)
		case dialog.Chosen:
			return sd.openHit(found, lathe.PartID(out.ID))
		default:
			return nil
		}
	}
	return tea.Batch(sd.overlays.show(o), look(text))
}

// openHit opens the session of a place at its message.
func (sd *sessionDialogs) openHit(found lathe.SearchResult, id lathe.PartID) tea.Cmd {
	i := slices.IndexFunc(found.Hits, func(h lathe.SearchHit) bool { return h.Part == id })
	if i < 0 {
		return nil
	}
	h := found.Hits[i]
	sd.overlays.current = nil
	sd.conversation.target = target{h.Session, h.Message}
	return sd.sessions.open(h.Session)
}

// target is a message to scroll to, once it is loaded.
type target struct {
	session lathe.SessionID
	message lathe.MessageID
}

// toTarget scrolls to the target, or loads the messages before until it is there. A session that the user left has none.
func (v *conversation) toTarget() tea.Cmd {
	o := v.state.Shown()
	switch {
	case v.target.message == "" || o == nil || o.Transcript == nil:
		return nil
	case v.target.session != o.ID:
		v.target = target{}
		return nil
	}
	if o.Transcript.Find(v.target.message) < 0 && !o.Older.IsZero() {
		return v.loadOlder()
	}
	if o.Transcript.Find(v.target.message) >= 0 {
		v.chat().To(v.target.message)
	}
	v.target = target{}
	return nil
}
