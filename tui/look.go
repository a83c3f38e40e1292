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

	prefs   memory.Settings
	show    chat.Show // of the conversation
	themes  themes
	trouble []string // what is wrong with settings
}

// themes finds themes by name and remembers the last it made.
type themes struct {
	name   string // that is wanted
	trial  string // that is only looked at, in the list of themes
	dark   bool
	locked bool // light or dark was chosen and does not follow the terminal

	text, ground style.Color // of the terminal itself, where it tells

	wrong    string // what was said of the one that is wanted
	made     *style.Theme
	madeName string
	madeDark bool
}

// theme is what everything is drawn with.
func (l *look) theme() *style.Theme {
	t := &l.themes
	name := cmp.Or(t.trial, t.name)
	if t.made == nil || t.madeName != name || t.madeDark != t.dark {
		made, err := l.findTheme(name, t.dark)
		if err != nil {
			if t.trial == "" && !slices.Contains(l.trouble, err.Error()) { // one that is looked at is told of there
				l.trouble, t.wrong = append(l.trouble, err.Error()), err.Error()
			}
			made = style.Default(t.dark)
		}
		t.made, t.madeName, t.madeDark = made, name, t.dark
	}
	return t.made
}

// findTheme makes a theme: of a file, of ours, or of the colours of the terminal.
func (l *look) findTheme(name string, dark bool) (*style.Theme, error) {
	switch name {
	case "":
		return style.Default(dark), nil
	case style.SystemName:
		return style.System(dark, l.themes.text, l.themes.ground), nil
	default:
		return style.Load(l.o.Look.ThemeDirs, name, dark)
	}
}

// setBackground follows the terminal between light and dark.
func (l *look) setBackground(c color.Color, dark bool) {
	l.themes.ground = fromImage(c)
	l.themes.made = nil
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
			return ring(th)[n%len(ring(th))]
		}
		if state.IsOffered(a) {
			n++
		}
	}
	return th.Primary
}

// ring is the colours of agents that have none of their own, in turn.
func ring(th *style.Theme) [7]style.Color {
	return [...]style.Color{th.Primary, th.Secondary, th.Accent, th.Success, th.Warning, th.Info, th.Error}
}

// namedColor reads a colour of an agent: #rrggbb, or the name of one of a theme's.
func namedColor(th *style.Theme, s string) (style.Color, bool) {
	if i := slices.Index([]string{"primary", "secondary", "accent", "success", "warning", "info", "error"}, s); i >= 0 {
		return ring(th)[i], true
	}
	var r, g, b uint8
	if n, err := fmt.Sscanf(s, "#%02x%02x%02x", &r, &g, &b); err != nil || n != 3 {
		return style.Color{}, false
	}
	return style.RGB(r, g, b), true
}

// sayTrouble tells what is wrong with settings where the home screen, which does too, is not seen.
func (l *look) sayTrouble() tea.Cmd {
	l.theme()
	if len(l.trouble) == 0 || l.o.Start.Session == "" && !l.o.Start.Continue {
		return nil
	}
	return l.say(toast.Warning, strings.Join(l.trouble, "\n"))
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
	return l.save("keep a setting", func(ctx context.Context) error { return l.memory.SaveSettings(ctx, was, is) })
}

// motion is the frame of what moves, below 0 where nothing is to.
func (l *look) motion() int {
	if !l.prefs.Animations {
		return -1
	}
	return l.beat
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
	mode, words := modeName(l.themes.dark), "Light or dark stays as it is"
	if l.themes.locked {
		mode, words = "", "Light and dark follow the terminal"
	}
	return tea.Batch(l.set(func(k *memory.Settings) { k.ThemeModeLock = mode }), l.say(toast.Info, words), tea.RequestBackgroundColor)
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
	o := &overlay{box: dialog.NewThemes(l.keys, names, current), clear: true}
	o.closed = func() tea.Cmd { l.themes.trial = ""; return nil }
	o.on = func(out dialog.Out) tea.Cmd {
		switch out := out.(type) {
		case dialog.Moved:
			l.themes.trial = out.ID
			cmd, _ := l.sayBroken(out.ID)
			return cmd
		case dialog.Chosen:
			l.themes.trial = ""
			if cmd, broken := l.sayBroken(out.ID); broken {
				return cmd
			}
			l.themes.name = out.ID
			l.trouble = slices.DeleteFunc(l.trouble, func(s string) bool { return s == l.themes.wrong })
			return l.set(func(prefs *memory.Settings) { prefs.Theme = out.ID })
		default: // a list of themes tells no more
		}
		return nil
	}
	return l.overlays.show(o)
}

// sayBroken tells what is wrong with a theme, if something is.
func (l *look) sayBroken(name string) (cmd tea.Cmd, broken bool) {
	if _, err := l.findTheme(name, l.themes.dark); err != nil {
		return l.say(toast.Error, err.Error()), true
	}
	return nil, false
}
