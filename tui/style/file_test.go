package style_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe/tui/style"
)

const sample = `{
  "$schema": "https://example.com/theme.json",
  "defs": {"night": "#101820", "day": "#fdfdfd", "leaf": "#66cc66", "twice": "leaf"},
  "theme": {
    "background": {"dark": "night", "light": "day"},
    "text": {"dark": "#eeeeee", "light": "#111111"},
    "primary": "twice",
    "secondary": 33,
    "accent": "primary",
    "border": "#ffffff80",
    "backgroundPanel": "none",
    "backgroundMenu": "transparent",
    "markdownHeading": "accent",
    "syntaxKeyword": "#abc",
    "thinkingOpacity": 0.4,
    "somethingNewer": "#000000"
  }
}`

func TestParse(t *testing.T) {
	dark, err := style.Parse("mine", []byte(sample), true)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range []string{"Background", "Text", "Primary", "Secondary", "Accent", "Border", "BackgroundPanel", "BackgroundMenu", "MarkdownHeading", "MarkdownStrong", "SyntaxKeyword", "BackgroundElement"} {
		got[n] = colorsOf(dark)[n].String()
	}
	want := map[string]string{
		"Background": "#101820", "Text": "#eeeeee", "Primary": "#66cc66", "Secondary": "33", "Accent": "#66cc66", "Border": "#888c90",
		"BackgroundPanel": "none", "BackgroundMenu": "none", "MarkdownHeading": "#66cc66",
		"MarkdownStrong": "#66cc66", "SyntaxKeyword": "#aabbcc", "BackgroundElement": "#242b33",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if dark.Name != "mine" || dark.ThinkingOpacity != 0.4 {
		t.Errorf("name %q, opacity %v", dark.Name, dark.ThinkingOpacity)
	}
	light, err := style.Parse("mine", []byte(sample), false)
	if err != nil || light.Background.String() != "#fdfdfd" || light.Text.String() != "#111111" {
		t.Errorf("light: %v on %v, %v", light.Text, light.Background, err)
	}
}

// A file that says nothing is our own theme.
func TestParse_Empty(t *testing.T) {
	th, err := style.Parse("empty", []byte(`{"theme": {}}`), true)
	if err != nil || th.Background != style.Default(true).Background || th.Primary != style.Default(true).Primary {
		t.Errorf("got %v, %v", th, err)
	}
}

// On the terminal's own background nothing is mixed, and nothing is lost either.
func TestParse_NoBackground(t *testing.T) {
	th, err := style.Parse("clear", []byte(`{"theme": {"background": "none", "primary": 5}}`), true)
	if err != nil {
		t.Fatal(err)
	}
	if th.BackgroundPanel.IsSet() || th.DiffAddedBg.IsSet() || !th.Border.IsSet() || !th.SelectedText.IsSet() {
		t.Errorf("panel %v, diff %v, border %v, selected %v", th.BackgroundPanel, th.DiffAddedBg, th.Border, th.SelectedText)
	}
}

func TestParse_Errors(t *testing.T) {
	for in, want := range map[string]string{
		`{`:                              "not JSON",
		`[]`:                             "not JSON",
		`null`:                           `"theme" with the colors is missing`,
		`{"theme": {"text": "blue"}}`:    `text: "blue" is not a color: use "#rrggbb"`,
		`{"theme": {"text": "#12"}}`:     `text: "#12" is not a color`,
		`{"theme": {"text": "#+12345"}}`: `is not a color`,
		`{"theme": {"text": 256}}`:       `text: 256 is not a color`,
		`{"theme": {"text": -1}}`:        `text: -1 is not a color`,
		`{"theme": {"text": 1.5}}`:       `text: 1.5 is not a color`,
		`{"theme": {"text": true}}`:      `text: true is not a color`,
		`{"theme": {"text": {"dark": "#000000"}}}`:                                      `must have the keys dark and light`,
		`{"theme": {"text": {"dark": {"dark": 1, "light": 2}, "light": 1}}}`:            `text.dark: {"dark"`,
		`{"theme": {"primary": "accent", "accent": "primary"}}`:                         `primary: circular reference: theme.primary → theme.accent → theme.primary`,
		`{"defs": {"a": "b", "b": "a"}, "theme": {"text": "a"}}`:                        `circular reference`,
		`{"theme": {"primry": "#000000"}}`:                                              `unknown key "primry": did you mean "primary"?`,
		`{"theme": {"thinkingOpacity": 3}}`:                                             `thinkingOpacity: 3 is not a number from 0 to 1`,
		`{"theme": {"text": "\u001b[31m` + strings.Repeat("x", 500) + `"}}`:             `is not a color`,
		`{"defs": {"x": "nothing"}, "theme": {"markdownCode": {"dark":"x","light":1}}}`: `markdownCode.dark: "nothing" is not a color`,
	} {
		_, err := style.Parse("bad", []byte(in), true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s): %v, want %q", in, err, want)
			continue
		}
		if len(err.Error()) > 300 || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("the message shows too much: %q", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add(`{"defs": {"a": "b", "b": "a"}, "theme": {"text": "a"}}`)
	f.Fuzz(func(t *testing.T, in string) {
		th, err := style.Parse("f", []byte(in), true)
		if (th == nil) == (err == nil) {
			t.Errorf("theme %v and error %v", th, err)
		}
	})
}

func TestFilesAndLoad(t *testing.T) {
	near, far := t.TempDir(), t.TempDir()
	write := func(dir, name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(near, "mine.json", `{"theme": {"primary": "#010203"}}`)
	write(far, "mine.json", `{"theme": {"primary": "#ffffff"}}`)
	write(far, "nord.json", `{"theme": {"primary": "#040506"}}`)
	write(far, "broken.json", `{"theme": {"primary": "?"}}`)
	write(far, "notes.txt", "no theme")
	dirs := []string{filepath.Join(near, "missing"), near, far}
	want := map[string]string{"mine": filepath.Join(near, "mine.json"), "nord": filepath.Join(far, "nord.json"), "broken": filepath.Join(far, "broken.json")}
	if diff := cmp.Diff(want, style.Files(dirs)); diff != "" {
		t.Error(diff)
	}
	for name, primary := range map[string]string{"mine": "#010203", "nord": "#040506"} {
		if th, err := style.Load(dirs, name, true); err != nil || th.Primary.String() != primary {
			t.Errorf("Load(%s): %v, %v", name, th, err)
		}
	}
	if th, err := style.Load(nil, "nord", true); err != nil || th.Primary.String() == "#040506" {
		t.Errorf("our own: %v, %v", th, err)
	}
	for name, want := range map[string]string{"broken": "broken.json: theme broken: primary", "nobody": `theme "nobody" not found`} {
		if _, err := style.Load(dirs, name, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%s): %v", name, err)
		}
	}
}

// The theme file that the documents show is one.
func TestParse_OfTheDocuments(t *testing.T) {
	page, err := os.ReadFile("../../docs/tui.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```json\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("docs/tui.md shows no theme file")
	}
	th, err := style.Parse("mine", []byte(block), true)
	if err != nil {
		t.Fatal(err)
	}
	if th.Primary != style.Hex(0xe8a35c) || th.Background != style.Hex(0x1b1d22) {
		t.Errorf("primary %s, background %s", th.Primary, th.Background)
	}
}
