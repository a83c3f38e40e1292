package tui

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/style"
)

// The prompt box and the line below it with their colors, dark and light, at three sizes: see testdata/prompt-box.txt.
func TestPromptBox_Colors(t *testing.T) {
	var out strings.Builder
	for _, start := range []Start{{}, {Session: sampleID}} {
		for _, dark := range []bool{true, false} {
			onStage(t, sample(), Options{Start: start}, func(s *stage) {
				s.p.look.themes.dark = dark
				draw := func(state string) {
					for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
						s.resize(size[0], size[1])
						fmt.Fprintf(&out, "%s, session %q, dark %v, %d columns\n", state, start.Session, dark, size[0])
						f := s.p.frame()
						for _, l := range s.p.lines[f.inputY : f.inputY+4] {
							out.WriteString(painted(l) + "\n")
						}
					}
				}
				draw("empty")
				s.p.drafts.addRecent(editor.Draft{Input: "fix the store"})
				s.press("ctrl+r")
				s.typed("store")
				draw("search")
				s.press("enter")
				s.p.drafts.edit.SetVim(true)
				s.press("esc")
				s.typed("vb")
				draw("vim")
			})
		}
	}
	compare(t, filepath.Join("testdata", "prompt-box.txt"), out.String())
}

// painted writes a row with its colors. Long blanks are counted.
func painted(l style.Line) string {
	var b strings.Builder
	for _, s := range l {
		text := s.Text
		if strings.TrimSpace(text) == "" {
			text = fmt.Sprintf("%d blanks", style.Width(text))
		}
		fmt.Fprintf(&b, "{%s %v on %v}", text, s.Attr.FG, s.Attr.BG)
	}
	return b.String()
}

// boxRows is how many rows of the screen belong to the prompt box.
func (s *stage) boxRows() int {
	s.screen()
	n, y := 0, s.p.frame().inputY
	for ; strings.HasPrefix(strings.TrimSpace(s.p.lines[y+n].Text()), "┃"); n++ {
	}
	return n
}

// The box has three rows, grows with its text to a third of the screen, and leaves the conversation most of a small one.
func TestPromptBox_Height(t *testing.T) {
	for _, tt := range []struct{ height, empty, full, chat int }{
		{50, 3, 16, 43}, {40, 3, 13, 33}, {30, 3, 10, 23}, {24, 3, 8, 19}, {16, 3, 5, 11}, {12, 1, 6, 9}, {8, 1, 4, 5},
	} {
		onStage(t, sample(), inSample(), func(s *stage) {
			s.resize(80, tt.height)
			if got := s.boxRows(); got != tt.empty || s.p.frame().chatHeight != tt.chat {
				t.Errorf("%d rows: the box has %d, the conversation %d:\n%s", tt.height, got, s.p.frame().chatHeight, s.screen())
			}
			s.typed("one")
			s.press("alt+enter")
			s.typed("two")
			if got := s.boxRows(); got != tt.empty+1 {
				t.Errorf("%d rows: two lines take %d rows:\n%s", tt.height, got, s.screen())
			}
			for range 40 {
				s.press("ctrl+j")
			}
			if got := s.boxRows(); got != tt.full {
				t.Errorf("%d rows: the full box has %d:\n%s", tt.height, got, s.screen())
			}
			x, y, _ := s.p.drafts.edit.Cursor()
			if cursor := s.p.View().Cursor; cursor == nil || cursor.X != x || cursor.Y != s.p.frame().inputY+y || cursor.Y >= tt.height-1 {
				t.Errorf("%d rows: the cursor is at %v:\n%s", tt.height, cursor, s.screen())
			}
		})
	}
}

// A click on the text puts the cursor there, padding or not.
func TestPromptBox_Click(t *testing.T) {
	for _, start := range []Start{{}, {Session: sampleID}} {
		for _, height := range []int{12, 24, 40} {
			onStage(t, sample(), Options{Start: start}, func(s *stage) {
				s.resize(80, height)
				s.typed("first word")
				s.press("alt+enter")
				s.typed("second")
				s.click("word")
				s.typed("X")
				if got := s.p.drafts.edit.Text(); got != "first Xword\nsecond" {
					t.Errorf("%d rows: %q:\n%s", height, got, s.screen())
				}
			})
		}
	}
}

// Ctrl+R searches the prompts that were sent, with the cursor where the user types; renaming is left to the list of
// sessions, unless the config binds it.
func TestPromptBox_Search(t *testing.T) {
	for _, start := range []Start{{}, {Session: sampleID}} {
		onStage(t, sample(), Options{Start: start}, func(s *stage) {
			for _, text := range []string{"fix the store", "write the docs"} {
				s.p.drafts.addRecent(editor.Draft{Input: text})
			}
			s.typed("draft")
			s.press("ctrl+r")
			s.typed("FIX")
			s.sees("Search earlier prompts: FIX", "┃ fix the store", "enter use")
			c, l := s.p.View().Cursor, s.p.frame()
			if row := s.p.lines[c.Y].Text(); !strings.HasPrefix(row[c.X:], " ") || !strings.HasSuffix(row[:c.X], ": FIX") || c.Y <= l.inputY {
				t.Errorf("the cursor is at %d,%d:\n%s", c.X, c.Y, s.screen())
			}
			s.press("esc")
			s.lacks("Search earlier prompts")
			s.press("ctrl+r", "ctrl+r", "enter")
			if got := s.p.drafts.edit.Text(); got != "fix the store" {
				t.Errorf("the prompt has %q", got)
			}
			s.did()
		})
	}
	o := inSample()
	o.Keys = map[string]json.RawMessage{"session_rename": json.RawMessage(`"ctrl+r"`)}
	onStage(t, sample(), o, func(s *stage) {
		s.press("ctrl+r")
		s.sees("Rename session")
	})
}

// An editor that is not there leaves the screen alone and says which variables to set.
func TestPrompt_EditorNotFound(t *testing.T) {
	onStage(t, sample(), Options{Editor: []string{"no-such-editor-here"}}, func(s *stage) {
		s.typed("kept")
		s.press("ctrl+x", "e")
		s.sees("Editor not found: no-such-editor-here", "Set EDITOR", "kept")
	})
}

// Vim mode shows in the line below the prompt and in the cursor. Esc leaves insert mode before it interrupts the turn.
// The setting of the config starts it, and /vim turns it off and on for all later runs.
func TestPromptBox_Vim(t *testing.T) {
	dir := t.TempDir()
	o := Options{Start: Start{Session: sampleID}, State: dir, Look: Look{Vim: true, Cursor: Cursor{Line: true}}}
	onStage(t, sample(), o, func(s *stage) {
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Busy}})
		s.typed("one two")
		s.sees("INSERT · Build")
		if c := s.p.View().Cursor; c.Shape != tea.CursorBar {
			t.Errorf("the cursor is %v", c.Shape)
		}
		s.press("esc")
		s.sees("NORMAL · Build", "esc interrupt")
		if c := s.p.View().Cursor; c.Shape != tea.CursorBlock {
			t.Errorf("the cursor is %v", c.Shape)
		}
		s.typed("b2d")
		s.sees("NORMAL 2d")
		s.press("esc")
		s.typed("v")
		s.sees("VISUAL · Build")
		s.press("esc", "esc")
		s.sees("esc again to interrupt")
		s.press("esc")
		s.did("cancel ses_1")
		s.golden("vim")
		s.press("enter")
		s.did("submit ses_1 one two")
		s.slash("vim")
		s.lacks("INSERT")
		s.sees("Vim mode off")
	})
	onStage(t, sample(), o, func(s *stage) {
		s.lacks("INSERT") // the last choice counts
		s.slash("vim")
		s.sees("INSERT", "Vim mode on")
	})
}
