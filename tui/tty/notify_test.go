package tty_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tui/tty"
)

func TestTerminal_Notification(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env      string // NAME=value …
		want     string
		progress bool
	}{
		{"TERM=xterm-256color", "\a", false},
		{"TERM_PROGRAM=Apple_Terminal", "\a", false},
		{"TERM_PROGRAM=vscode TERM=xterm-256color", "\a", false},
		{"WT_SESSION=1", "\a", true},
		{"TERM=xterm-kitty", "\x1b]99;i=lathe:d=0;lathe\x1b\\\x1b]99;i=lathe:d=1:p=body;Done, ok\x1b\\", false},
		{"TERM_PROGRAM=ghostty", "\x1b]9;lathe: Done, ok\x07", true},
		{"TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.5.10", "\x1b]9;lathe: Done, ok\x07", false},
		{"TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.6.1", "\x1b]9;lathe: Done, ok\x07", true},
		{"TERM_PROGRAM=WezTerm", "\x1b]9;lathe: Done, ok\x07", false},
		{"ConEmuANSI=ON", "\x1b]9;lathe: Done, ok\x07", true},
		{"TERM=foot-extra", "\x1b]777;notify;lathe;Done, ok\x07", false},
		{"VTE_VERSION=7600", "\x1b]777;notify;lathe;Done, ok\x07", false},
		{"TMUX=x TERM=tmux-256color TERM_PROGRAM=tmux", "\a\x1bPtmux;\x1b\x1b]9;lathe: Done, ok\x07\x1b\\", false},
		{"TMUX=x KITTY_WINDOW_ID=1", "\a\x1bPtmux;\x1b\x1b]99;i=lathe:d=0;lathe\x1b\x1b\\\x1b\x1b]99;i=lathe:d=1:p=body;Done, ok\x1b\x1b\\\x1b\\", false},
		{"STY=1 VTE_VERSION=1", "\a\x1bP\x1b]777;notify;lathe;Done, ok\x07\x1b\\", false},
		{"TMUX=x GHOSTTY_RESOURCES_DIR=/x", "\a\x1bPtmux;\x1b\x1b]9;lathe: Done, ok\x07\x1b\\", false},
	} {
		term := tty.DetectTerminal(func(name string) string {
			for w := range strings.FieldsSeq(tt.env) {
				if v, ok := strings.CutPrefix(w, name+"="); ok {
					return v
				}
			}
			return ""
		})
		if got := term.Notification("Done; ok", false); got != tt.want || term.HasProgress() != tt.progress {
			t.Errorf("%s: %q and progress %v", tt.env, got, term.HasProgress())
		}
	}
}

// A title of a session cannot end the sequence and begin another one.
func TestTerminal_HostileText(t *testing.T) {
	t.Parallel()
	attack := "a\x1b\\\x1b]0;x\x07\x9c\x9d52;c;AAAA\u009cb\u202e\nc" + strings.Repeat("x", 500)
	controls := regexp.MustCompile("[\x00-\x1f\x7f\u0080-\u009f\u202e]")
	for _, env := range []string{"TERM=xterm-kitty", "TERM=foot", "TERM_PROGRAM=ghostty"} {
		name, value, _ := strings.Cut(env, "=")
		term := tty.DetectTerminal(func(n string) string { return map[string]string{name: value}[n] })
		frame := term.Notification("", false)
		got := term.Notification(attack, false)
		if len(controls.FindAllString(attack, -1)) < 6 {
			t.Fatal("the attack has no control characters")
		}
		if a, b := len(controls.FindAllString(got, -1)), len(controls.FindAllString(frame, -1)); a != b || len(got) > 700 {
			t.Errorf("%s: %d control characters, want %d: %q", env, a, b, got)
		}
	}
}
