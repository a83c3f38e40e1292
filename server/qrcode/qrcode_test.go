package qrcode_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"rsc.io/qr"

	"github.com/lathe-agent/lathe/server/qrcode"
)

const address = "https://192.0.2.1:4096/#pair=abcdefghijklmnopqrstuvwxyz0123456789-_ABCDEFG"

// The text has the modules of the code, each line two rows, within a light border of four modules. In color it is black
// on white, without it the blocks are light.
func TestText(t *testing.T) {
	want, err := qr.Encode(address, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	const border, begin, end = 4, "\x1b[38;5;16;48;5;231m", "\x1b[0m"
	for name, draw := range map[string]func(string) (string, error){"plain": qrcode.Text, "colored": qrcode.Colored} {
		text, err := draw(address)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) != (want.Size+2*border+1)/2 {
			t.Fatalf("%s: %d lines", name, len(lines))
		}
		for i, line := range lines {
			if name == "colored" {
				if !strings.HasPrefix(line, begin) || !strings.HasSuffix(line, end) {
					t.Fatalf("line without colors: %q", line)
				}
				lines[i] = strings.TrimSuffix(strings.TrimPrefix(line, begin), end)
			}
			if n := len([]rune(lines[i])); n != want.Size+2*border {
				t.Fatalf("%s: line %d has %d columns", name, i, n)
			}
		}
		for y := -border; y < want.Size+border; y++ {
			for x := -border; x < want.Size+border; x++ {
				row := y + border
				shown := []rune(lines[row/2])[x+border]
				ink := shown == '█' || shown == '▀' && row%2 == 0 || shown == '▄' && row%2 == 1
				if dark := ink == (name == "colored"); dark != want.Black(x, y) {
					t.Fatalf("%s: module %d,%d is wrong:\n%s", name, x, y, text)
				}
			}
		}
	}
}

// The image is XML without scripts, links and text of others.
func TestSVG(t *testing.T) {
	image, err := qrcode.SVG(address + `"><script>`)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for in := xml.NewDecoder(strings.NewReader(image)); ; {
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			names[e.Name.Local] = true
		}
	}
	if len(names) != 3 || !names["svg"] || !names["rect"] || !names["path"] {
		t.Errorf("it has %v", names)
	}
	if _, err := qrcode.SVG(strings.Repeat("x", 5000)); err == nil {
		t.Error("a text that is too long is drawn")
	}
}
