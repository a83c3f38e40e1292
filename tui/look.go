package tui

import (
	"cmp"
	"context"
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// look holds the display preferences and the theme.
type look struct {
	*services
	drafts   *drafts
	overlays *overlays

	prefs    memory.Settings
	show     chat.Show // of the conversation
	themes   themes
	warnings []string // problems in the config
}

// themes loads themes by name and caches the last one.
type themes struct {
	name    string // selected
	preview string // previewed in the theme list
	dark    bool
	locked  bool // light or dark does not follow the terminal

	text, background style.Color // of the terminal itself, if it reports them

	warning   string // the warning about the selected theme
	theme     *style.Theme
	themeName string
	themeDark bool
}

// theme is the current theme.
func (l *look) theme() *style.Theme {
	t := &l.themes
	name := cmp.Or(t.preview, t.name)
	if t.theme == nil || t.themeName != name || t.themeDark != t.dark {
		made, err := l.findTheme(name, t.dark)
		if err != nil {
			if t.preview == "" && !slices.Contains(l.warnings, err.Error()) { // the theme list reports a broken preview
				l.warnings, t.warning = append(l.warnings, err.Error()), err.Error()
			}
			made = style.Default(t.dark)
		}
		t.theme, t.themeName, t.themeDark = made, name, t.dark
	}
	return t.theme
}

// findTheme loads a theme: from a file, built in, or from the terminal colors.
func (l *look) findTheme(name string, dark bool) (*style.Theme, error) {
	if l.o.Look.Access.Sixteen { // grounds that are mixed would be the same color there
		return style.System(dark, style.Color{}, style.Color{}), nil
	}
	switch name {
	case "":
		return style.Default(dark), nil
	case style.SystemName:
		return style.System(dark, l.themes.text, l.themes.background), nil
	default:
		return style.Load(l.o.Look.ThemeDirs, name, dark)
	}
}

// setBackground follows the terminal between light and dark.
func (l *look) setBackground(c color.Color, dark bool) {
	l.themes.background = fromImage(c)
	l.themes.theme = nil
	if !l.themes.locked {
		l.themes.dark = dark
	}
}

func fromImage(c color.Color) style.Color {
	if c == nil {
		return style.Color{}
	}
	r, g, b, _ := c.RGBA()
	return style.RGB(uint8(r>>8), uint8(g>>8), uint8(b>>8))
}

// agentColor is the configured color of an agent, or one by its position in the list.
func (l *look) agentColor(name string) style.Color {
	th := l.theme()
	n := 0
	for _, a := range l.state.Agents {
		if a.Name == name {
			if c, ok := namedColor(th, a.Color); ok {
				return c
			}
			return agentColors(th)[n%len(agentColors(th))]
		}
		if state.IsSelectable(a) {
			n++
		}
	}
	return th.Primary
}

// agentColors are assigned in turn to agents without a color of their own.
func agentColors(th *style.Theme) [7]style.Color {
	return [...]style.Color{th.Primary, th.Secondary, th.Accent, th.Success, th.Warning, th.Info, th.Error}
}

// namedColor parses the color of an agent: #rrggbb, or the name of a theme color.
func namedColor(th *style.Theme, s string) (style.Color, bool) {
	if i := slices.Index([]string{"primary", "secondary", "accent", "success", "warning", "info", "error"}, s); i >= 0 {
		return agentColors(th)[i], true
	}
	var r, g, b uint8
	if n, err := fmt.Sscanf(s, "#%02x%02x%02x", &r, &g, &b); err != nil || n != 3 {
		return style.Color{}, false
	}
	return style.RGB(r, g, b), true
}

// reportWarnings shows problems in the config when the home screen, which shows them too, is skipped.
func (l *look) reportWarnings() tea.Cmd {
	l.theme()
	if len(l.warnings) == 0 || l.o.Start.Session == "" && !l.o.Start.Continue {
		return nil
	}
	return l.notify(toast.Warning, strings.Join(l.warnings, "\n"))
}

const (
	shown  = "show"
	hidden = "hide"
	dark   = "dark"
	light  = "light"
)

// apply applies the preferences.
func (l *look) apply() {
	k := &l.prefs
	l.show = chat.Show{
		Thinking: k.ThinkingMode == shown, Details: k.ToolDetails, Generic: k.GenericToolOutput, Timestamps: k.Timestamps == shown,
		Metadata: k.AssistantMetadata, Raw: l.show.Raw, Stacked: l.o.Look.Stacked, CutDiff: k.DiffWrapMode == "none",
	}
	l.drafts.edit.SetPasteSummary(k.PasteSummary)
	l.drafts.edit.SetVim(k.Editor == vimEditor || k.Editor == "" && l.o.Look.Vim)
	l.themes.name = cmp.Or(k.Theme, l.o.Look.Theme)
	if l.themes.locked = k.ThemeModeLock != ""; l.themes.locked {
		l.themes.dark = k.ThemeModeLock == dark
	}
}

// set changes a preference and saves it in the background.
func (l *look) set(change func(*memory.Settings)) tea.Cmd {
	was := l.prefs
	change(&l.prefs)
	is := l.prefs
	l.apply()
	return l.save("save a setting", func(ctx context.Context) error { return l.memory.SaveSettings(ctx, was, is) })
}

// animationFrame is the frame of animations, below 0 when they are off.
func (l *look) animationFrame() int {
	if !l.prefs.Animations || l.o.Look.Access.Still {
		return -1
	}
	return l.frameCount
}

func modeName(isDark bool) string {
	if isDark {
		return dark
	}
	return light
}

// switchMode switches between dark and light, and locks the mode.
func (l *look) switchMode() tea.Cmd {
	mode := modeName(!l.themes.dark)
	return l.set(func(k *memory.Settings) { k.ThemeMode, k.ThemeModeLock = mode, mode })
}

// The values of the editor setting.
const (
	vimEditor     = "vim"
	defaultEditor = "default"
)

// toggleVim turns the keys of vi in the prompt on or off.
func (l *look) toggleVim() tea.Cmd {
	now, words := vimEditor, "Vim mode on: esc leaves insert mode"
	if mode, _ := l.drafts.edit.VimMode(); mode != "" {
		now, words = defaultEditor, "Vim mode off"
	}
	return tea.Batch(l.set(func(k *memory.Settings) { k.Editor = now }), l.notify(toast.Info, words))
}

func (l *look) lockMode() tea.Cmd {
	mode, words := modeName(l.themes.dark), "Light or dark mode locked"
	if l.themes.locked {
		mode, words = "", "Light or dark mode follows the terminal"
	}
	return tea.Batch(l.set(func(k *memory.Settings) { k.ThemeModeLock = mode }), l.notify(toast.Info, words), tea.RequestBackgroundColor)
}

// themesDialog previews each theme in the list.
func (l *look) themesDialog() tea.Cmd {
	names := style.Names()
	for _, name := range slices.Sorted(maps.Keys(style.Files(l.o.Look.ThemeDirs))) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	current := cmp.Or(l.themes.name, l.theme().Name)
	o := &overlay{box: dialog.NewThemes(l.keys, names, current), noDim: true}
	o.onClose = func() tea.Cmd { l.themes.preview = ""; return nil }
	o.onResult = func(out dialog.Result) tea.Cmd {
		switch out := out.(type) {
		case dialog.Moved:
			l.themes.preview = out.ID
			cmd, _ := l.reportBroken(out.ID)
			return cmd
		case dialog.Chosen:
			l.themes.preview = ""
			if cmd, broken := l.reportBroken(out.ID); broken {
				return cmd
			}
			l.themes.name = out.ID
			l.warnings = slices.DeleteFunc(l.warnings, func(s string) bool { return s == l.themes.warning })
			return l.set(func(prefs *memory.Settings) { prefs.Theme = out.ID })
		default: // the theme list has no other results
		}
		return nil
	}
	return l.overlays.show(o)
}

// reportBroken shows the error of a theme that cannot be loaded.
func (l *look) reportBroken(name string) (cmd tea.Cmd, broken bool) {
	if _, err := l.findTheme(name, l.themes.dark); err != nil {
		return l.notify(toast.Error, err.Error()), true
	}
	return nil, false
}
