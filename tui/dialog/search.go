package dialog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/key"
)

// NewSearch picks a place in all sessions: Chosen has the id of its part. The text is sent as Query, and SetItems
// takes the places that were found. nothing is shown if there are none.
func NewSearch(m *key.Map, text string, preview func(id string) string, nothing func() string) *List {
	return NewList(m, Options{
		Title: "Search sessions", Placeholder: `Words, or "words in a row"`, Text: text,
		Empty:   "Type to search prompts, answers, tool calls and file names.",
		NoMatch: nothing,
		Ask:     true, Remote: true, Wide: true, Live: true, Preview: preview,
	})
}

// SearchItems are the entries of a search: the snippets, below their sessions.
func SearchItems(found lathe.SearchResult, now time.Time) []Item {
	out := make([]Item, len(found.Hits))
	for i, h := range found.Hits {
		out[i] = Item{ID: string(h.Part), Title: snippetText(h), Group: h.Title, Right: placeOf(h) + "  " + age(h.Time.Std(), now)}
	}
	return out
}

// SearchPreview is the directory of a place, and how much of the history is indexed.
func SearchPreview(found lathe.SearchResult, id, home string) string {
	i := slices.IndexFunc(found.Hits, func(h lathe.SearchHit) bool { return string(h.Part) == id })
	if i < 0 {
		return ""
	}
	return searchStatus(found, termtext.Tilde(found.Hits[i].Directory, home), found.Hits[i].Model)
}

// SearchNothing says that nothing was found, and in how much of the history.
func SearchNothing(found lathe.SearchResult) string { return searchStatus(found, "Nothing found") }

// searchStatus adds what is not searched to other parts of a line.
func searchStatus(found lathe.SearchResult, parts ...string) string {
	if found.More {
		parts = append(parts, "there may be more: add a word")
	}
	if found.Indexed < 1 {
		parts = append(parts, "older sessions are being indexed: "+strconv.Itoa(int(found.Indexed*100))+"%")
	}
	return strings.Trim(strings.Join(parts, " · "), " ·")
}

func snippetText(h lathe.SearchHit) string {
	var b strings.Builder
	for _, t := range h.Snippet {
		b.WriteString(t.Text)
	}
	return b.String()
}

// placeOf names the kind of a place: prompt, answer, file, or the tool.
func placeOf(h lathe.SearchHit) string {
	if h.Tool != "" {
		return h.Tool
	}
	return h.Place
}
