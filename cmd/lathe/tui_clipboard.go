package main

import (
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
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

// clipboardCopier puts texts on the clipboard of this machine; nil cannot.
func clipboardCopier(a *cli.App) func(text string) error {
	way := clipboard(a.Env, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
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

// clipboardReads are the commands that print what the clipboard of this machine holds, in the order in which they are
// tried: pictures first, which as a text would be nothing.
func clipboardReads(env func(string) string, has func(string) bool) (out [][]string) {
	var ways [][]string
	switch {
	case env("SSH_CONNECTION") != "" || env("SSH_TTY") != "":
	case runtime.GOOS == "darwin":
		ways = [][]string{{"pngpaste", "-"}, {"pbpaste"}}
	case runtime.GOOS == "windows":
		ways = [][]string{{"powershell", "-NoProfile", "-Command", "Get-Clipboard -Raw"}}
	default:
		if env("WAYLAND_DISPLAY") != "" {
			ways = append(ways, []string{"wl-paste", "--type", "image/png"}, []string{"wl-paste", "--no-newline"})
		}
		if env("DISPLAY") != "" {
			ways = append(ways, []string{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"},
				[]string{"xclip", "-selection", "clipboard", "-o"}, []string{"xsel", "--clipboard", "--output"})
		}
		if env("WSL_DISTRO_NAME") != "" {
			ways = append(ways, []string{"powershell.exe", "-NoProfile", "-Command", "Get-Clipboard -Raw"})
		}
	}
	if env("TMUX") != "" {
		ways = append(ways, []string{"tmux", "save-buffer", "-"})
	}
	for _, way := range ways {
		if has(way[0]) {
			out = append(out, way)
		}
	}
	return out
}

// clipboardPaster reads the clipboard of this machine; nil cannot.
func clipboardPaster(a *cli.App) func(ctx context.Context) (mime string, data []byte) {
	ways := clipboardReads(a.Env, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if len(ways) == 0 {
		return nil
	}
	return func(ctx context.Context) (mime string, data []byte) {
		ctx, stop := context.WithTimeout(ctx, clipboardTime)
		defer stop()
		for _, way := range ways {
			got := &capped{most: mostCarried}
			cmd := exec.CommandContext(ctx, way[0], way[1:]...)
			cmd.Stdout = got
			if err := cmd.Run(); err == nil && got.Len() > 0 {
				return http.DetectContentType(got.Bytes()), got.Bytes()
			}
		}
		return "", nil
	}
}

// capped keeps what is written to it, and refuses what is too much.
type capped struct {
	bytes.Buffer
	most int
}

func (c *capped) Write(b []byte) (int, error) {
	if c.Len()+len(b) > c.most {
		return 0, lathe.Errorf(lathe.Overflow, "it is longer than %s", termtext.ByteSize(int64(c.most)))
	}
	return c.Buffer.Write(b)
}
