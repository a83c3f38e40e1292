package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// Several files that are dropped at once are several files in the prompt, if they are all there and whoever answers
// has them.
func TestPrompt_Dropped(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	picture := filepath.Join(elsewhere, "a b.png")
	for path, data := range map[string]string{filepath.Join(dir, "main.go"): "package main", picture: "\x89PNG\r\n\x1a\n", filepath.Join(elsewhere, "c.txt"): "c"} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	all := dir + "/main.go '" + picture + "' " + dir + "/docs"
	for _, tt := range []struct {
		name, text string
		remote     bool
		want       string
	}{
		{"all there", all, false, "@main.go [Image 1] @docs/ "},
		{"elsewhere", dir + "/main.go " + elsewhere + "/c.txt", false, "@main.go @" + elsewhere + "/c.txt "},
		{"one is not there", "/etc/none-such.go " + dir + "/main.go", false, "/etc/none-such.go " + dir + "/main.go"},
		{"on a server", all, true, all},
		{"pictures on a server", "'" + picture + "' '" + picture + "'", true, "[Image 1] [Image 2] "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := sample()
			e.info.Directory = dir
			onStage(t, e, Options{ReadFile: os.ReadFile, Remote: tt.remote}, func(s *stage) {
				s.p.drafts.edit.SetPasteSummary(false) // some folders have long names
				s.send(tea.PasteMsg{Content: tt.text})
				s.settle()
				if got := s.p.drafts.edit.Text(); got != tt.want {
					t.Errorf("the prompt has %q, not %q", got, tt.want)
				}
			})
		})
	}
}

// A mistyped command is not sent and stays in the prompt. A file of the root directory is no command.
func TestPrompt_UnknownCommand(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.typed("/modles")
		s.press("enter")
		s.sees("Unknown command /modles. Did you mean /models?", "Put a space before it")
		s.did()
		if got := s.p.drafts.edit.Text(); got != "/modles" {
			t.Errorf("in the prompt: %q", got)
		}
		s.press("ctrl+u")
		s.typed("/models sonnet")
		s.press("esc", "enter")
		s.sees("/models takes no text after it")
		s.press("ctrl+u")
		s.typed("//modles")
		s.press("enter")
		s.did("submit ses_1 /modles")
		s.typed(" /modles")
		s.press("enter")
		s.did("submit ses_1 /modles")
		s.typed("/tmp is full")
		s.press("enter")
		s.did("submit ses_1 /tmp is full")
	})
	onStage(t, sample(), Options{Remote: true, Start: Start{Session: sampleID}}, func(s *stage) { // its files are elsewhere
		s.typed("/tmp is full")
		s.press("enter")
		s.did()
	})
}

// A toast covers no border of a dialog or of the prompt, at any size.
func TestToast_CoversNoBorder(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {60, 12}} {
		onStage(t, sample(), inSample(), func(s *stage) {
			s.resize(size[0], size[1])
			for i := range 3 {
				s.run(s.p.notify(0, "note "+strings.Repeat("word ", 30+i)))
			}
			for _, keys := range [][]string{nil, {"ctrl+p"}, {"esc", "ctrl+x"}} {
				s.press(keys...)
				s.p.dirty = true
				s.screen()
				if len(s.p.notes) == 0 {
					t.Errorf("%v %v: no toast to look at", size, keys)
					return
				}
				x, y := s.p.notesX, s.p.notesY+len(s.p.notes)
				if o := s.p.overlays.current; o != nil && o.y < y && o.x+o.width > x {
					t.Errorf("%v %v: a toast to row %d from column %d covers the dialog at row %d", size, keys, y, x, o.y)
				}
				if at := s.p.at; s.p.overlays.current == nil && y > at.promptY || at.chatWidth == at.sideX && s.p.notesX+s.p.notes[0].Width() > at.sideX {
					t.Errorf("%v %v: a toast to row %d covers the prompt at row %d or the sidebar", size, keys, y, at.promptY)
				}
			}
		})
	}
}
