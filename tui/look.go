package tui

import (
	"fmt"
	"image/color"
	"slices"

	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/style"
)

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
func (p *program) theme() *style.Theme {
	t := &p.themes
	name := t.name
	if t.trial != "" {
		name = t.trial
	}
	if t.made == nil || t.madeName != name || t.madeDark != t.dark {
		made, err := p.findTheme(name, t.dark)
		if err != nil {
			if t.trial == "" && !slices.Contains(p.trouble, err.Error()) { // one that is looked at is told of there
				p.trouble, t.wrong = append(p.trouble, err.Error()), err.Error()
			}
			made = style.Default(t.dark)
		}
		t.made, t.madeName, t.madeDark = made, name, t.dark
	}
	return t.made
}

// findTheme makes a theme: of a file, of ours, or of the colours of the terminal.
func (p *program) findTheme(name string, dark bool) (*style.Theme, error) {
	switch name {
	case "":
		return style.Default(dark), nil
	case style.SystemName:
		return style.System(dark, p.themes.text, p.themes.ground), nil
	default:
		return style.Load(p.o.Look.ThemeDirs, name, dark)
	}
}

// sawBackground follows the terminal between light and dark.
func (p *program) sawBackground(c color.Color, dark bool) {
	p.themes.ground = fromImage(c)
	p.themes.made = nil
	if !p.themes.locked {
		p.themes.dark = dark
	}
}

// sawForeground notes the colour of the terminal's text.
func (p *program) sawForeground(c color.Color) {
	p.themes.text, p.themes.made = fromImage(c), nil
}

func fromImage(c color.Color) style.Color {
	if c == nil {
		return style.Color{}
	}
	r, g, b, _ := c.RGBA()
	return style.RGB(uint8(r>>8), uint8(g>>8), uint8(b>>8))
}

// agentColor is the colour that settings give an agent, or one by its place in the list.
func (p *program) agentColor(name string) style.Color {
	th := p.theme()
	ring := [...]style.Color{th.Primary, th.Secondary, th.Accent, th.Success, th.Warning, th.Info, th.Error}
	n := 0
	for _, a := range p.state.Agents {
		if a.Name == name {
			if c, ok := namedColor(th, a.Color); ok {
				return c
			}
			return ring[n%len(ring)]
		}
		if state.IsOffered(a) {
			n++
		}
	}
	return th.Primary
}

// namedColor reads a colour of an agent: #rrggbb, or the name of one of a theme's.
func namedColor(th *style.Theme, s string) (style.Color, bool) {
	switch s {
	case "primary":
		return th.Primary, true
	case "secondary":
		return th.Secondary, true
	case "accent":
		return th.Accent, true
	case "success":
		return th.Success, true
	case "warning":
		return th.Warning, true
	case "error":
		return th.Error, true
	case "info":
		return th.Info, true
	}
	var r, g, b uint8
	if n, err := fmt.Sscanf(s, "#%02x%02x%02x", &r, &g, &b); err != nil || n != 3 {
		return style.Color{}, false
	}
	return style.RGB(r, g, b), true
}
