package dialog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// manySessions is a board with sessions in every state.
func manySessions(n int) (all []lathe.BoardEntry) {
	states := lathe.BoardStates()
	for i := range n {
		all = append(all, lathe.BoardEntry{
			Session: lathe.SessionID(fmt.Sprintf("ses_%04d", i)), Title: fmt.Sprintf("Session %d", i), State: states[i%len(states)],
			Directory: fmt.Sprintf("/w/%d", i%50), Branch: "main", Model: "acme/m-1", Last: strings.Repeat("word ", 30),
		})
	}
	return all
}

// The board is sorted by state, and every session is on it once.
func TestBoard_Items(t *testing.T) {
	all := manySessions(1000)
	items := dialog.BoardItems(all, "ses_0007", time.Unix(0, 0))
	seen, last := map[string]bool{}, -1
	for _, it := range items {
		at := 0
		for i, s := range lathe.BoardStates() {
			if string(s) == it.Group {
				at = i
			}
		}
		if at < last || seen[it.ID] {
			t.Fatalf("%s of %q is out of order", it.ID, it.Group)
		}
		last, seen[it.ID] = at, true
	}
	if len(seen) != len(all) {
		t.Errorf("%d of %d", len(seen), len(all))
	}
}

// BenchmarkBoard is what the screen does each second with a thousand sessions, and for a key: fill the list, and draw it.
func BenchmarkBoard(b *testing.B) {
	all := manySessions(1000)
	th := style.Default(true)
	list := dialog.NewBoard(styletest.Keys(b), nil)
	var lines []style.Line
	for b.Loop() {
		list.SetItems(dialog.BoardItems(all, "", time.Unix(0, 0)))
		list.Key(tea.KeyPressMsg{Code: tea.KeyDown})
		lines = list.View(th, 120, 40)
	}
	if !strings.Contains(style.Text(lines), "Session") {
		b.Fatal("no session is shown")
	}
}
