package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

// The list fits a small screen, names the keys in effect, and a second ? or esc closes it.
func TestKeyHelp(t *testing.T) {
	keys := map[string]json.RawMessage{"session_list": json.RawMessage(`"ctrl+y"`), "model_list": json.RawMessage(`"none"`)}
	onStage(t, sample(), Options{Keys: keys, Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("?")
		s.sees("╭ Keys", "ctrl+y       open a session", "ctrl+o", "esc esc")
		s.lacks("choose a model")
		s.golden("keys")
		rows := 0
		for _, l := range strings.Split(s.screen(), "\n") {
			if strings.Contains(l, "│") || strings.Contains(l, "╭") {
				rows++
			}
		}
		if rows > 20 {
			t.Errorf("%d rows", rows)
		}
		s.press("esc")
		s.lacks("╭ Keys")
		s.press("?", "?")
		s.lacks("╭ Keys")
		s.press("?")
		s.typed("x?") // the next key closes it and counts; in a text, ? is a character
		s.lacks("╭ Keys")
		s.sees("x?")
	})
}

func TestKeyHelp_InItsPlace(t *testing.T) {
	e := sample()
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("ctrl+o", "?")
		s.sees("╭ Keys", "next, previous match")
		s.press("esc")
		s.sees("SCROLL")
		s.press("/")
		s.typed("?")
		s.sees("/?")
		s.press("esc", "esc", "ctrl+x", "l", "?")
		s.sees("╭ Keys", "choose", "delete")
		s.press("esc")
		s.sees("Sessions")
		s.typed("a?")
		s.lacks("╭ Keys")
		s.press("esc")
		s.tell(&lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: "per_1", Session: sampleID, Permission: "bash", Patterns: []string{"ls"}}})
		s.pass(2 * time.Second)
		s.press("?")
		s.sees("╭ Keys", "reject with a reason")
		s.press("esc")
		s.did() // it answered nothing
		s.typed("why")
		s.typed("?")
		s.lacks("╭ Keys")
		s.sees("why?")
	})
}
