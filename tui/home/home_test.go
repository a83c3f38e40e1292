package home_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/home"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
	"pgregory.net/rapid"
)

func prompt(width int) []style.Line {
	return []style.Line{
		style.Plain("▌"), style.Plain("▌ Ask anything").Fit(width, style.Attr{}), style.Plain("▌"),
		style.Plain("Build · Claude Sonnet 4.5").Fit(width, style.Attr{}),
	}
}

func sample(t testing.TB) home.Values {
	t.Helper()
	return home.Values{Tip: home.Tip(9, styletest.Keys(t).Label), Dir: "~/code/parser", Branch: "comments", Servers: 2, Version: "0.9.0"}
}

func TestGolden(t *testing.T) {
	th := style.Default(true)
	styletest.Frames(t, "home", func(width int) []style.Line {
		w := home.PromptWidth(width, 0)
		lines, _, _ := home.View(th, sample(t), width, 24, prompt(w), w)
		return lines
	})
	styletest.Frames(t, "low", func(width int) []style.Line {
		w := home.PromptWidth(width, -1)
		lines, _, _ := home.View(th, sample(t), width, 9, prompt(w), w)
		return lines
	})
	styletest.Frames(t, "failed", func(width int) []style.Line {
		w := home.PromptWidth(width, 0)
		v := sample(t)
		v.Note, v.Failed, v.Broken = "The settings could not be read: ~/.config/lathe/lathe.json line 3: a comma is missing.", true, 1
		lines, _, _ := home.View(th, v, width, 24, prompt(w), w)
		return lines
	})
	styletest.Frames(t, "setup", func(width int) []style.Line {
		w := home.PromptWidth(width, 0)
		s := &home.Setup{}
		s.Set(choices())
		lines, _, _ := home.View(th, home.Values{Dir: "~/work", Version: "0.9.0"}, width, 24, s.View(th, w), w)
		return lines
	})
	styletest.Frames(t, "looking", func(width int) []style.Line {
		var s home.Setup
		return s.View(th, home.PromptWidth(width, 0))
	})
}

func choices() []home.Choice {
	return []home.Choice{
		{ID: "login", Title: "Log in to a provider", Detail: "or give its key"},
		{ID: "ollama", Title: "Use Ollama on this machine", Detail: "3 models"},
		{ID: "demo", Title: "See the demo", Detail: "without a key and without a network"},
		{ID: "quit", Title: "Leave"},
	}
}

// The prompt is where View says it is.
func TestView_Place(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 200).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
		text := rapid.OneOf(rapid.SampledFrom(append(styletest.Hostile(), styletest.Megabyte())), rapid.String())
		v := home.Values{
			Tip: text.Draw(t, "tip"), Note: rapid.SampledFrom([]string{"", "a note"}).Draw(t, "note"), Dir: text.Draw(t, "dir"), Branch: text.Draw(t, "branch"),
			Servers: rapid.IntRange(0, 3).Draw(t, "servers"), Version: rapid.SampledFrom([]string{"", "1.0", "1.0.0-with.a.long.name"}).Draw(t, "version"),
		}
		pw := home.PromptWidth(w, rapid.IntRange(-1, 100).Draw(t, "most"))
		if pw > w {
			t.Fatalf("a prompt of %d on a screen of %d", pw, w)
		}
		p := make([]style.Line, rapid.IntRange(1, 5).Draw(t, "rows"))
		for i := range p {
			p[i] = style.Plain(strings.Repeat("§", pw))
		}
		lines, x, y := home.View(style.Default(true), v, w, h, p, pw)
		if len(lines) != h {
			t.Fatalf("%d lines, want %d", len(lines), h)
		}
		for i, l := range lines {
			if l.Width() != w {
				t.Fatalf("line %d is %d wide, want %d: %q", i, l.Width(), w, l.Text())
			}
		}
		for i := range min(len(p), h-y) {
			if got := lines[y+i].Cut(x, x+pw).Text(); got != p[i].Text() {
				t.Fatalf("at %d,%d stands %q", x, y+i, got)
			}
		}
		if h >= len(p) && y+len(p) > h {
			t.Fatalf("the prompt of %d rows begins at %d of %d", len(p), y, h)
		}
	})
}

func TestView_Colors(t *testing.T) {
	th := style.Default(true)
	lines, _, _ := home.View(th, sample(t), 80, 24, prompt(75), 75)
	for text, want := range map[string]style.Color{"Tip": th.Warning, "ctrl+x u": th.Text, "⊙": th.Success, "0.9.0": th.TextMuted} {
		if got := styletest.Look(t, lines, text); got.FG != want || got.BG != th.Background {
			t.Errorf("%s: %v on %v, want %v", text, got.FG, got.BG, want)
		}
	}
	if first, last := styletest.Look(t, lines, "█").FG, th.Secondary; first == last || first != th.Primary {
		t.Errorf("the name begins in %v", first)
	}
}

func TestTips(t *testing.T) {
	m := styletest.Keys(t)
	seen := map[string]bool{}
	for i := range 100 {
		text := home.Tip(i, m.Label)
		if text == "" || strings.Contains(text, "%") || strings.Count(text, "`")%2 != 0 {
			t.Errorf("tip %d: %q", i, text)
		}
		seen[text] = true
	}
	if len(seen) != 32 { // a name that is not there has no keys
		t.Errorf("%d tips", len(seen))
	}
	for i := range 100 { // nobody is told of keys they do not have
		if text := home.Tip(i, func(key.Name) string { return "" }); text == "" || strings.Contains(text, "``") {
			t.Errorf("tip %d without keys: %q", i, text)
		}
	}
	if home.Tip(-3, m.Label) == "" {
		t.Error("no tip below zero")
	}
}

func TestSetup_Keys(t *testing.T) {
	m := styletest.Keys(t)
	var s home.Setup
	if out := s.Key(tea.KeyPressMsg{Code: tea.KeyEnter}, m); out.Handled {
		t.Errorf("without choices: %+v", out)
	}
	s.Set(choices())
	press := func(code rune, text string) home.Result { return s.Key(tea.KeyPressMsg{Code: code, Text: text}, m) }
	press(tea.KeyDown, "")
	if out := press(tea.KeyEnter, ""); out.Chosen != "ollama" {
		t.Errorf("down, enter: %+v", out)
	}
	press(tea.KeyUp, "")
	press(tea.KeyUp, "")
	if out := press(tea.KeyEnter, ""); out.Chosen != "quit" {
		t.Errorf("round the top: %+v", out)
	}
	if out := press('3', "3"); out.Chosen != "demo" {
		t.Errorf("a digit: %+v", out)
	}
	if out := press('9', "9"); out.Chosen != "" || !out.Handled {
		t.Errorf("a digit of nothing: %+v", out)
	}
	if out := press('x', "x"); out.Handled {
		t.Errorf("another key: %+v", out)
	}
	s.Set(choices()[2:]) // demo stays marked
	if out := press(tea.KeyEnter, ""); out.Chosen != "demo" {
		t.Errorf("after new choices: %+v", out)
	}
}

func TestSetup_NothingFound(t *testing.T) {
	var s home.Setup
	s.Set(nil)
	if text := style.Text(s.View(style.Default(true), 60)); !strings.Contains(text, "lathe auth login") || strings.Contains(text, "Looking") {
		t.Errorf("it does not say what to do:\n%s", text)
	}
}

func TestSetup_Click(t *testing.T) {
	var s home.Setup
	s.Set(choices())
	th := style.Default(true)
	for y, row := range s.View(th, 40) {
		out := s.Click(5, y)
		for _, c := range choices() {
			if strings.Contains(row.Text(), c.Title) && out.Chosen != c.ID {
				t.Errorf("%q: %+v", row.Text(), out)
			}
		}
		if strings.Contains(row.Text(), "No model") && out.Handled {
			t.Errorf("the heading: %+v", out)
		}
	}
	if out := s.Click(0, 100); out.Handled {
		t.Errorf("below: %+v", out)
	}
	if got := styletest.Look(t, s.View(th, 60), "Leave"); got.FG != th.Primary || !got.Bold { // it was clicked last
		t.Errorf("the mark: %+v", got)
	}
}

func TestSetup_Anything(t *testing.T) {
	m := styletest.Keys(t)
	for _, text := range append(styletest.Hostile(), styletest.Megabyte()) {
		var s home.Setup
		s.Set([]home.Choice{{ID: "x", Title: text, Detail: text}})
		for _, w := range []int{1, 4, 20, 40} {
			styletest.CheckWidth(t, s.View(style.Default(true), w), w)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var s home.Setup
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				s.Set(choices()[:rapid.IntRange(0, 4).Draw(t, "n")])
			case 1:
				s.Click(0, rapid.IntRange(-2, 20).Draw(t, "y"))
			default:
				r := rapid.SampledFrom([]rune{tea.KeyUp, tea.KeyDown, tea.KeyEnter, tea.KeyHome, tea.KeyEnd, '1', '5', 'ä'}).Draw(t, "key")
				k := tea.KeyPressMsg{Code: r}
				if r < 0x100 {
					k.Text = string(r)
				}
				s.Key(k, m)
			}
			w := rapid.IntRange(0, 90).Draw(t, "w")
			styletest.CheckWidth(t, s.View(style.Default(true), w), w)
		}
	})
}

func BenchmarkView(b *testing.B) {
	th, v, p := style.Default(true), sample(b), prompt(75)
	b.ReportAllocs()
	for b.Loop() {
		home.View(th, v, 200, 60, p, 75)
	}
}
