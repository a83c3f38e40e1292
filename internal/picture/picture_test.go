package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"
)

// noise is an image that nothing packs well.
func noise(w, h int) *image.RGBA {
	img, r := image.NewRGBA(image.Rect(0, 0, w, h)), rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(r.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// huge is the head of an image that announces more than fits a memory.
func huge() []byte {
	head := []byte("IHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x02\x00\x00\x00")
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))
}

func TestFit(t *testing.T) {
	var jpg, gf bytes.Buffer
	if err := jpeg.Encode(&jpg, noise(300, 100), nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&gf, noise(100, 300), nil); err != nil {
		t.Fatal(err)
	}
	wide := Limits{Width: 150, Height: 150, Bytes: 1 << 20}
	for _, c := range []struct {
		name   string
		data   []byte
		limits Limits
		size   image.Point // 0 means that it stays as it is
		ok     bool
	}{
		{"fits", asPNG(t, noise(100, 100)), wide, image.Point{}, true},
		{"too wide", jpg.Bytes(), wide, image.Pt(150, 50), true},
		{"too high", gf.Bytes(), wide, image.Pt(50, 150), true},
		{"too long", asPNG(t, noise(140, 140)), Limits{150, 150, 20_000}, image.Pt(140, 140), true},
		{"much too long", asPNG(t, noise(140, 140)), Limits{150, 150, 2000}, image.Pt(48, 48), true},
		{"nothing fits", asPNG(t, noise(140, 140)), Limits{150, 150, 100}, image.Point{}, false},
		{"unknown and short", []byte("RIFF....WEBP"), wide, image.Point{}, true},
		{"unknown and long", bytes.Repeat([]byte("RIFF"), 1<<20), wide, image.Point{}, false},
		{"broken and short", []byte("\x89PNG\r\n\x1a\nxxxx"), wide, image.Point{}, true},
		{"one that would fill the memory", huge(), wide, image.Point{}, false},
	} {
		got, mime, ok := Fit(c.data, "image/x", c.limits)
		if ok != c.ok || ok && len(got) > c.limits.Bytes {
			t.Errorf("%s: %v with %d bytes", c.name, ok, len(got))
			continue
		}
		if c.size == (image.Point{}) {
			if ok && (!bytes.Equal(got, c.data) || mime != "image/x") {
				t.Errorf("%s: was changed to %s", c.name, mime)
			}
			continue
		}
		img, format, err := image.Decode(bytes.NewReader(got))
		if err != nil || mime != "image/"+format || img.Bounds().Size() != c.size {
			t.Errorf("%s: %s %s of %v, %v", c.name, mime, format, img.Bounds(), err)
		}
	}
}

// A color stays what it is, and what can be seen through as well.
func TestShrink(t *testing.T) {
	img := image.NewRGBA(image.Rect(5, 7, 105, 57))
	for y := 7; y < 57; y++ {
		for x := 5; x < 105; x++ {
			img.SetRGBA(x, y, color.RGBA{R: 200, A: 200})
			if x >= 55 {
				img.SetRGBA(x, y, color.RGBA{B: 90, A: 255})
			}
		}
	}
	got := shrink(img, image.Pt(10, 3))
	for x := range 10 {
		want := color.RGBA{R: 200, A: 200}
		if x >= 5 {
			want = color.RGBA{B: 90, A: 255}
		}
		for y := range 3 {
			if c := got.RGBAAt(x, y); c != want {
				t.Errorf("at %d, %d: %v", x, y, c)
			}
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(asPNG(f, noise(20, 30)))
	f.Add(asWebP(40, 30, color.RGBA{9, 9, 9, 255}, exif(binary.BigEndian, 5)))
	f.Add([]byte("GIF89a"))
	f.Add([]byte("\xff\xd8\xff\xe0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := Limits{Width: 16, Height: 16, Bytes: 4000}
		if got, _, ok := Fit(data, "image/x", l); ok && len(got) > l.Bytes {
			t.Errorf("%d bytes", len(got))
		}
	})
}
