package memory

import (
	"bytes"
	"context"
	"encoding/json"
)

// Settings are what a person switched in the program itself. The zero value is not the default; see Defaults.
type Settings struct {
	Theme         string // "" is the one that settings files name
	ThemeMode     string // "dark", "light" or ""
	ThemeModeLock string // the mode that stays whatever the terminal says, or ""

	Sidebar      string // "auto", "show" or "hide"
	Timestamps   string // "show" or "hide"
	ThinkingMode string // "show" or "hide"
	DiffWrapMode string // "word" or "none"

	ToolDetails       bool
	AssistantMetadata bool
	GenericToolOutput bool
	Scrollbar         bool

	Animations             bool
	FileContext            bool
	PasteSummary           bool
	TerminalTitle          bool
	SessionDirectoryFilter bool

	TipsHidden              bool
	DismissedGettingStarted bool
	ShareConsent            bool
	SkippedVersion          string
}

// Defaults are the settings of someone who switched nothing.
func Defaults() Settings {
	return Settings{
		Sidebar: "auto", Timestamps: "hide", ThinkingMode: "hide", DiffWrapMode: "word",
		ToolDetails: true, AssistantMetadata: true,
		Animations: true, FileContext: true, PasteSummary: true, TerminalTitle: true, SessionDirectoryFilter: true,
	}
}

// member is a setting under its name in the file.
type member struct {
	name string
	text *string
	on   *bool
}

func (s *Settings) members() []member {
	return []member{
		{name: "theme", text: &s.Theme},
		{name: "theme_mode", text: &s.ThemeMode},
		{name: "theme_mode_lock", text: &s.ThemeModeLock},
		{name: "sidebar", text: &s.Sidebar},
		{name: "timestamps", text: &s.Timestamps},
		{name: "thinking_mode", text: &s.ThinkingMode},
		{name: "diff_wrap_mode", text: &s.DiffWrapMode},
		{name: "skipped_version", text: &s.SkippedVersion},
		{name: "tool_details_visibility", on: &s.ToolDetails},
		{name: "assistant_metadata_visibility", on: &s.AssistantMetadata},
		{name: "generic_tool_output_visibility", on: &s.GenericToolOutput},
		{name: "scrollbar_visible", on: &s.Scrollbar},
		{name: "animations_enabled", on: &s.Animations},
		{name: "file_context_enabled", on: &s.FileContext},
		{name: "paste_summary_enabled", on: &s.PasteSummary},
		{name: "terminal_title_enabled", on: &s.TerminalTitle},
		{name: "session_directory_filter_enabled", on: &s.SessionDirectoryFilter},
		{name: "tips_hidden", on: &s.TipsHidden},
		{name: "dismissed_getting_started", on: &s.DismissedGettingStarted},
		{name: "share_consent", on: &s.ShareConsent},
	}
}

// take reads a value; one of another type is as if it were not there.
func (m member) take(raw json.RawMessage) {
	if m.text != nil {
		var v string
		if json.Unmarshal(raw, &v) == nil && !isNull(raw) {
			*m.text = v
		}
		return
	}
	var v bool
	if json.Unmarshal(raw, &v) == nil && !isNull(raw) {
		*m.on = v
	}
}

func (m member) value() json.RawMessage {
	var v json.RawMessage
	if m.text != nil {
		v, _ = json.Marshal(*m.text) // a text always can be written
	} else if v = json.RawMessage("false"); *m.on {
		v = json.RawMessage("true")
	}
	return v
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func settingsOf(all map[string]json.RawMessage) Settings {
	s := Defaults()
	for _, m := range s.members() {
		if raw, ok := all[m.name]; ok {
			m.take(raw)
		}
	}
	if string(bytes.TrimSpace(all["theme_mode_lock"])) == "true" { // another way to write it
		s.ThemeModeLock = s.ThemeMode
	}
	return s
}

// Settings reads them. They are usable with an error, too.
func (m *Memory) Settings() (Settings, error) {
	all, err := m.object(settingsFile)
	return settingsOf(all), err
}

// SaveSettings writes the settings that differ between was and is. Those that other processes changed meanwhile
// stay as these did it.
func (m *Memory) SaveSettings(ctx context.Context, was, is Settings) error {
	before, after := was.members(), is.members()
	return m.changeObject(ctx, settingsFile, func(all map[string]json.RawMessage) (changed bool) {
		for i := range after {
			if v := after[i].value(); !bytes.Equal(v, before[i].value()) {
				all[after[i].name] = v
				changed = true
			}
		}
		return changed
	})
}
