// Package tty provides the environment of the terminal UI: a process that restores the terminal
// after a crash, and the clipboard. Start with Restorer and Copier.
package tty

import (
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// clipboardTime is how long a clipboard program may take.
const clipboardTime = 3 * time.Second

// mostPasted is how much of the clipboard is read, in bytes.
const mostPasted = 16 << 20

// clipboard lists the commands that write a text to the local clipboard, and those that print
// its content, in the order to try them: images first, since they have no text. Over SSH the local clipboard
// would be the wrong one, and only the terminal's escape sequence remains.
func clipboard(env func(string) string) (writes, reads [][]string) {
	switch {
	case env("SSH_CONNECTION") != "" || env("SSH_TTY") != "":
	case runtime.GOOS == "darwin":
		writes, reads = [][]string{{"pbcopy"}}, [][]string{{"pngpaste", "-"}, {"pbpaste"}}
	case runtime.GOOS == "windows":
		writes, reads = [][]string{{"clip"}}, [][]string{{"powershell", "-NoProfile", "-Command", "Get-Clipboard -Raw"}}
	default:
		if env("WAYLAND_DISPLAY") != "" {
			writes = append(writes, []string{"wl-copy"})
			reads = append(reads, []string{"wl-paste", "--type", "image/png"}, []string{"wl-paste", "--no-newline"})
		}
		if env("DISPLAY") != "" {
			writes = append(writes, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "--clipboard", "--input"})
			reads = append(reads, []string{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"},
				[]string{"xclip", "-selection", "clipboard", "-o"}, []string{"xsel", "--clipboard", "--output"})
		}
		if env("WSL_DISTRO_NAME") != "" {
			writes = append(writes, []string{"clip.exe"})
			reads = append(reads, []string{"powershell.exe", "-NoProfile", "-Command", "Get-Clipboard -Raw"})
		}
	}
	if env("TMUX") != "" { // which forwards the escape sequence only if configured
		writes, reads = append(writes, []string{"tmux", "load-buffer", "-w", "-"}), append(reads, []string{"tmux", "save-buffer", "-"})
	}
	return writes, reads
}

// isMissing reports whether the program of a command is not installed.
func isMissing(command []string) bool {
	_, err := exec.LookPath(command[0])
	return err != nil
}

// Copier returns a function that writes to the local clipboard, nil if none can.
func Copier(env func(string) string) func(text string) error {
	ways, _ := clipboard(env)
	ways = slices.DeleteFunc(ways, isMissing)
	if len(ways) == 0 {
		return nil
	}
	return func(text string) error {
		ctx, stop := context.WithTimeout(context.Background(), clipboardTime)
		defer stop()
		cmd := exec.CommandContext(ctx, ways[0][0], ways[0][1:]...)
		cmd.Stdin = strings.NewReader(text)
		if err := cmd.Run(); err != nil {
			return lathe.Errorf(lathe.Unavailable, "%s did not accept the text: %w", ways[0][0], err)
		}
		return nil
	}
}

// Paster returns a function that reads the local clipboard, nil if none can.
func Paster(env func(string) string) func(ctx context.Context) (mime string, data []byte) {
	_, ways := clipboard(env)
	ways = slices.DeleteFunc(ways, isMissing)
	if len(ways) == 0 {
		return nil
	}
	return func(ctx context.Context) (mime string, data []byte) {
		ctx, stop := context.WithTimeout(ctx, clipboardTime)
		defer stop()
		for _, way := range ways {
			var got limitedBuffer
			cmd := exec.CommandContext(ctx, way[0], way[1:]...)
			cmd.Stdout = &got
			if err := cmd.Run(); err == nil && got.Len() > 0 {
				return http.DetectContentType(got.Bytes()), got.Bytes()
			}
		}
		return "", nil
	}
}

// limitedBuffer refuses more than mostPasted bytes.
type limitedBuffer struct{ bytes.Buffer }

func (c *limitedBuffer) Write(b []byte) (int, error) {
	if c.Len()+len(b) > mostPasted {
		return 0, lathe.Errorf(lathe.Overflow, "the clipboard holds more than %s", termtext.ByteSize(mostPasted))
	}
	return c.Buffer.Write(b)
}
