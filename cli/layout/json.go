package layout

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// JSONTo returns a JSON writer that is safe for a terminal: it escapes control and bidirectional characters as \uXXXX.
func JSONTo(w io.Writer) *jsonWriter { return &jsonWriter{to: w} }

type jsonWriter struct {
	to   io.Writer
	rest []byte // the first bytes of an incomplete character
}

// Encoder returns an encoder that writes one value per line.
func (w *jsonWriter) Encoder() *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// Write escapes complete characters and holds back an incomplete one.
func (w *jsonWriter) Write(p []byte) (int, error) {
	text := p
	if len(w.rest) > 0 {
		text = append(w.rest, p...)
		w.rest = nil
	}
	if n := len(text); n > 0 {
		for i := n - 1; i >= 0 && i >= n-utf8.UTFMax; i-- {
			if utf8.RuneStart(text[i]) {
				if !utf8.FullRune(text[i:]) {
					w.rest = append([]byte(nil), text[i:]...)
					text = text[:i]
				}
				break
			}
		}
	}
	if _, err := w.to.Write(EscapeJSON(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// EscapeJSON escapes the characters that change a terminal's display. They occur only in strings.
func EscapeJSON(text []byte) []byte {
	out, from := text[:0:0], 0
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || IsUnsafe(r) {
			out = fmt.Appendf(append(out, text[from:i]...), `\u%04x`, r)
			from = i + size
		}
		i += size
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

// IsUnsafe reports whether a character controls the terminal or the text direction.
func IsUnsafe(r rune) bool {
	switch {
	case r == 0x7f, unicode.IsControl(r) && r >= 0x80, r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069',
		r == '\u200e', r == '\u200f', r == '\u061c', r == '\u2028', r == '\u2029':
		return true
	}
	return false
}
