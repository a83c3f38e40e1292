package styletest

import "strings"

// Hostile are texts that try to do something to the screen, and honest ones that are hard to measure. None is
// longer than a few thousand letters, so that a property can have many of them; Megabyte is one that is.
func Hostile() []string {
	return []string{
		"", " ", "\n\n\n", "two\nlines\r\n\tand more", "\r\nreturn\rreturn", "\t\ttabs",
		"\x1b[2J\x1b]0;x\x07", "\x1b]0;title\x07\x1b[2J\x1b[H\x9b31m", "\u202egnp.exe\u202c", "\u202eevil\u2066x\u2069", "a\x00b", "\x00\xff", "\xff\xfe\xc3",
		"日本語の長い名前がここにある", "e\u0301\u0302\u0303", "e\u0301\u0302 שלום مرحبا 👩‍👩‍👧", "👩‍👩‍👧‍👦 ✈️ 🏽", "İstanbul ǅ ß",
		"\U000e0041\U000e0042", "\u3164\u2800\u00a0", strings.Repeat("x", 3000), strings.Repeat("日", 200),
		strings.Repeat("a\u0300", 500), strings.Repeat("\n", 300),
	}
}

// Megabyte is a text of one word without an end in sight.
func Megabyte() string { return strings.Repeat("x", 1<<20) }
