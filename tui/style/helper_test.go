package style_test

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
	"pgregory.net/rapid"
)

// pieces are what hostile and honest texts are made of.
var pieces = []string{
	"a", "word", "longer-word", " ", "  ", "\t", "漢字", "仮名", "한국어", "é", "e\u0301", "\u0301\u0302", "🙂", "👩‍👩‍👧", "👍🏽", "🏳️‍🌈", "🇫🇷",
	"שלום", "مرحبا", "\u202edesrever\u202c", "\u2066x\u2069", "\u200b", "\u200d", "\ufeff", "\u00ad", "\x00", "\x07", "\x1b[31m", "\x1b]0;title\x07",
	"\x1b[2J\x1b[H", "\x9b31m", "\xff\xfe", "\n", "\r\n", "\r", "\u2028", "क्षत्रिय", "ﷺ", "\u1100\u1100\u1100\u1100\u1100", "\U000e0041\U000e0042", "\u1100\u1161\u11a8", "…", "—",
}

// texts draws a text of anything.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 30).Draw(t, "pieces"), "")
	})
}

func colors() *rapid.Generator[style.Color] {
	return rapid.OneOf(
		rapid.Just(style.Color{}),
		rapid.Map(rapid.Uint8(), style.Palette),
		rapid.Map(rapid.Uint32Range(0, 0xffffff), style.Hex),
	)
}

func attrs() *rapid.Generator[style.Attr] {
	return rapid.Custom(func(t *rapid.T) style.Attr {
		bits := rapid.Uint8().Draw(t, "bits")
		return style.Attr{
			FG: colors().Draw(t, "fg"), BG: colors().Draw(t, "bg"),
			Bold: bits&1 > 0, Faint: bits&2 > 0, Italic: bits&4 > 0, Underline: bits&8 > 0, Strike: bits&16 > 0, Invert: bits&32 > 0,
			Link: rapid.SampledFrom([]string{"", "", "https://example.com/a?b=c;d", "bad\x1b\\link", "file:///tmp/a b"}).Draw(t, "link"),
		}
	})
}

// lines draws a line of several pieces.
func lines() *rapid.Generator[style.Line] {
	return rapid.Custom(func(t *rapid.T) style.Line {
		var l style.Line
		for range rapid.IntRange(0, 6).Draw(t, "spans") {
			l = l.Add(texts().Draw(t, "text"), attrs().Draw(t, "attr"))
		}
		return l
	})
}

// bare is a text without its spaces.
func bare(s string) string { return strings.ReplaceAll(s, " ", "") }
