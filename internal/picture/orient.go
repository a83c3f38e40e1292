package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// Orientation is how a camera was held, as EXIF counts it: 1 is upright, 2 to 4 keep width and
// height, 5 to 8 swap them. Re-encoding an image loses this tag, so its pixels are turned.

// orientation reads the orientation of a JPEG or WebP. What cannot be read is upright.
func orientation(data []byte) int {
	tiff := exifOf(data)
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	const entry, tagOrientation, typeShort = 12, 0x0112, 3
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entry {
			break
		}
		if order.Uint16(entries) == tagOrientation && order.Uint16(entries[2:]) == typeShort {
			if n := int(order.Uint16(entries[8:])); n >= 1 && n <= 8 {
				return n
			}
			break
		}
		entries = entries[entry:]
	}
	return 1
}

// exifOf finds the EXIF data of an image, nil if there is none.
func exifOf(data []byte) []byte {
	if bytes.HasPrefix(data, []byte("RIFF")) {
		return exifOfWebP(data)
	}
	return exifOfJPEG(data)
}

// exifOfJPEG looks at the segments before the pixels.
func exifOfJPEG(data []byte) []byte {
	const app1, scan = 0xe1, 0xda
	head := []byte("Exif\x00\x00")
	for data = data[min(2, len(data)):]; len(data) >= 4 && data[0] == 0xff && data[1] != scan; {
		size := int(binary.BigEndian.Uint16(data[2:]))
		if size < 2 || 2+size > len(data) {
			return nil
		}
		if body := data[4 : 2+size]; data[1] == app1 && bytes.HasPrefix(body, head) {
			return body[len(head):]
		}
		data = data[2+size:]
	}
	return nil
}

// exifOfWebP looks at the chunks of a RIFF file.
func exifOfWebP(data []byte) []byte {
	const head = 12 // RIFF, the size, WEBP
	for data = data[min(head, len(data)):]; len(data) >= 8; {
		size := uint64(binary.LittleEndian.Uint32(data[4:]))
		if 8+size > uint64(len(data)) {
			return nil
		}
		if string(data[:4]) == "EXIF" {
			return bytes.TrimPrefix(data[8:8+size], []byte("Exif\x00\x00"))
		}
		data = data[min(8+size+size%2, uint64(len(data))):]
	}
	return nil
}

// upright turns an image with this orientation so that its first row is the top.
func upright(img *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 {
		return img
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	size := image.Pt(w, h)
	if orientation >= 5 {
		size = image.Pt(h, w)
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	for y := range h {
		for x := range w {
			to := turned(image.Pt(x, y), w, h, orientation)
			out.SetRGBA(to.X, to.Y, img.RGBAAt(x, y))
		}
	}
	return out
}

// turned is where a pixel of an image of that width and height belongs.
func turned(p image.Point, w, h, orientation int) image.Point {
	right, bottom := w-1-p.X, h-1-p.Y
	switch orientation {
	case 2:
		return image.Pt(right, p.Y)
	case 3:
		return image.Pt(right, bottom)
	case 4:
		return image.Pt(p.X, bottom)
	case 5:
		return image.Pt(p.Y, p.X)
	case 6:
		return image.Pt(bottom, p.X)
	case 7:
		return image.Pt(bottom, right)
	case 8:
		return image.Pt(p.Y, right)
	}
	return p
}
