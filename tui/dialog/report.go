package dialog

import (
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/report"
	"github.com/lathe-agent/lathe/tui/style"
)

// NewReport shows the rows of a report, which are rendered for the width of the box. Call Refresh after they changed.
func NewReport(m *key.Map, title string, rows func(width int) []report.Row) *Text {
	return &Text{keys: m, title: title, want: wide, lines: func(th *style.Theme, width int) []style.Line { return report.Lines(th, rows(width)) }}
}

// NewSettings picks a setting to change: Chosen has its key. The list shows values, and below it the help and the
// origin of the selected setting.
func NewSettings(m *key.Map, all []api.Setting, selected string) *List {
	var items []Item
	about := map[string]string{}
	for _, s := range all {
		it := Item{ID: s.Key, Title: s.Key, Detail: s.Help, Right: style.Plain(report.Value(s)).Truncate(24).Text(), Search: s.Help}
		if len(s.Value) > 0 {
			it.Mark = Current
		}
		items = append(items, it)
		about[s.Key] = s.Help + "\nfrom " + s.Origin
	}
	return NewList(m, Options{
		Title: "Config", Placeholder: "Search settings and their help", Items: items, Selected: selected, Wide: true,
		Empty: "No settings.", Preview: func(id string) string { return about[id] },
	})
}

// NewValues picks a value of a setting: Chosen has it as its id, "" for the default.
func NewValues(m *key.Map, s api.Setting) *List {
	items := []Item{{Title: "default", Detail: s.Default}}
	choices := s.Choices
	if s.Type == "boolean" {
		choices = []string{"true", "false"}
	}
	for _, c := range choices {
		items = append(items, Item{ID: c, Title: c})
	}
	now := ""
	if len(s.Value) > 0 {
		now = report.Value(s)
	}
	return NewList(m, Options{Title: s.Key, Items: markCurrent(items, now), Selected: now, Preview: func(string) string { return s.Help }})
}

// NewMemory picks an instruction file: Chosen has its path.
func NewMemory(m *key.Map, title string, files []api.MemoryFile, home string) *List {
	var items []Item
	for _, f := range files {
		it := Item{ID: f.Path, Title: report.Tilde(f.Path, home), Right: f.Owner}
		if it.Detail = "new"; f.Exists {
			it.Detail = style.Plural(f.Lines, "line") + ", " + style.Count(int64(f.Tokens)) + " tokens"
		}
		items = append(items, it)
	}
	return NewList(m, Options{Title: title, Items: items, Wide: true, Preview: func(string) string {
		return "A prompt that begins with # adds its line to the project's file.\n/memory undo removes the last one."
	}})
}
