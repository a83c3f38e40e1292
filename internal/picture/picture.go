// Package picture makes images small enough to be shown to models.
//
// It owns how PNG, JPEG, GIF and WebP are decoded, turned upright, scaled down and encoded
// again, but not where they come from. It has no state. An image that fits is never touched,
// and one whose format it does not know only has its bytes counted.
//
// Start reading at [Fit].
package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// Limits are the limits of an image: width and height in pixels, and size in bytes.
type Limits struct{ Width, Height, Bytes int }

const (
	// maxPixels is the largest image that is decoded: a small file can hold one that fills the memory.
	maxPixels = 64 << 20
	// least is the side below which nothing can be seen, in pixels.
	least = 32
)

// format is how one kind of image is read.
type format struct {
	magic  string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

func formats() []format {
	return []format{
		{"\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
		{"\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode},
		{"GIF8", gif.DecodeConfig, gif.Decode},
		{"RIFF", webp.DecodeConfig, webp.Decode},
	}
}

// Fit returns an image within the limits: itself if it is, else a smaller one, with its type. It
// reports false where there can be none.
func Fit(data []byte, mime string, l Limits) (_ []byte, _ string, ok bool) {
	for _, f := range formats() {
		if !bytes.HasPrefix(data, []byte(f.magic)) {
			continue
		}
		c, err := f.config(bytes.NewReader(data))
		switch {
		case err != nil, c.Width <= l.Width && c.Height <= l.Height && len(data) <= l.Bytes:
			return data, mime, len(data) <= l.Bytes
		case c.Width <= 0 || c.Height <= 0 || c.Width > maxPixels/c.Height:
			return nil, "", false
		}
		img, err := f.decode(bytes.NewReader(data))
		if err != nil {
			return data, mime, len(data) <= l.Bytes // its provider may read it
		}
		return smaller(img, orientation(data), l)
	}
	return data, mime, len(data) <= l.Bytes
}

// smaller scales an image down until it fits, and turns it upright.
func smaller(img image.Image, orientation int, l Limits) ([]byte, string, bool) {
	size := img.Bounds().Size()
	if orientation >= 5 { // it lies on its side
		l.Width, l.Height = l.Height, l.Width
	}
	scale := min(1, float64(l.Width)/float64(size.X), float64(l.Height)/float64(size.Y))
	for {
		to := image.Pt(max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale)))
		small := upright(shrink(img, to), orientation)
		if data, mime := encode(small, l.Bytes); data != nil {
			return data, mime, true
		}
		if max(to.X, to.Y) <= least {
			return nil, "", false
		}
		scale *= 0.7
	}
}

// encode writes an image in the first form that is short enough: sharp ones first.
func encode(img *image.RGBA, most int) ([]byte, string) {
	var b bytes.Buffer
	if png.Encode(&b, img) == nil && b.Len() <= most {
		return b.Bytes(), "image/png"
	}
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), img, img.Bounds().Min, draw.Over)
	for _, quality := range []int{85, 60} {
		b.Reset()
		if jpeg.Encode(&b, flat, &jpeg.Options{Quality: quality}) == nil && b.Len() <= most {
			return b.Bytes(), "image/jpeg"
		}
	}
	return nil, ""
}

// shrink makes an image of that size, each pixel the mean of those it stands for. It looks at a few
// rows at a time.
func shrink(img image.Image, to image.Point) *image.RGBA {
	from := img.Bounds()
	out := image.NewRGBA(image.Rectangle{Max: to})
	rows := image.NewRGBA(image.Rect(0, 0, from.Dx(), from.Dy()/to.Y+1))
	for y := range to.Y {
		top, bottom := y*from.Dy()/to.Y, max(y*from.Dy()/to.Y+1, (y+1)*from.Dy()/to.Y)
		strip := image.Rect(0, 0, from.Dx(), bottom-top)
		draw.Draw(rows, strip, img, from.Min.Add(image.Pt(0, top)), draw.Src)
		for x := range to.X {
			left, right := x*from.Dx()/to.X, max(x*from.Dx()/to.X+1, (x+1)*from.Dx()/to.X)
			out.SetRGBA(x, y, mean(rows, image.Rect(left, 0, right, bottom-top)))
		}
	}
	return out
}

// mean is the color of an area as one.
func mean(img *image.RGBA, area image.Rectangle) color.RGBA {
	var sum [4]int
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := img.Pix[img.PixOffset(area.Min.X, y) : img.PixOffset(area.Max.X-1, y)+4]
		for i, v := range row {
			sum[i%4] += int(v)
		}
	}
	n := area.Dx() * area.Dy()
	return color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), uint8(sum[3] / n)}
}
