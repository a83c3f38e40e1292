package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/attention"
	"github.com/lathe-agent/lathe/tui/tty"
)

func nowIs(id lathe.SessionID, t string) lathe.Fact {
	return &lathe.StatusChanged{Session: id, Status: lathe.Status{Type: t}}
}

// attentive is a TUI in a terminal with notifications and progress.
func attentive() Options {
	o := inSample()
	o.Look.Attention = attention.Settings{NeedsYou: true, Done: true, DoneAfter: 30 * time.Second, Terminal: tty.DetectTerminal(func(name string) string {
		return map[string]string{"TERM_PROGRAM": "ghostty"}[name]
	})}
	return o
}

// told checks what was notified since the last time.
func (s *stage) told(want string) {
	s.t.Helper()
	if s.raw != want {
		s.t.Errorf("notified %q, want %q", s.raw, want)
	}
	s.raw = ""
}

// The user is told when something is needed or a long turn has ended, and only when nobody looks.
func TestAttention(t *testing.T) {
	onStage(t, sample(), attentive(), func(s *stage) {
		s.raw = ""
		turn := func(d time.Duration) {
			s.tell(nowIs(sampleID, lathe.Busy))
			s.pass(d)
			s.tell(nowIs(sampleID, lathe.Idle), &lathe.SessionIdle{Session: sampleID})
		}
		turn(40 * time.Second)
		s.told("") // the focus is not known, and a key was just pressed
		s.send(tea.FocusMsg{})
		s.raw = ""
		turn(5 * time.Minute)
		s.told("")
		s.send(tea.BlurMsg{})
		turn(20 * time.Second)
		s.told("")
		turn(40 * time.Second)
		s.told("\x1b]9;lathe: Done: Mend the greeting\x07")
		s.tell(askFor("per_1", sampleID))
		s.told("\x1b]9;lathe: Needs you: Mend the greeting\x07")
		s.p.o.Look.Attention.NeedsYou, s.p.o.Look.Attention.Done = false, false
		s.tell(askFor("per_2", sampleID))
		turn(40 * time.Second)
		s.told("")
	})
}

// Without reports of the focus, somebody who touched nothing for a while is told, too.
func TestAttention_UnknownFocus(t *testing.T) {
	onStage(t, sample(), attentive(), func(s *stage) {
		s.raw = ""
		s.tell(nowIs(sampleID, lathe.Busy))
		s.pass(2 * time.Minute)
		s.tell(nowIs(sampleID, lathe.Idle), &lathe.SessionIdle{Session: sampleID})
		s.told("\x1b]9;lathe: Done: Mend the greeting\x07")
		s.tell(nowIs(sampleID, lathe.Busy))
		s.pass(2 * time.Minute)
		s.press("x")
		s.tell(nowIs(sampleID, lathe.Idle), &lathe.SessionIdle{Session: sampleID})
		s.told("")
	})
}

// The title of the window and the progress in its tab say how the turn is.
func TestAttention_TitleAndProgress(t *testing.T) {
	onStage(t, sample(), attentive(), func(s *stage) {
		is := func(title string, bar tea.ProgressBarState) {
			t.Helper()
			v, got := s.p.View(), tea.ProgressBarNone
			if v.ProgressBar != nil {
				got = v.ProgressBar.State
			}
			if v.WindowTitle != title || got != bar {
				t.Errorf("%q with %v, want %q with %v", v.WindowTitle, got, title, bar)
			}
		}
		is("lathe | Mend the greeting", tea.ProgressBarNone)
		s.tell(nowIs(sampleID, lathe.Busy))
		is("● lathe | Mend the greeting", tea.ProgressBarIndeterminate)
		s.tell(askFor("per_1", sampleID))
		is("? lathe | Mend the greeting", tea.ProgressBarWarning)
		s.tell(&lathe.PermissionReplied{Session: sampleID, Request: "per_1", Reply: lathe.Once}, nowIs(sampleID, lathe.Idle))
		is("lathe | Mend the greeting", tea.ProgressBarNone)
		s.p.o.Look.Attention.Terminal = tty.Terminal{}
		s.tell(nowIs(sampleID, lathe.Busy))
		is("● lathe | Mend the greeting", tea.ProgressBarNone)
	})
}
