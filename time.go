package lathe

import (
	"math"
	"time"
	"unicode/utf8"
)

// Time is milliseconds since the Unix epoch as the wire has it. It is a double
// because stored data holds fractions and negative values, and because what was
// read must be written back unchanged. Zero means absent where a time is optional.
type Time float64

// Now returns the present time in whole milliseconds.
func Now() Time { return Time(time.Now().UnixMilli()) }

// TimeOf converts from the standard library, dropping less than a millisecond.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// Std converts to the standard library; a value no clock can show becomes the zero time.
func (t Time) Std() time.Time {
	if t == 0 || math.Abs(float64(t)) > 1e15 || t != t {
		return time.Time{}
	}
	return time.UnixMilli(int64(t))
}

// ISO writes the time in UTC with milliseconds, as default titles show it.
func (t Time) ISO() string { return time.UnixMilli(int64(t)).UTC().Format("2006-01-02T15:04:05.000Z") }

// Flag is an optional boolean: absent, true or false on the wire.
type Flag uint8

// The three states of a Flag.
const (
	Unset Flag = iota
	Yes
	No
)

// On reports whether the flag is present and true.
func (f Flag) On() bool { return f == Yes }

// FlagOf returns Yes or No.
func FlagOf(b bool) Flag {
	if b {
		return Yes
	}
	return No
}

// UTF16Len is the length every formula of the wire counts in: UTF-16 code units.
func UTF16Len(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n, i = n+1, i+1
			continue
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		n, i = n+1, i+w
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
