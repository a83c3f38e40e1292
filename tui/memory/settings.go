package memory

import (
	"bytes"
	"context"
	"encoding/json"
)

// Settings are the preferences set in the TUI. The zero value is not the default; see Defaults.
type Settings struct {
	Theme         string `json:"theme"`           // "" is the one of the config
	ThemeMode     string `json:"theme_mode"`      // "dark", "light" or ""
	ThemeModeLock string `json:"theme_mode_lock"` // the locked mode, or ""

	Sidebar      string `json:"sidebar"`        // "auto", "show" or "hide"
	Timestamps   string `json:"timestamps"`     // "show" or "hide"
	ThinkingMode string `json:"thinking_mode"`  // "show" or "hide"
	DiffWrapMode string `json:"diff_wrap_mode"` // "word" or "none"

	ToolDetails       bool `json:"tool_details_visibility"`
	AssistantMetadata bool `json:"assistant_metadata_visibility"`
	GenericToolOutput bool `json:"generic_tool_output_visibility"`
	Scrollbar         bool `json:"scrollbar_visible"`

	Editor                 string `json:"editor"` // "vim", "default" or "", which is the one of the config
	Animations             bool   `json:"animations_enabled"`
	FileContext            bool   `json:"file_context_enabled"`
	PasteSummary           bool   `json:"paste_summary_enabled"`
	TerminalTitle          bool   `json:"terminal_title_enabled"`
	SessionDirectoryFilter bool   `json:"session_directory_filter_enabled"`

	TipsHidden              bool   `json:"tips_hidden"`
	DismissedGettingStarted bool   `json:"dismissed_getting_started"`
	ShareConsent            bool   `json:"share_consent"`
	SkippedVersion          string `json:"skipped_version"`
}

// Defaults are the initial settings.
func Defaults() Settings {
	return Settings{
		Sidebar: "auto", Timestamps: "hide", ThinkingMode: "hide", DiffWrapMode: "word",
		ToolDetails: true, AssistantMetadata: true,
		Animations: true, FileContext: true, PasteSummary: true, TerminalTitle: true, SessionDirectoryFilter: true,
	}
}

// settingsOf reads the settings over the defaults.
func settingsOf(all map[string]json.RawMessage) Settings {
	s := Defaults()
	data, _ := json.Marshal(all)                                   // it was parsed from JSON
	_ = json.Unmarshal(data, &s)                                   // ignore values of another type
	if string(bytes.TrimSpace(all["theme_mode_lock"])) == "true" { // OpenCode writes true
		s.ThemeModeLock = s.ThemeMode
	}
	return s
}

// members are the settings by their names in the file.
func (s Settings) members() (out map[string]json.RawMessage) {
	data, _ := json.Marshal(s) // texts and switches always can be written
	_ = json.Unmarshal(data, &out)
	return out
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
		for name, v := range after {
			if !bytes.Equal(v, before[name]) {
				all[name], changed = v, true
			}
		}
		return changed
	})
}
