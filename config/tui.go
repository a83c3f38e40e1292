package config

import (
	"encoding/json"
	"slices"
	"sync"
)

// TUI is the config of the terminal UI: tui.json over the keys of older config files. A nil
// pointer means unset. Names of themes and keys are not checked here.
type TUI struct {
	Schema             string                     `json:"$schema,omitempty"`
	Theme              string                     `json:"theme,omitempty"`
	Keybinds           map[string]json.RawMessage `json:"keybinds,omitempty"`
	LeaderTimeout      int                        `json:"leader_timeout,omitempty"` // milliseconds
	Plugins            []Plugin                   `json:"plugin,omitempty"`
	PluginEnabled      map[string]bool            `json:"plugin_enabled,omitempty"`
	ScrollSpeed        float64                    `json:"scroll_speed,omitempty"`
	ScrollAcceleration ScrollAcceleration         `json:"scroll_acceleration,omitzero"`
	DiffStyle          string                     `json:"diff_style,omitempty"`
	Mouse              *bool                      `json:"mouse,omitempty"`
	Cursor             Cursor                     `json:"cursor,omitzero"`
	Editor             string                     `json:"editor,omitempty"`
	Prompt             Prompt                     `json:"prompt,omitzero"`
	Attention          Attention                  `json:"attention,omitzero"`
	access
}

type (
	// access has the keys for people who use a screen reader or avoid motion. They stand beside the others in the file.
	access struct {
		Accessible    bool `json:"accessible,omitempty"`
		ReducedMotion bool `json:"reduced_motion,omitempty"`
	}
	// ScrollAcceleration makes long scrolls faster.
	ScrollAcceleration struct {
		Enabled bool `json:"enabled,omitempty"`
	}
	// Cursor is how the cursor looks: block, line or underline.
	Cursor struct {
		Style    string `json:"style,omitempty"`
		Blinking *bool  `json:"blinking,omitempty"`
	}
	// Prompt limits the size of the prompt input, in cells.
	Prompt struct {
		MaxHeight int   `json:"max_height,omitempty"`
		MaxWidth  Width `json:"max_width,omitzero"`
	}
	// Width is a number of cells, or auto.
	Width struct {
		Cells int
		Auto  bool
	}
	// Attention configures notifications and sounds.
	Attention struct {
		Enabled       *bool             `json:"enabled,omitempty"`
		NeedsYou      *bool             `json:"needs_you,omitempty"`
		Done          *bool             `json:"done,omitempty"`
		DoneAfter     *int              `json:"done_after,omitempty"` // seconds
		Notifications *bool             `json:"notifications,omitempty"`
		Sound         *bool             `json:"sound,omitempty"`
		Volume        *float64          `json:"volume,omitempty"` // 0 to 1
		SoundPack     string            `json:"sound_pack,omitempty"`
		Sounds        map[string]string `json:"sounds,omitempty"`
	}
)

// UnmarshalJSON reads a number or "auto".
func (w *Width) UnmarshalJSON(data []byte) error {
	if w.Auto = startsWith(data, '"'); w.Auto {
		return nil
	}
	return json.Unmarshal(data, &w.Cells)
}

// tuiTable is the table of all keys of tui.json.
var tuiTable = sync.OnceValue(func() *spec {
	speed, volume := num("Lines per wheel step"), num("Sound volume")
	speed.bound, speed.above, volume.bound, volume.most = true, true, true, 1
	binding := either("Keys separated by commas; none or false disables the action",
		text(""), off(), dict("", anything("")), list("", anything("")))
	return object("Config of the terminal UI.",
		key("$schema", text("URL or path of the JSON schema, for editors")),
		key("theme", text("Theme name")),
		key("keybinds", dict("Key bindings by action", binding).needsTrust()), // the key for yes could share the session
		key("leader_timeout", whole("Timeout after the leader key, in milliseconds; default: 2000", 1)),
		key("plugin", list("Plugins of the terminal UI", pluginSpec()).needsTrust()),
		key("plugin_enabled", dict("Plugins to enable or disable, by name", toggle("").riskyIf(equals("true")))),
		key("scroll_speed", speed),
		key("scroll_acceleration", object("Accelerate long scrolls", key("enabled", toggle("")))),
		key("diff_style", choice("Diff layout: auto is side by side in wide terminals", "auto", "stacked")),
		key("mouse", toggle("Capture the mouse; default: true")),
		key("cursor", object("Cursor", key("style", choice("Shape", "block", "line", "underline", "default")), key("blinking", toggle("Blinking")))),
		key("editor", choice("Editing in the prompt", "default", "vim")), key("prompt", object("Prompt input", key("max_height", whole("Maximum height in lines", 1)), key("max_width", either("Maximum width in columns", whole("", 1), choice("", "auto"))))),
		key("accessible", toggle("Print plain lines for screen readers instead of opening the terminal UI, as --accessible does; default: false")),
		key("reduced_motion", toggle("No animation: signs of running work stand still; default: false")),
		key("attention", object("Notifications when lathe finishes or needs an answer",
			key("enabled", toggle("Notify when the terminal has no focus; default: true")), key("notifications", toggle("Desktop notifications; default: true")), key("sound", toggle("Also ring the bell; default: true if enabled is set to true")),
			key("needs_you", toggle("Notify when a permission or an answer is needed; default: true")), key("done", toggle("Notify when a long turn ends or a turn fails; default: true")), key("done_after", whole("Duration of a long turn, in seconds; default: 30", 0)),
			key("volume", volume), key("sound_pack", text("Sound pack").needsTrust()), key("sounds", dict("Sound files for default, question, permission, error, done and subagent_done", text("")).needsTrust()))),
	)
})

// tuiFiles lists the files to read, lowest precedence first.
func (o *Options) tuiFiles() (out []found) {
	add := func(dir found) { out = append(out, dir.below("tui.json"), dir.below("tui.jsonc")) }
	for _, dir := range o.globalDirs() {
		add(found{path: dir, layer: User})
	}
	for _, v := range o.variables("TUI_CONFIG") {
		out = append(out, found{path: expandHome(v.value, o.Home), layer: User})
	}
	if !o.on("DISABLE_PROJECT_CONFIG") {
		for _, dir := range slices.Backward(o.upward()) {
			add(found{dir, o.layer(dir), dir})
		}
	}
	for _, d := range o.dirs() {
		if !o.isGlobal(d.path) {
			add(d)
		}
	}
	return out
}
