package config

import (
	"encoding/json"
	"slices"
	"sync"
)

// TUI is what tui.json says of the terminal program, with what older settings files say
// of it below. Pointers tell what was not said; names of themes and keys are not judged
// here.
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
	Prompt             Prompt                     `json:"prompt,omitzero"`
	Attention          Attention                  `json:"attention,omitzero"`
}

type (
	// ScrollAcceleration makes long scrolls faster.
	ScrollAcceleration struct {
		Enabled bool `json:"enabled,omitempty"`
	}
	// Cursor is how the cursor looks: block, line or underline.
	Cursor struct {
		Style    string `json:"style,omitempty"`
		Blinking *bool  `json:"blinking,omitempty"`
	}
	// Prompt bounds the box one writes in, in cells.
	Prompt struct {
		MaxHeight int   `json:"max_height,omitempty"`
		MaxWidth  Width `json:"max_width,omitzero"`
	}
	// Width is a number of cells, or what fits.
	Width struct {
		Cells int
		Auto  bool
	}
	// Attention is how the user is called when something is done or asked.
	Attention struct {
		Enabled       bool              `json:"enabled,omitempty"`
		Notifications *bool             `json:"notifications,omitempty"`
		Sound         *bool             `json:"sound,omitempty"`
		Volume        *float64          `json:"volume,omitempty"` // 0 to 1
		SoundPack     string            `json:"sound_pack,omitempty"`
		Sounds        map[string]string `json:"sounds,omitempty"`
	}
)

// UnmarshalJSON reads a number or "auto".
func (w *Width) UnmarshalJSON(data []byte) error {
	if startsWith(data, '"') {
		w.Auto = true
		return nil
	}
	return json.Unmarshal(data, &w.Cells)
}

// tuiTable is the table of everything tui.json may say.
var tuiTable = sync.OnceValue(func() *spec {
	speed, volume := num("lines for one turn of the wheel"), num("how loud")
	speed.bound, speed.above = true, true
	volume.bound, volume.most = true, 1
	binding := either("keys, separated by commas; none or false switches off",
		text(""), off(), dict("", anything("")), list("", anything("")))
	return object("Settings of the terminal program.",
		key("$schema", text("where editors find the schema of this file")),
		key("theme", text("the name of a theme")),
		key("keybinds", dict("keys by what they do", binding).needsTrust()), // the key for yes could share the session
		key("leader_timeout", whole("milliseconds; default: 2000", 1)),
		key("plugin", list("plugins of the terminal program", pluginSpec()).needsTrust()),
		key("plugin_enabled", dict("plugins that are on or off, by name", toggle("").riskyIf(is("true")))),
		key("scroll_speed", speed),
		key("scroll_acceleration", object("faster on long turns", key("enabled", toggle("")))),
		key("diff_style", choice("side by side where there is room, or one below the other", "auto", "stacked")),
		key("mouse", toggle("whether the program takes the mouse; default: true")),
		key("cursor", object("the cursor", key("style", choice("its form", "block", "line", "underline", "default")), key("blinking", toggle("whether it blinks")))),
		key("prompt", object("the box you write in", key("max_height", whole("in lines", 1)), key("max_width", either("in columns", whole("", 1), choice("", "auto"))))),
		key("attention", object("how you are called when something is done or asked",
			key("enabled", toggle("all of it; default: false")), key("notifications", toggle("of the desktop; default: true")), key("sound", toggle("a sound; default: true")),
			key("volume", volume), key("sound_pack", text("which sounds").needsTrust()),
			key("sounds", dict("files of sounds for default, question, permission, error, done and subagent_done", text("")).needsTrust()))),
	)
})

// tuiFiles lists the files that count, lowest first.
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
