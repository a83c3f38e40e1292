package tui

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

// openScreens are screens with something selected, by the keys that open them.
var openScreens = map[string]func(s *stage){
	"models":  func(s *stage) { s.slash("models") },
	"palette": func(s *stage) { s.press("ctrl+p") },
	"review":  func(s *stage) { s.slash("diff") },
	"session": func(*stage) {},
	"suggest": func(s *stage) { s.typed("/se") },
}

// Without colors nothing is colored, and what is selected is inverted.
func TestScreens_NoColor(t *testing.T) {
	color := regexp.MustCompile(`\x1b\[[0-9;]*;(3|4|9|10)[0-9]`)
	for name, open := range openScreens {
		t.Run(name, func(t *testing.T) {
			o := Options{Start: Start{Session: sampleID}}
			onStage(t, sample(), o, func(s *stage) {
				open(s)
				if sent := s.p.View().Content; !color.MatchString(sent) {
					t.Error("it has no colors anyway")
				}
				s.p.o.Look.Access.NoColor, s.p.dirty = true, true
				sent := s.p.View().Content
				if at := color.FindStringIndex(sent); at != nil {
					t.Errorf("a color: %q", sent[at[0]:min(len(sent), at[1]+40)])
				}
				if mark := map[string]string{"session": "\x1b", "review": ";1m"}[name]; !strings.Contains(sent, cmp.Or(mark, ";7m")) {
					t.Errorf("nothing stands out:\n%s", s.screen())
				}
				for _, sign := range map[string][]string{"review": {" - func Hello", " + func Hello"}, "models": {"› "}, "palette": {"› "}}[name] {
					s.sees(sign)
				}
			})
		})
	}
}

// A terminal of 16 colors gets its own colors, whatever the theme: mixed ones would become the same.
func TestScreens_SixteenColors(t *testing.T) {
	for name, open := range openScreens {
		t.Run(name, func(t *testing.T) {
			o := Options{Start: Start{Session: sampleID}}
			o.Look.Theme = "gruvbox"
			o.Look.Access.Sixteen = true
			onStage(t, sample(), o, func(s *stage) {
				open(s)
				if sent := s.p.View().Content; strings.Contains(sent, "8;2;") {
					t.Errorf("a color of 24 bits in %q", sent)
				}
			})
		})
	}
}

// Titles that run from right to left, wide ones, and marks that would turn a row around: borders stay in their columns, and
// no mark reaches the terminal.
func TestScreens_Direction(t *testing.T) {
	e := sample()
	for i, title := range []string{"שלום עולם 123 (test)", "مرحبا بالعالم — \u202eevil\u202c", "日本語 👩‍👩‍👧‍👦 한국어 ｆｕｌｌ"} {
		e.sessions[i].Title = title
	}
	e.messages[sampleID][0].Parts[0].Body = &lathe.Text{Text: "תקן את הבאג ב־\u2066main.go\u2069 בבקשה \u200f\u202e"}
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("ctrl+x", "l")
		for _, size := range []int{40, 80, 120} {
			s.resize(size, 24)
			s.p.View()
			var edges []int
			for _, l := range s.p.lines {
				if text := strings.TrimRight(l.Text(), " "); strings.HasSuffix(text, "│") {
					edges = append(edges, style.Width(text))
				}
			}
			if len(edges) < 4 || len(slices.Compact(edges)) != 1 {
				t.Errorf("%d columns: borders at %v\n%s", size, edges, s.screen())
			}
		}
		if sent := s.p.View().Content; strings.ContainsAny(sent, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f") {
			t.Errorf("a direction mark reaches the terminal: %q", sent)
		}
	})
}

// With reduced motion a running turn looks the same at every moment, but for its times.
func TestScreens_Still(t *testing.T) {
	times := regexp.MustCompile(`\d+(\.\d+)?m?s`)
	for _, still := range []bool{false, true} {
		o := Options{Start: Start{Session: sampleID}}
		o.Look.Access.Still = still
		onStage(t, sample(), o, func(s *stage) {
			s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Busy}})
			seen := map[string]bool{}
			for range 5 {
				seen[times.ReplaceAllString(s.p.View().Content, "0s")] = true
				s.pass(animationInterval)
			}
			if moved := len(seen) > 1; moved == still {
				t.Errorf("still %v: %d different frames", still, len(seen))
			}
		})
	}
}
