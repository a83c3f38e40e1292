package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"testing"
)

// exif is EXIF data that says nothing but an orientation.
func exif(order binary.AppendByteOrder, orientation int) []byte {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 1)
	b = order.AppendUint16(b, 0x0112)
	b = order.AppendUint16(b, 3)
	b = order.AppendUint32(b, 1)
	b = order.AppendUint16(b, uint16(orientation))
	return append(b, 0, 0, 0, 0, 0, 0)
}

// photo is a JPEG of four colors, in quarters, as a camera stores it.
func photo(t *testing.T, exif []byte) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 320, 160))
	for i, c := range quarters {
		area := image.Rect(0, 0, 160, 80).Add(image.Pt(i%2*160, i/2*80))
		draw.Draw(img, area, image.NewUniform(c), image.Point{}, draw.Src)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	segment := append([]byte("Exif\x00\x00"), exif...)
	head := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(len(segment)+2))
	return append(append(head, segment...), b.Bytes()[2:]...)
}

var quarters = []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}}

// seen are the quarters of an image as letters: top left, top right, bottom left, bottom right.
func seen(img image.Image) (letters string) {
	size := img.Bounds().Size()
	for i := range 4 {
		r, g, b, _ := img.At(size.X/4+i%2*size.X/2, size.Y/4+i/2*size.Y/2).RGBA()
		switch hi := [3]bool{r > 1<<15, g > 1<<15, b > 1<<15}; hi {
		case [3]bool{true, false, false}:
			letters += "R"
		case [3]bool{false, true, false}:
			letters += "G"
		case [3]bool{false, false, true}:
			letters += "B"
		case [3]bool{true, true, true}:
			letters += "W"
		default:
			letters += "?"
		}
	}
	return letters
}

// A photo that is scaled down looks as it did: all ways to hold a camera.
func TestFit_Orientation(t *testing.T) {
	limits := Limits{Width: 80, Height: 60, Bytes: 1 << 20}
	for i, want := range []string{"RGBW", "GRWB", "WBGR", "BWRG", "RBGW", "BRWG", "WGBR", "GWRB"} {
		size := image.Pt(80, 40)
		if i+1 >= 5 {
			size = image.Pt(30, 60)
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			got, mime, ok := Fit(photo(t, exif(order, i+1)), "image/jpeg", limits)
			img, _, err := image.Decode(bytes.NewReader(got))
			if !ok || err != nil || img.Bounds().Size() != size || seen(img) != want {
				t.Errorf("orientation %d, %v: %v %s %v", i+1, order, ok, mime, err)
				if err == nil {
					t.Errorf("%v %s, want %v %s", img.Bounds().Size(), seen(img), size, want)
				}
			}
		}
	}
}

// EXIF data that lies is no orientation, and never a failure.
func TestOrientation_Broken(t *testing.T) {
	whole := photo(t, exif(binary.BigEndian, 6))
	if got := orientation(whole); got != 6 {
		t.Fatalf("orientation %d, want 6", got)
	}
	for n := range 38 {
		if got := orientation(whole[:n]); got != 1 {
			t.Errorf("the first %d bytes: orientation %d", n, got)
		}
	}
	for _, data := range [][]byte{exif(binary.BigEndian, 0), exif(binary.BigEndian, 9), []byte("II*\x00\xff\xff\xff\xff"), []byte("II*\x00\x08\x00\x00\x00\xff\xff")} {
		if got := orientation(photo(t, data)); got != 1 {
			t.Errorf("%q: orientation %d", data, got)
		}
	}
}

// bits writes numbers from the lowest bit on.
type bits struct {
	out []byte
	n   int
}

func (b *bits) put(value uint32, width int) {
	for i := range width {
		if b.n%8 == 0 {
			b.out = append(b.out, 0)
		}
		b.out[b.n/8] |= byte(value>>i&1) << (b.n % 8)
		b.n++
	}
}

// asWebP is a lossless WebP of one color: each channel has one symbol, so that no pixel takes a bit.
func asWebP(w, h int, c color.RGBA, chunks ...[]byte) []byte {
	b := bits{out: []byte{0x2f}, n: 8}
	b.put(uint32(w-1), 14)
	b.put(uint32(h-1), 14)
	b.put(0, 1+3) // no alpha, version 0
	b.put(0, 3)   // no transform, no cache of colors, one group of codes
	for _, symbol := range []uint8{c.G, c.R, c.B, c.A} {
		b.put(1, 1) // a simple code
		b.put(0, 1) // of one symbol
		b.put(1, 1) // of eight bits
		b.put(uint32(symbol), 8)
	}
	b.put(1, 4) // a simple code of one symbol of one bit, 0: no distance
	chunk := func(name string, data []byte) []byte {
		out := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data))), data...)
		return append(out, make([]byte, len(data)%2)...)
	}
	body := []byte("WEBP")
	if len(chunks) > 0 {
		head := []byte{8, 0, 0, 0}
		for _, n := range []int{w - 1, h - 1} {
			head = append(head, byte(n), byte(n>>8), byte(n>>16))
		}
		body = append(body, chunk("VP8X", head)...)
	}
	body = append(body, chunk("VP8L", b.out)...)
	for _, data := range chunks {
		body = append(body, chunk("EXIF", data)...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// A WebP that is too large is scaled like any other image.
func TestFit_WebP(t *testing.T) {
	red := color.RGBA{200, 10, 20, 255}
	for name, c := range map[string]struct {
		data []byte
		size image.Point
	}{
		"plain":  {asWebP(300, 100, red), image.Pt(150, 50)},
		"turned": {asWebP(300, 100, red, exif(binary.LittleEndian, 6)), image.Pt(50, 150)},
	} {
		got, mime, ok := Fit(c.data, "image/webp", Limits{Width: 150, Height: 150, Bytes: 1 << 20})
		img, format, err := image.Decode(bytes.NewReader(got))
		if !ok || err != nil || mime != "image/"+format || mime == "image/webp" || img.Bounds().Size() != c.size || color.RGBAModel.Convert(img.At(9, 9)) != color.Color(red) {
			t.Errorf("%s: %v %s %s %v", name, ok, mime, format, err)
		}
	}
}
