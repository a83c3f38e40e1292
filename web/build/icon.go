package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// drawIcons draws the icons of the app as PNG: a workpiece on a lathe, as in icon.svg.
func drawIcons(dir string) error {
	for _, size := range []int{192, 512} {
		f, err := os.Create(filepath.Join(dir, "icon-"+strconv.Itoa(size)+".png"))
		if err != nil {
			return err
		}
		if err := png.Encode(f, drawIcon(size)); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// bar is a rounded bar of the icon, in units of a 64th of its size.
type bar struct {
	x0, x1, y, r float64
	c            color.RGBA
}

func bars() []bar {
	light, accent := color.RGBA{0xf4, 0xf1, 0xea, 0xff}, color.RGBA{0xf0, 0x8a, 0x3c, 0xff}
	return []bar{{18, 38, 22, 3, light}, {18, 46, 32, 3, accent}, {18, 30, 42, 3, light}}
}

// drawIcon takes 16 samples for each pixel.
func drawIcon(size int) image.Image {
	out, const4 := image.NewRGBA(image.Rect(0, 0, size, size)), 4
	back := color.RGBA{0x1d, 0x23, 0x2b, 0xff}
	for py := range size {
		for px := range size {
			var sum [3]float64
			for s := range const4 * const4 {
				x := (float64(px) + (float64(s%const4)+0.5)/4) * 64 / float64(size)
				y := (float64(py) + (float64(s/const4)+0.5)/4) * 64 / float64(size)
				c := back
				for _, b := range bars() {
					if math.Hypot(x-min(max(x, b.x0), b.x1), y-b.y) <= b.r {
						c = b.c
					}
				}
				sum[0] += float64(c.R)
				sum[1] += float64(c.G)
				sum[2] += float64(c.B)
			}
			out.SetRGBA(px, py, color.RGBA{uint8(sum[0] / 16), uint8(sum[1] / 16), uint8(sum[2] / 16), 0xff})
		}
	}
	return out
}
