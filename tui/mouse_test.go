package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// drag goes over the screen with the button down, from the first place where a text is to the last of another.
func (s *stage) drag(from, to string) {
	s.t.Helper()
	place := func(text string) tea.Mouse {
		for y, l := range s.p.lines {
			if before, _, ok := strings.Cut(l.Text(), text); ok {
				return tea.Mouse{X: len([]rune(before)), Y: y, Button: tea.MouseLeft}
			}
		}
		s.t.Fatalf("%q is not on the screen:\n%s", text, s.screen())
		return tea.Mouse{}
	}
	a, b := place(from), place(to)
	b.X += len([]rune(to)) - 1
	s.send(tea.MouseClickMsg(a))
	s.send(tea.MouseMotionMsg(b))
	s.send(tea.MouseReleaseMsg(b))
	s.settle()
}

// What is selected with the mouse is of the region where it began, without the bars beside it.
func TestSelect_StaysInItsRegion(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.resize(160, 40)
		s.drag("go test ./...", "It says Hello")
		s.sees("Copied")
		want := "go test ./...\nok      app/greet    0.01s\n\nIt says Hello"
		if len(s.copied) != 1 || s.copied[0] != want {
			t.Errorf("copied %q, want %q", s.copied, want)
		}
		if !s.p.selection.Moved {
			t.Error("it shows no longer what was copied")
		}
		s.send(tea.MouseWheelMsg(tea.Mouse{X: 3, Y: 3, Button: tea.MouseWheelUp}))
		if s.p.selection.Moved {
			t.Error("the selection stays where its text no longer is")
		}
	})
}

// The wheel over the prompt goes through what is typed, and at its end through the conversation.
func TestWheel_Prompt(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		for _, word := range []string{"one", "two", "three"} {
			s.typed(word)
			s.press("ctrl+j")
		}
		up := func() {
			s.send(tea.MouseWheelMsg(tea.Mouse{X: 5, Y: s.p.frame().promptY + 1, Button: tea.MouseWheelUp}))
			s.settle()
		}
		row := func() int { return s.p.View().Cursor.Y }
		last, screen := row(), s.screen()
		for range 3 {
			up()
		}
		if got := row(); got != last-3 {
			t.Errorf("the cursor is in row %d, not %d", got, last-3)
		}
		if s.screen() != screen {
			t.Error("the conversation moved as well")
		}
		up()
		if s.screen() == screen {
			t.Error("at the end of what is typed nothing moves")
		}
	})
}
