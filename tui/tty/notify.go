package tty

import (
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// Terminal is what the terminal can show outside of its window. The zero value can ring a bell.
type Terminal struct {
	notifies protocol
	wrap     func(string) string // passes a sequence through a multiplexer; nil without one
	progress bool
}

// protocol is a sequence for desktop notifications.
type protocol uint8

const (
	bellOnly protocol = iota
	osc9              // iTerm2, WezTerm, Ghostty, Warp, ConEmu
	osc777            // foot, urxvt, VTE
	osc99             // kitty
)

// DetectTerminal finds out by the environment. A terminal that is not known gets only a bell: an unknown
// sequence is ignored at best, and shown as text at worst.
func DetectTerminal(env func(string) string) Terminal {
	name, term := env("TERM_PROGRAM"), env("TERM")
	is := func(names ...string) bool { // inside a multiplexer only variables of their own tell
		for _, n := range names {
			if env(n) != "" {
				return true
			}
		}
		return false
	}
	var t Terminal
	switch {
	case is("KITTY_WINDOW_ID") || strings.HasPrefix(term, "xterm-kitty"):
		t.notifies = osc99
	case name == "ghostty" || is("GHOSTTY_RESOURCES_DIR"):
		t.notifies, t.progress = osc9, true
	case name == "iTerm.app" || env("LC_TERMINAL") == "iTerm2" || is("ITERM_SESSION_ID"):
		version := env("TERM_PROGRAM_VERSION")
		if name != "iTerm.app" {
			version = env("LC_TERMINAL_VERSION")
		}
		t.notifies, t.progress = osc9, atLeast(version, 3, 6) // earlier ones would notify of the progress
	case name == "WezTerm" || is("WEZTERM_PANE"), name == "WarpTerminal":
		t.notifies = osc9
	case env("ConEmuANSI") == "ON":
		t.notifies, t.progress = osc9, true
	case is("WT_SESSION"): // it has progress, and no notifications
		t.progress = true
	case strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "rxvt-unicode"), is("VTE_VERSION"):
		t.notifies = osc777
	}
	switch {
	case is("TMUX"):
		if t.notifies == bellOnly {
			t.notifies = osc9 // the terminal around it is unknown, and tmux drops what it must not pass on
		}
		t.wrap = func(s string) string { return "\x1bPtmux;" + strings.ReplaceAll(s, "\x1b", "\x1b\x1b") + "\x1b\\" }
	case is("STY"):
		t.wrap = func(s string) string { return "\x1bP" + s + "\x1b\\" }
	}
	return t
}

// atLeast compares the first two numbers of a version.
func atLeast(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(first)
	b, _ := strconv.Atoi(second)
	return err == nil && (a > major || a == major && b >= minor)
}

// HasProgress reports whether the terminal shows progress in its tab or task bar.
func (t Terminal) HasProgress() bool { return t.progress && t.wrap == nil }

// Notification is the sequence for a notification. A terminal without notifications rings its bell, and so does one
// behind a multiplexer, which may not pass the sequence on. The text may come from anywhere.
func (t Terminal) Notification(text string, bell bool) string {
	const most = 120
	text = strings.ReplaceAll(termtext.Clip(termtext.Plain(text), most), ";", ",")
	out := ""
	switch t.notifies {
	case osc9:
		out = "\x1b]9;lathe: " + text + "\x07" // never a number, which would be a command of ConEmu
	case osc777:
		out = "\x1b]777;notify;lathe;" + text + "\x07"
	case osc99:
		out = "\x1b]99;i=lathe:d=0;lathe\x1b\\\x1b]99;i=lathe:d=1:p=body;" + text + "\x1b\\"
	case bellOnly:
	}
	if out != "" && t.wrap != nil {
		out = t.wrap(out)
	}
	if bell || t.notifies == bellOnly || t.wrap != nil {
		return "\a" + out
	}
	return out
}
