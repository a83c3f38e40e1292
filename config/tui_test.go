package config

import (
	"fmt"
	"testing"
)

// Each source wins over those before it; what settings files still say comes first.
func TestTUI_Precedence(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	w.env["OPENCODE_TUI_CONFIG"], w.env["LATHE_TUI_CONFIG"] = "~/theirs.json", w.path("home/mine.json")
	sources := []string{"home/.config/opencode/opencode.json", "top/lathe.json", "top/.lathe/lathe.json", "etc/lathe/lathe.json"}
	for _, dir := range []string{
		"home/.config/opencode", "home/.config/lathe", "", "top", "top/sub",
		"top/sub/.opencode", "top/sub/.lathe", "top/.opencode", "top/.lathe", "home/.opencode", "home/.lathe",
	} {
		if dir == "" {
			sources = append(sources, "home/theirs.json", "home/mine.json")
			continue
		}
		sources = append(sources, dir+"/tui.json", dir+"/tui.jsonc")
	}
	for i, name := range sources {
		w.write(name, fmt.Sprintf(`{"theme": "t%d", "keybinds": {"key%d": "x"}, /* %s */}`, i, i, name))
		if got := w.load().TUI.Theme; got != fmt.Sprintf("t%d", i) {
			t.Fatalf("%s loses against %s", name, got)
		}
	}
	equal(t, len(w.load().TUI.Keybinds), len(sources))
}

// Sounds are relative to the file that names them, where that is no address.
func TestTUI_Sounds(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	w.write("home/.config/lathe/tui.json", `{"attention": {"sounds": {"done": "./sounds/done.mp3", "error": "~/error.mp3", "default": "file:///x.mp3"}}}`)
	w.write("top/lathe.json", `{"tui": {"attention": {"sounds": {"question": "q.mp3"}}}}`)
	equal(t, w.load().TUI.Attention.Sounds, map[string]string{
		"done": w.path("home/.config/lathe/sounds/done.mp3"), "error": w.path("home/error.mp3"),
		"default": "file:///x.mp3", "question": w.path("top/q.mp3"),
	})
}

// Older settings files hold what now stands in tui.json.
func TestTUI_OldKeys(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/opencode/opencode.json", `{
"theme": "old", "editor": "vim", "keybinds": {"leader": "ctrl+x", "app_exit": "q"}, "tui": {"scroll_speed": 3, "scroll_acceleration": {"enabled": true}, "diff_style": "stacked"}}`)
	w.write("home/.config/lathe/tui.json", `{"keybinds": {"app_exit": "none"}, "theme": "no such theme", "username": "{env:X}"}`)
	l := w.load()
	equal(t, jsonOf(t, l.TUI), `{"theme":"no such theme","keybinds":{"app_exit":"none","leader":"ctrl+x"},"scroll_speed":3,"scroll_acceleration":{"enabled":true},"diff_style":"stacked","editor":"vim"}`)
	sameJSON(t, l.Config.Raw, `{}`)
	equal(t, w.warnings(l)[4], "home/.config/lathe/tui.json:1:62: username: is not a config key and has no effect")
}

func TestTUI_Forms(t *testing.T) {
	w := newFixture(t)
	w.env["THEME"] = "from outside"
	w.write("home/.config/lathe/tui.json", `{"theme": "{env:THEME}", "prompt": {"max_width": "auto", "max_height": 5}, "keybinds": {"a": false, "b": ["x", {"key": "y"}], "c": {"key": "z"}}, "attention": {"volume": 0}}`)
	ui := w.load().TUI
	equal(t, ui.Theme, "from outside")
	equal(t, ui.Prompt, Prompt{MaxHeight: 5, MaxWidth: Width{Auto: true}})
	equal(t, *ui.Attention.Volume, 0.0)
	equal(t, string(ui.Keybinds["b"]), `["x",{"key":"y"}]`)
	w.write("home/.config/lathe/tui.json", `{"prompt": {"max_width": 80}}`)
	equal(t, w.load().TUI.Prompt.MaxWidth.Cells, 80)
}
