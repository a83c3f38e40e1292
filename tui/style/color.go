package style

import (
	"image/color"
	"strconv"

	"github.com/charmbracelet/x/ansi"
)

// Color is a color of 24 bits, one of the terminal's palette, or none (transparent).
type Color struct {
	kind    colorKind
	r, g, b uint8 // of a palette's color, r is its number
}

type colorKind uint8

const (
	noColor colorKind = iota
	trueColor
	paletteColor
)

// RGB makes a color of 24 bits.
func RGB(r, g, b uint8) Color { return Color{trueColor, r, g, b} }

// Palette makes a color of the terminal's own, 0 to 255.
func Palette(n uint8) Color { return Color{paletteColor, n, 0, 0} }

// Hex makes a color of 0xrrggbb.
func Hex(v uint32) Color { return RGB(uint8(v>>16), uint8(v>>8), uint8(v)) }

// IsSet reports whether there is a color at all.
func (c Color) IsSet() bool { return c.kind != noColor }

// Or returns other where c is none.
func (c Color) Or(other Color) Color {
	if c.IsSet() {
		return c
	}
	return other
}

// Image returns the color for the terminal library, nil for none.
func (c Color) Image() color.Color {
	switch c.kind {
	case trueColor:
		return color.RGBA{c.r, c.g, c.b, 0xff}
	case paletteColor:
		return ansi.IndexedColor(c.r)
	default:
		return nil
	}
}

// Blend mixes two colors of 24 bits: share 1 is all c, 0 all other. Others stay unchanged, since the colors of
// a terminal palette are unknown.
func (c Color) Blend(other Color, share float64) Color {
	if c.kind != trueColor || other.kind != trueColor {
		return c
	}
	mix := func(a, b uint8) uint8 { return uint8(float64(a)*share + float64(b)*(1-share) + 0.5) }
	return RGB(mix(c.r, other.r), mix(c.g, other.g), mix(c.b, other.b))
}

// Luma tells how bright a color of 24 bits is, 0 to 1; others count as dark.
func (c Color) Luma() float64 {
	if c.kind != trueColor {
		return 0
	}
	return (0.2126*float64(c.r) + 0.7152*float64(c.g) + 0.0722*float64(c.b)) / 255
}

// String writes the color as theme files do.
func (c Color) String() string {
	switch c.kind {
	case trueColor:
		const digits = "0123456789abcdef"
		return string([]byte{'#', digits[c.r>>4], digits[c.r&15], digits[c.g>>4], digits[c.g&15], digits[c.b>>4], digits[c.b&15]})
	case paletteColor:
		return strconv.Itoa(int(c.r))
	default:
		return "none"
	}
}

// appendTo writes the parameters of a color: lead is '3' for the text, '4' for the background.
func (c Color) appendTo(b []byte, lead byte) []byte {
	switch c.kind {
	case trueColor:
		b = append(b, ';', lead, '8', ';', '2', ';')
		b = strconv.AppendUint(b, uint64(c.r), 10)
		b = append(b, ';')
		b = strconv.AppendUint(b, uint64(c.g), 10)
		b = append(b, ';')
		b = strconv.AppendUint(b, uint64(c.b), 10)
	case paletteColor:
		if c.r < 8 { // which every terminal has
			return append(b, ';', lead, '0'+c.r)
		}
		b = append(b, ';', lead, '8', ';', '5', ';')
		b = strconv.AppendUint(b, uint64(c.r), 10)
	}
	return b
}
