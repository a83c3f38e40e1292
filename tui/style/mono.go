package style

// Monochrome replaces the colors of a theme by attributes, for terminals without colors. Text on an accent color, such
// as the selected entry of a list, is inverted. Other grounds are left out: what they mark has signs or indents too.
func Monochrome(t *Theme, rows []Line) []Line {
	accents := map[Color]bool{}
	for _, c := range []Color{t.Primary, t.Secondary, t.Accent, t.Error, t.Warning, t.Success, t.Info} {
		accents[c] = c.IsSet()
	}
	out := make([]Line, len(rows))
	for i, r := range rows {
		out[i] = r.With(func(a Attr) Attr {
			a.Invert = a.Invert || accents[a.BG]
			a.FG, a.BG = Color{}, Color{}
			return a
		})
	}
	return out
}
