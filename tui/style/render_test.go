package style_test

import (
	"image/color"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/lathe-agent/lathe/tui/style"
	"pgregory.net/rapid"
)

// What a terminal makes of the bytes are the cells that the lines had.
func TestRender_SameCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ls := rapid.SliceOfN(lines(), 1, 4).Draw(t, "lines")
		const width = 50
		for i := range ls {
			ls[i] = ls[i].Cut(0, width)
		}
		screen := uv.NewScreenBuffer(width, len(ls))
		screen.Method = ansi.WcWidth
		uv.NewStyledString(strings.ReplaceAll(style.Render(ls), "\n", "\r\n")).Draw(screen, screen.Bounds())
		for y, l := range ls {
			checkRow(t, l, func(x int) *uv.Cell { return screen.CellAt(x, y) })
		}
	})
}

// checkRow compares the looks of every cell, and the text as a whole: where a mark belongs to is the
// terminal's business.
func checkRow(t *rapid.T, l style.Line, at func(x int) *uv.Cell) {
	t.Helper()
	x := 0
	for _, s := range l {
		for range style.Width(s.Text) {
			c := at(x)
			x++
			if c == nil || c.IsZero() { // the second half of a wide one
				continue
			}
			if !sameLooks(c, s.Attr) {
				t.Fatalf("cell %d of %q: %+v, want %+v", x-1, l.Text(), c.Style, s.Attr)
			}
		}
	}
	var got strings.Builder
	for i := range x {
		if c := at(i); c != nil {
			got.WriteString(c.Content)
		}
	}
	if plain(got.String()) != plain(l.Text()) {
		t.Fatalf("the screen says %+q, the line %+q", got.String(), l.Text())
	}
}

// plain leaves out what has no width.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if style.Width(string(r)) > 0 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func sameLooks(c *uv.Cell, a style.Attr) bool {
	flags := uint8(0)
	for _, f := range []struct {
		on  bool
		bit uint8
	}{{a.Bold, uv.AttrBold}, {a.Faint, uv.AttrFaint}, {a.Italic, uv.AttrItalic}, {a.Strike, uv.AttrStrikethrough}, {a.Invert, uv.AttrReverse}} {
		if f.on {
			flags |= f.bit
		}
	}
	link := strings.ReplaceAll(a.Link, ";", "%3B")
	if strings.ContainsAny(link, "\x1b ") {
		link = ""
	}
	return c.Style.Attrs == flags && (c.Style.Underline == ansi.UnderlineSingle) == a.Underline &&
		sameColor(c.Style.Fg, a.FG) && sameColor(c.Style.Bg, a.BG) && c.Link.URL == link
}

func sameColor(got color.Color, want style.Color) bool {
	if got == nil || !want.IsSet() {
		return got == nil && !want.IsSet()
	}
	r, g, b, _ := got.RGBA()
	wr, wg, wb, _ := want.Image().RGBA()
	return r == wr && g == wg && b == wb
}

func TestRender_EndsAsItBegan(t *testing.T) {
	l := style.Of("x", style.Attr{FG: style.Palette(3), Bold: true, Link: "https://example.com"})
	want := "\x1b]8;;https://example.com\x1b\\\x1b[;1;33mx\x1b]8;;\x1b\\\x1b[m"
	if got := style.Render([]style.Line{l}); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := style.Render([]style.Line{style.Plain("a"), nil, style.Plain("b")}); got != "a\n\nb" {
		t.Errorf("plain lines: %q", got)
	}
}

func BenchmarkRender(b *testing.B) {
	th := style.Default(true)
	rows := make([]style.Line, 60)
	for i := range rows {
		for j := range 20 {
			rows[i] = rows[i].Add("ten cells ", style.Attr{FG: []style.Color{th.Text, th.Primary, th.Info}[(i+j)%3], BG: th.Background})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		style.Render(rows)
	}
}

func BenchmarkWrap(b *testing.B) {
	l := style.Plain(strings.Repeat("some words of a text that is wrapped ", 30))
	b.ReportAllocs()
	for b.Loop() {
		l.Wrap(80, nil)
	}
}

func BenchmarkClean(b *testing.B) {
	text := strings.Repeat("caf\u00e9 – “日本語” and ASCII ", 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		style.Clean(text)
	}
}

func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		style.Builtin("tokyonight", true)
	}
}
