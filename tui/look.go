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

// look is how things look: what the user has set in the program itself and wants to find again, and the theme.
type look struct {
	*services
	drafts   *drafts
	overlays *overlays

	prefs    memory.Settings
	show     chat.Show // of the conversation
	themes   themes
	warnings []string // what is wrong with settings
}

// themes finds themes by name and remembers the last it made.
type themes struct {
	name    string // that is wanted
	preview string // that is only looked at, in the list of themes
	dark    bool
	locked  bool // light or dark was chosen and does not follow the terminal

	text, background style.Color // of the terminal itself, where it tells

	warning   string // what was said of the one that is wanted
	theme     *style.Theme
	themeName string
	themeDark bool
}

// theme is what everything is drawn with.
func (l *look) theme() *style.Theme {
	t := &l.themes
	name := cmp.Or(t.preview, t.name)
	if t.theme == nil || t.themeName != name || t.themeDark != t.dark {
		made, err := l.findTheme(name, t.dark)
		if err != nil {
			if t.preview == "" && !slices.Contains(l.warnings, err.Error()) { // one that is looked at is told of there
				l.warnings, t.warning = append(l.warnings, err.Error()), err.Error()
			}
			made = style.Default(t.dark)
		}
		t.theme, t.themeName, t.themeDark = made, name, t.dark
	}
	return t.theme
}

// findTheme makes a theme: of a file, of ours, or of the colours of the terminal.
func (l *look) findTheme(name string, dark bool) (*style.Theme, error) {
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

// agentColor is the colour that settings give an agent, or one by its place in the list.
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

// agentColors is the colours of agents that have none of their own, in turn.
func agentColors(th *style.Theme) [7]style.Color {
	return [...]style.Color{th.Primary, th.Secondary, th.Accent, th.Success, th.Warning, th.Info, th.Error}
}

// namedColor reads a colour of an agent: #rrggbb, or the name of one of a theme's.
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

// reportWarnings tells what is wrong with settings where the home screen, which does too, is not seen.
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

// apply makes the settings so.
func (l *look) apply() {
	k := &l.prefs
	l.show = chat.Show{
		Thinking: k.ThinkingMode == shown, Details: k.ToolDetails, Generic: k.GenericToolOutput, Timestamps: k.Timestamps == shown,
		Metadata: k.AssistantMetadata, Raw: l.show.Raw, Stacked: l.o.Look.Stacked, CutDiff: k.DiffWrapMode == "none",
	}
	l.drafts.edit.SetPasteSummary(k.PasteSummary)
	l.themes.name = cmp.Or(k.Theme, l.o.Look.Theme)
	if l.themes.locked = k.ThemeModeLock != ""; l.themes.locked {
		l.themes.dark = k.ThemeModeLock == dark
	}
}

// set changes a setting and writes it down beside the screen.
func (l *look) set(change func(*memory.Settings)) tea.Cmd {
	was := l.prefs
	change(&l.prefs)
	is := l.prefs
	l.apply()
	return l.save("save a setting", func(ctx context.Context) error { return l.memory.SaveSettings(ctx, was, is) })
}

// animationFrame is the frame of what moves, below 0 where nothing is to.
func (l *look) animationFrame() int {
	if !l.prefs.Animations {
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

// switchMode goes from dark to light and back, and stays there.
func (l *look) switchMode() tea.Cmd {
	mode := modeName(!l.themes.dark)
	return l.set(func(k *memory.Settings) { k.ThemeMode, k.ThemeModeLock = mode, mode })
}

func (l *look) lockMode() tea.Cmd {
	mode, words := modeName(l.themes.dark), "Light or dark mode locked"
	if l.themes.locked {
		mode, words = "", "Light or dark mode follows the terminal"
	}
	return tea.Batch(l.set(func(k *memory.Settings) { k.ThemeModeLock = mode }), l.notify(toast.Info, words), tea.RequestBackgroundColor)
}

// themesDialog shows each theme while it is looked at.
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
		default: // a list of themes tells no more
		}
		return nil
	}
	return l.overlays.show(o)
}

// reportBroken tells what is wrong with a theme, if something is.
func (l *look) reportBroken(name string) (cmd tea.Cmd, broken bool) {
	if _, err := l.findTheme(name, l.themes.dark); err != nil {
		return l.notify(toast.Error, err.Error()), true
	}
	return nil, false
}
