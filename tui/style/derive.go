package style

// seed is the few colors a theme grows from. A color that is none takes the place of another one.
type seed struct {
	bg, text, muted            Color
	primary, secondary, accent Color
	red, yellow, green, blue   Color
}

// derive fills a whole theme from its seed: what is not said is mixed of what is. On a background that is not
// known nothing can be mixed: there grounds are none and lines take the muted color.
func derive(name string, s seed) *Theme {
	ground := func(c Color, share float64) Color {
		if s.bg.kind != trueColor || c.kind != trueColor {
			return Color{}
		}
		return c.Blend(s.bg, share)
	}
	line := func(share float64) Color { return ground(s.text, share).Or(s.muted) }
	t := &Theme{
		Name: name, Primary: s.primary, Secondary: s.secondary, Accent: s.accent,
		Error: s.red, Warning: s.yellow, Success: s.green, Info: s.blue,
		Text: s.text, TextMuted: s.muted, SelectedText: s.bg,
		Background: s.bg, BackgroundPanel: ground(s.text, 0.05), BackgroundElement: ground(s.text, 0.09), BackgroundMenu: ground(s.text, 0.07),
		Border: line(0.25), BorderActive: line(0.5), BorderSubtle: line(0.15),
		DiffAdded: s.green, DiffRemoved: s.red, DiffContext: s.muted, DiffHunkHeader: s.blue,
		DiffHighlightAdded: s.green.Blend(s.text, 0.6), DiffHighlightRemoved: s.red.Blend(s.text, 0.6),
		DiffAddedBg: ground(s.green, 0.14), DiffRemovedBg: ground(s.red, 0.14), DiffContextBg: ground(s.text, 0.04),
		DiffLineNumber: line(0.45), DiffAddedLineNumberBg: ground(s.green, 0.2), DiffRemovedLineNumberBg: ground(s.red, 0.2),
		MarkdownText: s.text, MarkdownHeading: s.primary, MarkdownLink: s.blue, MarkdownLinkText: s.secondary,
		MarkdownCode: s.green, MarkdownBlockQuote: s.yellow, MarkdownEmph: s.yellow, MarkdownStrong: s.primary,
		MarkdownHorizontalRule: line(0.3), MarkdownListItem: s.blue, MarkdownListEnumeration: s.secondary,
		MarkdownImage: s.blue, MarkdownImageText: s.secondary, MarkdownCodeBlock: s.text,
		SyntaxComment: s.muted, SyntaxKeyword: s.accent, SyntaxFunction: s.blue, SyntaxVariable: s.text,
		SyntaxString: s.green, SyntaxNumber: s.yellow, SyntaxType: s.secondary,
		SyntaxOperator: s.muted.Blend(s.text, 0.5), SyntaxPunctuation: s.muted,
	}
	return t
}

// The least contrasts of our own themes.
const (
	textContrast  = 7.0
	quietContrast = 3.0 // and that of colors
	diffContrast  = 4.0
)

// contrasts are the least contrasts of a theme: of text, of colors and muted text, of line numbers, and in diffs.
type contrasts struct{ text, quiet, number, diff float64 }

// adjust makes a theme of our own readable. Files of others are left as their authors wanted them.
func (t *Theme) adjust() *Theme {
	return t.raise(contrasts{textContrast, quietContrast + 0.4, quietContrast, diffContrast})
}

// raise moves colors that are too near to their grounds towards black or white.
func (t *Theme) raise(least contrasts) *Theme {
	end := RGB(0, 0, 0)
	if t.Background.Luma() < 0.5 {
		end = RGB(0xff, 0xff, 0xff)
	}
	plain := []Color{t.Background, t.BackgroundPanel, t.BackgroundElement, t.BackgroundMenu}
	diffs := []Color{t.DiffAddedBg, t.DiffRemovedBg, t.DiffContextBg}
	all := append(diffs[:len(diffs):len(diffs)], plain...)
	raise := func(want float64, grounds []Color, colors ...*Color) {
		for _, c := range colors {
			*c = readable(*c, end, want, grounds...)
		}
	}
	raise(least.text, all, &t.Text, &t.MarkdownText, &t.MarkdownCodeBlock, &t.SyntaxVariable)
	raise(least.quiet, all, &t.TextMuted, &t.SyntaxComment, &t.SyntaxPunctuation, &t.SyntaxOperator, &t.SyntaxKeyword,
		&t.SyntaxFunction, &t.SyntaxString, &t.SyntaxNumber, &t.SyntaxType,
		&t.Primary, &t.Secondary, &t.Accent, &t.Error, &t.Warning, &t.Success, &t.Info,
		&t.MarkdownHeading, &t.MarkdownLink, &t.MarkdownLinkText, &t.MarkdownCode, &t.MarkdownBlockQuote, &t.MarkdownEmph,
		&t.MarkdownStrong, &t.MarkdownListItem, &t.MarkdownListEnumeration, &t.MarkdownImage, &t.MarkdownImageText)
	raise(least.diff, diffs, &t.DiffContext, &t.DiffHunkHeader)
	raise(least.diff, []Color{t.DiffAddedBg, t.DiffAddedLineNumberBg}, &t.DiffAdded, &t.DiffHighlightAdded)
	raise(least.diff, []Color{t.DiffRemovedBg, t.DiffRemovedLineNumberBg}, &t.DiffRemoved, &t.DiffHighlightRemoved)
	raise(least.number, append(diffs, t.DiffAddedLineNumberBg, t.DiffRemovedLineNumberBg), &t.DiffLineNumber)
	raise(least.diff, []Color{t.Background}, &t.Primary) // selected entries use the background color as text on it
	return t
}
