// Package qrcode draws a text as a QR code, for terminals and for pages.
//
// It holds no state. Start reading at Text.
package qrcode

import (
	"fmt"
	"strings"

	"rsc.io/qr"

	"github.com/lathe-agent/lathe"
)

// quiet is the border that the standard demands, in modules.
const quiet = 4

// Text draws a code for a dark terminal: light modules are blocks. A line has two rows of modules.
func Text(s string) (string, error) {
	return draw(s, "", "", func(code *qr.Code, x, y int) bool { return !code.Black(x, y) && y < code.Size+quiet })
}

// Colored draws a code for a terminal with colors: black on white, whatever the colors of the terminal are.
func Colored(s string) (string, error) {
	return draw(s, "\x1b[38;5;16;48;5;231m", "\x1b[0m", (*qr.Code).Black)
}

// draw writes a block for each module that has ink, and begins and ends each line.
func draw(s, begin, end string, hasInk func(code *qr.Code, x, y int) bool) (string, error) {
	code, err := encode(s)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		b.WriteString(begin)
		for x := -quiet; x < code.Size+quiet; x++ {
			upper, lower := hasInk(code, x, y), hasInk(code, x, y+1)
			switch {
			case upper && lower:
				b.WriteRune('█')
			case upper:
				b.WriteRune('▀')
			case lower:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString(end + "\n")
	}
	return b.String(), nil
}

// SVG draws a code as an image without scripts and links.
func SVG(s string) (string, error) {
	code, err := encode(s)
	if err != nil {
		return "", err
	}
	size := code.Size + 2*quiet
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="`, size, size, size, size)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			run := 0
			for code.Black(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", x+quiet, y+quiet, run, run)
				x += run
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String(), nil
}

func encode(s string) (*qr.Code, error) {
	code, err := qr.Encode(s, qr.L)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "the text is too long for a QR code: %w", err)
	}
	return code, nil
}
