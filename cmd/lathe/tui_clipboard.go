package main

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// clipboardTime is how long a program may take that keeps the clipboard.
const clipboardTime = 3 * time.Second

// clipboard is the command that takes a text for the clipboard of this machine; nil is none. Over a
// connection from elsewhere that would be somebody else's clipboard, and the terminal's own way remains.
func clipboard(env func(string) string, has func(string) bool) []string {
	var ways [][]string
	switch {
	case env("SSH_CONNECTION") != "" || env("SSH_TTY") != "":
	case runtime.GOOS == "darwin":
		ways = [][]string{{"pbcopy"}}
	case runtime.GOOS == "windows":
		ways = [][]string{{"clip"}}
	default:
		if env("WAYLAND_DISPLAY") != "" {
			ways = append(ways, []string{"wl-copy"})
		}
		if env("DISPLAY") != "" {
			ways = append(ways, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "--clipboard", "--input"})
		}
		if env("WSL_DISTRO_NAME") != "" {
			ways = append(ways, []string{"clip.exe"})
		}
	}
	if env("TMUX") != "" { // which lets programs in it reach the terminal's clipboard only when it was told to
		ways = append(ways, []string{"tmux", "load-buffer", "-w", "-"})
	}
	for _, way := range ways {
		if has(way[0]) {
			return way
		}
	}
	return nil
}

// copier puts texts on the clipboard of this machine; nil cannot.
func (a *app) copier() func(text string) error {
	way := clipboard(a.env, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if way == nil {
		return nil
	}
	return func(text string) error {
		ctx, stop := context.WithTimeout(context.Background(), clipboardTime)
		defer stop()
		cmd := exec.CommandContext(ctx, way[0], way[1:]...)
		cmd.Stdin = strings.NewReader(text)
		if err := cmd.Run(); err != nil {
			return lathe.Errorf(lathe.Unavailable, "%s did not take the text: %w", way[0], err)
		}
		return nil
	}
}
