package style

import "slices"

// DefaultName is the name of the default theme.
const DefaultName = "lathe"

// SystemName is the theme that takes its colors from the terminal.
const SystemName = "system"

// Default is the default theme.
func Default(dark bool) *Theme { return derive(DefaultName, defaultSeed(dark)).adjust() }

// defaultSeed returns the base colors of the default theme; derive computes the rest.
func defaultSeed(dark bool) seed {
	if dark {
		return seed{
			bg: Hex(0x14161a), text: Hex(0xe6e4df), primary: Hex(0xe8a35c), secondary: Hex(0x7fb4ca), accent: Hex(0xc79bd6),
			red: Hex(0xe5746b), yellow: Hex(0xe0c16c), green: Hex(0x8fbf7a), blue: Hex(0x7aa5e0), muted: Hex(0x868b96),
		}
	}
	return seed{
		bg: Hex(0xfaf8f4), text: Hex(0x24262b), primary: Hex(0xa8590f), secondary: Hex(0x23718c), accent: Hex(0x8242a0),
		red: Hex(0xb8362c), yellow: Hex(0x8a6a00), green: Hex(0x3e7a2a), blue: Hex(0x2a5cb0), muted: Hex(0x6c6f78),
	}
}

// HighContrastName is the theme whose text and colors all have a contrast of at least 7 to 1, as WCAG AAA demands.
const HighContrastName = "high-contrast"

// HighContrast is black and white with bright colors. Borders and signs have a contrast of 4.5 at least.
func HighContrast(dark bool) *Theme {
	s := seed{
		bg: Hex(0xffffff), text: Hex(0x000000), primary: Hex(0x0a3a8c), secondary: Hex(0x00505c), accent: Hex(0x6a1280),
		red: Hex(0x9c0a0a), yellow: Hex(0x6a4400), green: Hex(0x0a5410), blue: Hex(0x0a3aa0), muted: Hex(0x3a3a3a),
	}
	if dark {
		s = seed{
			bg: Hex(0x000000), text: Hex(0xffffff), primary: Hex(0xffd24a), secondary: Hex(0x5fe0ff), accent: Hex(0xffa0ff),
			red: Hex(0xff9a90), yellow: Hex(0xffe14d), green: Hex(0x7dff7d), blue: Hex(0x9cc8ff), muted: Hex(0xd0d0d0),
		}
	}
	t := derive(HighContrastName, s).raise(contrasts{textContrast, textContrast, textContrast, textContrast})
	const lines = 4.5
	for _, c := range []*Color{&t.Border, &t.BorderActive, &t.BorderSubtle, &t.MarkdownHorizontalRule} {
		*c = readable(*c, s.text, lines, t.Background, t.BackgroundPanel, t.BackgroundElement, t.BackgroundMenu)
	}
	t.ThinkingOpacity = 0.8
	return t
}

// Names lists the themes there are without any file, in the order to show them: ours, the terminal's, then by
// name.
func Names() []string {
	all := recipes()
	out := make([]string, 0, len(all)+3)
	out = append(out, DefaultName, SystemName, HighContrastName)
	for _, r := range all {
		out = append(out, r.name)
	}
	slices.Sort(out[2:])
	return out
}

// Builtin makes a built-in theme by name.
func Builtin(name string, dark bool) (*Theme, bool) {
	switch name {
	case DefaultName, "":
		return Default(dark), true
	case "opencode": // the name of the default theme in OpenCode configs
		t := Default(dark)
		t.Name = name
		return t, true
	case SystemName:
		return System(dark, Color{}, Color{}), true
	case HighContrastName:
		return HighContrast(dark), true
	}
	for _, r := range recipes() {
		if r.name == name {
			return derive(name, r.seed(dark)).adjust(), true
		}
	}
	return nil, false
}

// System makes a theme of the terminal's own colors. Text and background are what the terminal says it uses;
// where it did not, they are none, and so is everything that would have to be mixed from them.
func System(dark bool, text, background Color) *Theme {
	s := seed{
		bg: background, text: text, muted: Palette(8), primary: Palette(4), secondary: Palette(6), accent: Palette(5),
		red: Palette(1), yellow: Palette(3), green: Palette(2), blue: Palette(4),
	}
	if dark { // the bright ones read better there
		s.primary, s.secondary, s.accent = Palette(12), Palette(14), Palette(13)
		s.red, s.yellow, s.green, s.blue = Palette(9), Palette(11), Palette(10), Palette(12)
	}
	if text.kind == trueColor && background.kind == trueColor {
		s.muted = readable(text.Blend(background, 0.5), text, quietContrast+0.4, background, text.Blend(background, 0.09))
	}
	t := derive(SystemName, s)
	if background.kind == trueColor {
		green, red := oklch(0.7, 0.15, 145), oklch(0.65, 0.17, 25)
		t.DiffAddedBg, t.DiffRemovedBg = green.Blend(background, 0.14), red.Blend(background, 0.14)
		t.DiffAddedLineNumberBg, t.DiffRemovedLineNumberBg = green.Blend(background, 0.2), red.Blend(background, 0.2)
	}
	// Something must stand out on a line of the primary color.
	t.SelectedText = Palette(15)
	if dark {
		t.SelectedText = Palette(0)
	}
	return t
}
