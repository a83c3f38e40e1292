package tui

import (
	"context"
	"math/rand/v2"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// Whatever is pressed, clicked, pasted and told, in whatever size: nothing breaks, and no row is wider or lower than the
// screen.
func TestProgram_RandomInput(t *testing.T) {
	keys := []string{
		"enter", "enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "pgup", "pgdown", "space", "backspace",
		"ctrl+x", "ctrl+x", "ctrl+x", "ctrl+p", "ctrl+d", "ctrl+r", "ctrl+f", "ctrl+a", "ctrl+t", "ctrl+u", "ctrl+k", "ctrl+w", "alt+enter",
		"ctrl+alt+k", "f2", "/", "@", "!", "a", "b", "c", "d", "e", "g", "h", "l", "m", "n", "q", "r", "s", "t", "u", "v", "x", "y", "1", "2", "]", "?", "ctrl+o", "ctrl+o", "j", "k", "V", "N", "G", "}",
	}
	texts := []string{"/models", "/sessions", "/diff", "/themes", "/undo", "/fork", "/export", "/connect", "/status", "/thinking", "日本語 e\u0301 👩‍👩‍👧 שלום", "\x1b[2J\u202e"}
	for seed := range uint64(8) {
		e := sample()
		e.info = api.Info{Directory: t.TempDir(), Home: "/home/dev", Branch: "main", Version: "0.9.0", Trusted: true}
		e.undone.Session = e.sessions[0]
		child := lathe.Session{ID: "ses_child", Parent: sampleID, Title: "Look around", Agent: "explore", Directory: "/w/app"}
		e.sessions = append(e.sessions, child)
		e.messages[child.ID] = e.messages[sampleID]
		chance := rand.New(rand.NewPCG(seed, 1))
		o := Options{State: t.TempDir(), Look: Look{Vim: seed > 3}}
		switch seed % 4 {
		case 0, 1:
			o.Start.Session = sampleID
		case 2:
			e.providers = lathe.Providers{All: e.providers.All}
			o.FindSetupOptions = func(context.Context) []SetupOption {
				return []SetupOption{{ID: "login", Title: "Log in", Login: true}, {ID: "demo", Title: "See the demo"}}
			}
		}
		onStage(t, e, o, func(s *stage) {
			for range 400 {
				randomStep(s, chance, keys, texts)
				if s.p.View(); len(s.p.lines) > s.p.height {
					t.Errorf("seed %d: %d rows of %d", seed, len(s.p.lines), s.p.height)
					return
				}
				for _, l := range s.p.lines {
					if w := l.Width(); w > s.p.width {
						t.Errorf("seed %d: a row of %d in %d: %q", seed, w, s.p.width, l.Text())
						return
					}
				}
			}
		})
	}
}

func randomStep(s *stage, chance *rand.Rand, keys, texts []string) {
	switch chance.IntN(20) {
	case 0:
		s.resize(1+chance.IntN(170), 1+chance.IntN(50))
	case 1, 2:
		m := tea.Mouse{X: chance.IntN(s.p.width), Y: chance.IntN(s.p.height), Button: tea.MouseLeft}
		s.send(tea.MouseClickMsg(m))
		m.X = chance.IntN(s.p.width)
		if chance.IntN(2) == 0 {
			s.send(tea.MouseMotionMsg(m))
		}
		s.send(tea.MouseReleaseMsg(m))
	case 3:
		s.send(tea.MouseWheelMsg{X: chance.IntN(s.p.width), Y: chance.IntN(s.p.height), Button: tea.MouseWheelUp + tea.MouseButton(chance.IntN(2))})
	case 4:
		s.send(tea.PasteMsg{Content: texts[chance.IntN(len(texts))]})
	case 5:
		s.typed(texts[chance.IntN(len(texts))])
	case 6:
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: []string{lathe.Idle, lathe.Busy, lathe.Retrying}[chance.IntN(3)]}})
	case 7:
		s.tell(&lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{
			ID: lathe.AskID("per_" + string(rune('a'+chance.IntN(20)))), Session: sampleID, Permission: "bash", Patterns: []string{"go test"},
		}})
	case 8:
		s.tell(&lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{ID: lathe.AskID("que_" + string(rune('a'+chance.IntN(20)))), Session: "ses_child", Questions: []lathe.Question{
			{Question: "Which?", Header: "One", Options: []lathe.Option{{Label: "This"}, {Label: "That"}}}, {Question: "And?", Header: "Two", Multiple: lathe.Yes},
		}}})
	case 9:
		info := s.engine.sessions[0]
		if chance.IntN(2) == 0 {
			info.Revert = &lathe.Revert{Message: []lathe.MessageID{"msg_0", "msg_3", "msg_gone"}[chance.IntN(3)]}
		}
		s.tell(&lathe.SessionChanged{Info: info})
	default:
		s.send(keyPress(s.t, keys[chance.IntN(len(keys))]))
	}
	s.settle()
}
