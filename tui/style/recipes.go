package style

// recipe tells how a theme is made: the hues that people connect with its name, on a ground of a tint. The
// values are our own; dark and light come from the same row.
type recipe struct {
	name   string
	ground tint    // of the dark background
	paper  tint    // of the light background; the zero value is a paper of the ground's hue
	loud   float64 // how strong colours are: 1 is usual
	// Hues in degrees: about 25 red, 60 orange, 95 yellow, 145 green, 190 teal, 230 sky, 260 blue, 300 violet,
	// 350 pink. A negative hue is grey.
	primary, secondary, accent float64
	red, yellow, green, blue   float64
}

// tint is a lightness in percent, a strength in thousandths and a hue.
type tint struct{ light, strength, hue float64 }

func (t tint) color() Color { return oklch(t.light/100, t.strength/1000, t.hue) }

// seed mixes the colours of a dark or a light theme.
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

// recipes is the table of themes but for the two that are made in a way of their own.
func recipes() []recipe {
	return []recipe{
		{"aura", tint{20, 18, 290}, tint{}, 1.25, 293, 168, 75, 18, 80, 165, 245},
		{"ayu", tint{17, 14, 250}, tint{98, 3, 90}, 1.15, 72, 228, 50, 22, 88, 128, 235},
		{"carbonfox", tint{19, 2, 270}, tint{}, 0.95, 258, 200, 310, 8, 70, 160, 250},
		{"catppuccin", tint{24, 30, 284}, tint{96, 6, 265}, 0.85, 302, 185, 335, 8, 85, 142, 262},
		{"catppuccin-frappe", tint{32, 30, 276}, tint{95.5, 7, 265}, 0.8, 300, 188, 332, 12, 82, 138, 264},
		{"catppuccin-macchiato", tint{27.5, 33, 279}, tint{96.2, 7, 268}, 0.83, 304, 183, 338, 10, 84, 140, 261},
		{"cobalt2", tint{28, 55, 243}, tint{97, 8, 240}, 1.3, 88, 215, 340, 25, 92, 148, 238},
		{"cursor", tint{18.5, 1, 95}, tint{98, 2, 95}, 0.85, 195, 165, 320, 15, 82, 155, 232},
		{"dracula", tint{28, 24, 278}, tint{97, 7, 290}, 1.3, 298, 205, 342, 22, 108, 148, 212},
		{"everforest", tint{31, 16, 195}, tint{96.5, 16, 98}, 0.75, 128, 175, 350, 24, 78, 130, 205},
		{"flexoki", tint{17.5, 3, 60}, tint{98.3, 13, 92}, 0.95, 225, 188, 325, 28, 86, 122, 235},
		{"github", tint{17, 13, 258}, tint{99.2, 1, 250}, 1.1, 254, 240, 305, 24, 74, 148, 252},
		{"gruvbox", tint{24, 6, 75}, tint{95.5, 32, 92}, 1.0, 62, 165, 345, 28, 84, 115, 195},
		{"kanagawa", tint{23, 16, 290}, tint{95, 25, 92}, 0.8, 262, 192, 305, 20, 78, 128, 250},
		{"lucent-orng", tint{14, 4, 50}, tint{99, 4, 70}, 1.3, 48, 195, 62, 22, 82, 150, 225},
		{"material", tint{30, 16, 228}, tint{98, 4, 220}, 1.0, 190, 232, 312, 18, 86, 130, 248},
		{"matrix", tint{14, 18, 150}, tint{96, 18, 145}, 1.35, 146, 158, 130, 40, 112, 144, 170},
		{"mercury", tint{19, 9, 275}, tint{98.5, 3, 270}, 0.8, 275, 240, 290, 14, 76, 158, 255},
		{"monokai", tint{27, 9, 110}, tint{97.8, 6, 100}, 1.35, 355, 205, 128, 12, 98, 126, 210},
		{"nightowl", tint{20, 45, 248}, tint{98, 6, 240}, 1.1, 250, 182, 315, 20, 82, 140, 245},
		{"nord", tint{33, 24, 262}, tint{96.2, 8, 258}, 0.62, 212, 195, 330, 18, 80, 132, 248},
		{"one-dark", tint{28, 14, 264}, tint{98.2, 2, 265}, 0.98, 248, 200, 318, 16, 78, 135, 245},
		{"orng", tint{15.5, 2, 60}, tint{98.8, 5, 75}, 1.35, 52, 70, 200, 24, 84, 152, 235},
		{"osaka-jade", tint{20, 28, 172}, tint{96.8, 16, 165}, 0.95, 168, 190, 100, 26, 92, 160, 205},
		{"palenight", tint{30, 30, 275}, tint{97, 7, 278}, 1.0, 308, 222, 340, 14, 84, 136, 262},
		{"rosepine", tint{22, 22, 293}, tint{97, 14, 72}, 0.72, 28, 205, 305, 358, 74, 192, 228},
		{"solarized", tint{27.5, 46, 216}, tint{96.8, 30, 95}, 1.05, 236, 188, 350, 30, 86, 118, 242},
		{"synthwave84", tint{24, 48, 297}, tint{96.5, 12, 310}, 1.5, 345, 200, 320, 20, 95, 172, 222},
		{"tokyonight", tint{23, 30, 277}, tint{96.5, 9, 268}, 1.05, 266, 216, 300, 10, 72, 132, 258},
		{"vercel", tint{11, 0, 0}, tint{99.5, 0, 0}, 1.2, 256, -1, 310, 22, 78, 152, 252},
		{"vesper", tint{17, 1, 60}, tint{98.6, 4, 80}, 0.9, 68, 172, -1, 20, 74, 170, 215},
		{"zenburn", tint{37, 4, 120}, tint{95, 14, 100}, 0.55, 92, 190, 330, 20, 80, 142, 215},
	}
}
