package style

import (
	_ "embed"
	"fmt"
	"strings"
)

// recipe tells how a theme is made: the hues that people connect with its name, on a ground of a tint. The
// values are our own; dark and light come from the same row.
type recipe struct {
	name   string
	ground tint    // of the dark background
	paper  tint    // of the light background; the zero value is a paper of the ground's hue
	loud   float64 // how strong colors are: 1 is usual
	// Hues in degrees: about 25 red, 60 orange, 95 yellow, 145 green, 190 teal, 230 sky, 260 blue, 300 violet,
	// 350 pink. A negative hue is gray.
	primary, secondary, accent float64
	red, yellow, green, blue   float64
}

// tint is a lightness in percent, a strength in thousandths and a hue.
type tint struct{ light, strength, hue float64 }

func (t tint) color() Color { return oklch(t.light/100, t.strength/1000, t.hue) }

// seed mixes the colors of a dark or a light theme.
func (r recipe) seed(dark bool) seed {
	bg, light, strength := r.ground, 0.78, 0.115
	text, muted := tint{92, r.ground.strength / 3, r.ground.hue}, tint{64, min(r.ground.strength, 25), r.ground.hue}
	if !dark {
		if bg = r.paper; bg == (tint{}) {
			bg = tint{97.5, min(r.ground.strength/4, 8), r.ground.hue}
		}
		light, strength = 0.5, 0.13
		text, muted = tint{27, min(r.ground.strength, 30), r.ground.hue}, tint{55, min(r.ground.strength, 25), r.ground.hue}
	}
	of := func(hue float64) Color {
		if hue < 0 {
			return oklch(light+0.06, 0, 0)
		}
		l := light
		if dark { // eyes find yellow brighter and blue and red darker than they measure
			l += 0.06*near(hue, 100) - 0.05*near(hue, 25) - 0.03*near(hue, 265)
		}
		return oklch(l, strength*r.loud, hue)
	}
	return seed{
		bg: bg.color(), text: text.color(), muted: muted.color(),
		primary: of(r.primary), secondary: of(r.secondary), accent: of(r.accent),
		red: of(r.red), yellow: of(r.yellow), green: of(r.green), blue: of(r.blue),
	}
}

// near is 1 at a hue and falls to 0 sixty degrees away from it.
func near(hue, at float64) float64 {
	d := hue - at
	if d < 0 {
		d = -d
	}
	if d > 180 {
		d = 360 - d
	}
	return max(0, 1-d/60)
}

//go:embed themes.txt
var themesText string

// recipes is the table of themes but for the two that are made in a way of their own.
func recipes() (out []recipe) {
	for line := range strings.Lines(themesText) {
		var r recipe
		g, p := &r.ground, &r.paper
		n, _ := fmt.Sscan(line, &r.name, &g.light, &g.strength, &g.hue, &p.light, &p.strength, &p.hue, &r.loud,
			&r.primary, &r.secondary, &r.accent, &r.red, &r.yellow, &r.green, &r.blue)
		if n == 15 { // the others explain
			out = append(out, r)
		}
	}
	return out
}
