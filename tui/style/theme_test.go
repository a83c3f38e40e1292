package style_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lathe-agent/lathe/tui/style"
)

// colorsOf lists the colors of a theme by the names of its fields.
func colorsOf(th *style.Theme) map[string]style.Color {
	out := map[string]style.Color{}
	v := reflect.ValueOf(*th)
	for i := range v.NumField() {
		if c, ok := v.Field(i).Interface().(style.Color); ok {
			out[v.Type().Field(i).Name] = c
		}
	}
	return out
}

// eachTheme calls back for all themes whose colors are known, dark and light.
func eachTheme(t *testing.T, check func(t *testing.T, th *style.Theme)) {
	t.Helper()
	for _, name := range style.Names() {
		if name == style.SystemName {
			continue
		}
		for mode, dark := range map[string]bool{"dark": true, "light": false} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				th, ok := style.Builtin(name, dark)
				if !ok || th.Name != name {
					t.Fatalf("Builtin(%q) = %v, %v", name, th, ok)
				}
				if isDark := th.Background.Luma() < 0.5; isDark != dark {
					t.Errorf("background %v is not %s", th.Background, mode)
				}
				check(t, th)
			})
		}
	}
}

func TestThemes_Contrast(t *testing.T) {
	eachTheme(t, func(t *testing.T, th *style.Theme) {
		all := colorsOf(th)
		need := func(least float64, grounds []string, names ...string) {
			t.Helper()
			for _, g := range grounds {
				for _, n := range names {
					if got := style.Contrast(all[n], all[g]); got < least {
						t.Errorf("%s %v on %s %v: %.2f, want %.1f", n, all[n], g, all[g], got, least)
					}
				}
			}
		}
		plain := []string{"Background", "BackgroundPanel", "BackgroundElement", "BackgroundMenu"}
		need(7, plain, "Text", "MarkdownText", "MarkdownCodeBlock", "SyntaxVariable")
		need(3, plain, "TextMuted", "Primary", "Secondary", "Accent", "Error", "Warning", "Success", "Info",
			"MarkdownHeading", "MarkdownLink", "MarkdownLinkText", "MarkdownCode", "MarkdownBlockQuote", "MarkdownEmph", "MarkdownStrong",
			"MarkdownListItem", "MarkdownListEnumeration", "MarkdownImage", "MarkdownImageText",
			"SyntaxComment", "SyntaxKeyword", "SyntaxFunction", "SyntaxString", "SyntaxNumber", "SyntaxType", "SyntaxOperator", "SyntaxPunctuation")
		diffs := []string{"DiffAddedBg", "DiffRemovedBg", "DiffContextBg"}
		need(4, diffs, "Text", "DiffContext", "DiffHunkHeader")
		need(4, []string{"DiffAddedBg"}, "DiffAdded", "DiffHighlightAdded")
		need(4, []string{"DiffRemovedBg"}, "DiffRemoved", "DiffHighlightRemoved")
		need(3, diffs, "SyntaxComment", "SyntaxKeyword", "SyntaxFunction", "SyntaxString", "SyntaxNumber", "SyntaxType", "SyntaxOperator", "SyntaxPunctuation")
		need(3, []string{"DiffAddedLineNumberBg", "DiffRemovedLineNumberBg", "DiffContextBg"}, "DiffLineNumber")
		need(4, []string{"Primary"}, "SelectedText")
		need(1.2, []string{"Background"}, "BorderSubtle", "Border", "BorderActive")
		for name, c := range all {
			if !c.IsSet() {
				t.Errorf("%s is none", name)
			}
		}
	})
}

// Two themes that look alike would be one too many.
func TestThemes_Differ(t *testing.T) {
	for _, dark := range []bool{true, false} {
		seen := map[[4]style.Color]string{}
		for _, name := range style.Names() {
			th, ok := style.Builtin(name, dark)
			if !ok {
				t.Fatalf("no theme %q", name)
			}
			key := [4]style.Color{th.Background, th.Primary, th.Secondary, th.Accent}
			if other, ok := seen[key]; ok {
				t.Errorf("%s and %s are the same", name, other)
			}
			seen[key] = name
		}
	}
}

func TestNames(t *testing.T) {
	names := style.Names()
	if len(names) < 16 || names[0] != "lathe" || names[1] != "system" || !slices.IsSorted(names[2:]) {
		t.Errorf("names: %q", names)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("a name is there twice: %q", names)
	}
	if th, ok := style.Builtin("no-such-theme", true); ok {
		t.Errorf("got %v", th)
	}
	if th, _ := style.Builtin("", true); th.Name != "lathe" {
		t.Errorf("without a name: %q", th.Name)
	}
	if th, ok := style.Builtin("opencode", false); !ok || th.Primary != style.Default(false).Primary {
		t.Errorf("opencode: %v, %v", th, ok)
	}
}

func TestSystem(t *testing.T) {
	th, _ := style.Builtin("system", true)
	for name, c := range map[string]style.Color{
		"Background": th.Background, "Panel": th.BackgroundPanel, "Element": th.BackgroundElement, "Text": th.Text, "DiffAddedBg": th.DiffAddedBg,
	} {
		if c.IsSet() {
			t.Errorf("%s is %v, want none", name, c)
		}
	}
	for name, c := range map[string]style.Color{"Primary": th.Primary, "Muted": th.TextMuted, "Border": th.Border, "Error": th.Error, "Selected": th.SelectedText} {
		if !c.IsSet() || c.String()[0] == '#' {
			t.Errorf("%s is %v, want one of the palette", name, c)
		}
	}
	known := style.System(false, style.Hex(0x333333), style.Hex(0xfdf6e3))
	if c := style.Contrast(known.TextMuted, known.BackgroundElement); c < 3 {
		t.Errorf("muted %v on %v: %.2f", known.TextMuted, known.BackgroundElement, c)
	}
	if !known.DiffAddedBg.IsSet() || known.DiffAddedBg == known.DiffRemovedBg {
		t.Errorf("diff backgrounds: %v, %v", known.DiffAddedBg, known.DiffRemovedBg)
	}
}

func TestContrast(t *testing.T) {
	black, white := style.Hex(0), style.Hex(0xffffff)
	if got := style.Contrast(black, white); got < 20.9 || got > 21.1 {
		t.Errorf("black on white: %v", got)
	}
	if got := style.Contrast(white, white); got != 1 {
		t.Errorf("white on white: %v", got)
	}
	if got := style.Contrast(style.Palette(1), white); got != 0 {
		t.Errorf("a color nobody knows: %v", got)
	}
}

func TestTheme_DimAndThinking(t *testing.T) {
	th := style.Default(true)
	got := th.Dim(style.Of("x", style.Attr{FG: th.Text, BG: th.Background, Bold: true, Link: "https://example.com"}))
	a := got[0].Attr
	if style.Contrast(a.FG, a.BG) >= style.Contrast(th.Text, th.Background) || a.Link != "" || a.Bold {
		t.Errorf("dimmed: %+v", a)
	}
	if c := style.Contrast(th.Thinking(), th.Background); c < 3 || c > style.Contrast(th.Text, th.Background) {
		t.Errorf("thinking %v: %.2f", th.Thinking(), c)
	}
	if sys, _ := style.Builtin("system", true); sys.Thinking() != sys.TextMuted {
		t.Errorf("thinking of the terminal's colors: %v", sys.Thinking())
	}
}
