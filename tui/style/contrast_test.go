package style_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tui/style"
)

// Every text of the theme for people who need it reads with at least 7 to 1 on every ground that it can stand on, and
// borders with 4.5. The default theme does not.
func TestHighContrast(t *testing.T) {
	if n := belowAAA(style.Default(true)); len(n) == 0 {
		t.Error("the default theme passes too, so that this test shows nothing")
	}
	for _, dark := range []bool{true, false} {
		th := style.HighContrast(dark)
		for _, problem := range belowAAA(th) {
			t.Errorf("dark %v: %s", dark, problem)
		}
		for _, c := range []style.Color{th.Border, th.BorderActive, th.BorderSubtle} {
			if got := style.Contrast(c, th.Background); got < 4.5 {
				t.Errorf("dark %v: a border has %.1f", dark, got)
			}
		}
		if got := style.Contrast(th.Thinking(), th.Background); got < 7 {
			t.Errorf("dark %v: reasoning has %.1f", dark, got)
		}
	}
	if !slices.Contains(style.Names(), style.HighContrastName) {
		t.Error("it is not in the list")
	}
}

// belowAAA lists the colors of a theme that read with less than 7 to 1.
func belowAAA(th *style.Theme) (out []string) {
	all := colorsOf(th)
	check := func(name string, grounds ...string) {
		for _, g := range grounds {
			if style.Contrast(all[name], all[g]) < 7 {
				out = append(out, name+" on "+g)
			}
		}
	}
	plain := []string{"Background", "BackgroundPanel", "BackgroundElement", "BackgroundMenu"}
	for name := range all {
		switch {
		case strings.Contains(name, "Background"), strings.HasSuffix(name, "Bg"), strings.HasPrefix(name, "Border"), name == "MarkdownHorizontalRule":
		case name == "SelectedText":
			check(name, "Primary", "Warning", "Error", "Success", "Info")
		case strings.Contains(name, "Added"):
			check(name, "DiffAddedBg", "DiffAddedLineNumberBg")
		case strings.Contains(name, "Removed"):
			check(name, "DiffRemovedBg", "DiffRemovedLineNumberBg")
		case strings.HasPrefix(name, "Diff"):
			check(name, "DiffContextBg")
		default:
			check(name, plain...)
		}
	}
	return out
}

// Without colors the selected entry is inverted, and no color is left.
func TestMonochrome(t *testing.T) {
	th := style.Default(true)
	line := style.Of("chosen", style.Attr{FG: th.SelectedText, BG: th.Primary, Bold: true}).Add(" other", style.Attr{FG: th.TextMuted, BG: th.BackgroundPanel, Link: "https://a.example"})
	got := style.Monochrome(th, []style.Line{line})
	want := style.Of("chosen", style.Attr{Bold: true, Invert: true}).Add(" other", style.Attr{Link: "https://a.example"})
	if style.Render(got) != style.Render([]style.Line{want}) {
		t.Errorf("%q", style.Render(got))
	}
}
