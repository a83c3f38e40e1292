package tty_test

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tui/tty"
)

func TestColors(t *testing.T) {
	for env, want := range map[string]int{
		"TERM=xterm-256color COLORTERM=truecolor": 1 << 24,
		"TERM=xterm-256color":                     256,
		"TERM=screen":                             256,
		"TERM=tmux-256color":                      256,
		"TERM=xterm":                              16,
		"TERM=linux":                              16,
		"TERM=dumb":                               0,
		"TERM=xterm-256color COLORTERM=truecolor NO_COLOR=1":   0,
		"TERM=xterm-256color COLORTERM=truecolor NO_COLOR=yes": 0, // any value counts
		"TERM=xterm-256color COLORTERM=truecolor NO_COLOR=":    1 << 24,
	} {
		if got := tty.Colors(strings.Fields(env)); got != want {
			t.Errorf("%s: %d colors, want %d", env, got, want)
		}
	}
}
