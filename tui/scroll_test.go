package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// longTalk is an engine whose session has many messages and gives a few at a time.
func longTalk(n int) *canned {
	e := sample()
	e.few = 10
	var all []lathe.Message
	for i := range n {
		m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%04d", i)), Session: sampleID, Created: midnight - lathe.Time(n-i)*1000, Data: &lathe.User{Agent: "build"}}
		m.Parts = []lathe.Part{{ID: lathe.PartID(fmt.Sprintf("prt_%04d", i)), Session: sampleID, Message: m.ID, Body: &lathe.Text{Text: fmt.Sprintf("prompt %d of many", i)}}}
		all = append(all, m)
	}
	e.messages[sampleID] = all
	return e
}

func TestScrollMode(t *testing.T) {
	e := sample()
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.typed("half a ")
		s.press("ctrl+o")
		s.sees("SCROLL", "search", "▌")
		s.golden("scroll")
		s.press("/")
		s.typed("Greet")
		s.sees("/Greet")
		s.press("esc")
		s.lacks("/Greet")
		s.sees("SCROLL")
		s.press("/")
		s.typed("greet")
		s.press("enter")
		s.sees("/greet 7/7")
		s.press("N", "N")
		s.sees("5/7")
		s.press("n")
		s.sees("6/7")
		s.press("n", "n")
		s.sees("1/7 wrapped")
		s.golden("scroll-search")
		s.press("/")
		s.typed("no such words")
		s.press("enter")
		s.sees("no matches")
		s.press("q")
		s.lacks("SCROLL", "▌")
		s.typed("prompt")
		s.sees("half a prompt")
		s.press("ctrl+o", "ctrl+c") // leaves the mode, not the program
		s.sees("half a prompt")
		if s.quit {
			t.Error("the program has ended")
		}
	})
}

func TestScrollMode_Copies(t *testing.T) {
	onStage(t, sample(), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("ctrl+o", "g", "y")
		s.sees("Copied the message")
		s.press("V", "j", "y")
		s.press("v")
		s.sees("VISUAL")
		s.press("esc") // ends the selection alone
		s.sees("SCROLL")
		want := []string{"Mend the greeting.\nThe test fails.", "Mend the greeting.\nThe test fails."}
		if got := fmt.Sprint(s.copied); got != fmt.Sprint(want) {
			t.Errorf("copied %q, want %q", s.copied, want)
		}
	})
}

// A search goes on in messages that were not loaded, and in the order of n and N it does not matter which were.
func TestScrollMode_SearchesOlderMessages(t *testing.T) {
	onStage(t, longTalk(95), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("ctrl+o", "/")
		s.typed("prompt 7 of")
		s.press("enter")
		s.sees("prompt 7 of many", "/prompt 7 of 1/1")
		s.press("/")
		s.typed("of many")
		s.press("enter", "n")
		s.sees("9/95")
		s.press("g", "/")
		s.press("enter") // the same again
		s.sees("1/95", "prompt 0 of many")
	})
}

// A request takes the keys while it waits, and the mode goes on after it; another session ends it.
func TestScrollMode_GivesWay(t *testing.T) {
	onStage(t, sample(), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("ctrl+o", "k")
		s.press("ctrl+p")
		s.typed("copy the conv")
		s.sees("Search and copy the conversation")
		s.press("esc")
		s.sees("SCROLL")
		s.press("ctrl+x", "n")
		s.lacks("SCROLL")
		s.typed("j")
		if s.p.drafts.edit.Text() != "j" {
			t.Errorf("the prompt is %q", s.p.drafts.edit.Text())
		}
	})
}

func TestScrollMode_UsersKeysWin(t *testing.T) {
	keys := map[string]json.RawMessage{"scroll_mode": json.RawMessage(`"ctrl+y"`), "scroll_close": json.RawMessage(`"x"`), "input_submit": json.RawMessage(`"return"`)}
	onStage(t, sample(), Options{Keys: keys, Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("ctrl+o")
		s.lacks("SCROLL")
		s.press("ctrl+y")
		s.sees("SCROLL", "x back")
		s.press("esc")
		s.sees("SCROLL")
		s.sees("enter unfold") // a key of the prompt takes none from the mode
		s.press("x")
		s.lacks("SCROLL")
		if strings.Contains(s.screen(), "▌") {
			t.Error("the cursor is left")
		}
	})
}
