package style

import "math"

// Contrast tells how well one color of 24 bits reads on another, from 1 (not at all) to 21. Below 3 a text
// is hard to find, from 7 on it is easy to read. Colors of a terminal's palette are not known: 0.
func Contrast(a, b Color) float64 {
	if a.kind != trueColor || b.kind != trueColor {
		return 0
	}
	hi, lo := a.light(), b.light()
	if hi < lo {
		hi, lo = lo, hi
	}
	return (hi + 0.05) / (lo + 0.05)
}

// light is how much light a color gives off, as eyes weigh it.
func (c Color) light() float64 {
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// linear turns a channel of a screen into an amount of light.
func linear(v uint8) float64 {
	x := float64(v) / 255
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

// readable moves a color towards another, away from the grounds it stands on, until it can be read on all of
// them. Where even that one cannot, it is taken as it is.
func readable(c, towards Color, least float64, grounds ...Color) Color {
	for share := 1.0; share > 0; share -= 0.05 {
		if mixed := c.Blend(towards, share); least <= leastContrast(mixed, grounds) {
			return mixed
		}
	}
	return towards
}

func leastContrast(c Color, grounds []Color) float64 {
	least := 21.0
	for _, g := range grounds {
		if c.kind == trueColor && g.kind == trueColor {
			least = min(least, Contrast(c, g))
		}
	}
	return least
}

// oklch makes a color of a lightness (0 to 1), a strength (0 is gray, 0.3 is loud) and a hue in degrees, in
// a space where equal steps look equal; so one row of hues serves a dark and a light theme.
func oklch(l, strength, hue float64) Color {
	a, b := strength*math.Cos(hue*math.Pi/180), strength*math.Sin(hue*math.Pi/180)
	cube := func(x float64) float64 { return x * x * x }
	x, y, z := cube(l+0.3963377774*a+0.2158037573*b), cube(l-0.1055613458*a-0.0638541728*b), cube(l-0.0894841775*a-1.2914855480*b)
	return RGB(
		channel(4.0767416621*x-3.3077115913*y+0.2309699292*z),
		channel(-1.2684380046*x+2.6097574011*y-0.3413193965*z),
		channel(-0.0041960863*x-0.7034186147*y+1.7076147010*z),
	)
}

// channel turns an amount of light into a channel of a screen.
func channel(x float64) uint8 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 255
	case x <= 0.0031308:
		return uint8(x*12.92*255 + 0.5)
	default:
		return uint8((1.055*math.Pow(x, 1/2.4)-0.055)*255 + 0.5)
	}
}
