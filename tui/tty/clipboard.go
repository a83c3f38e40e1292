// Package tty is what the terminal UI needs of the machine around its terminal: a process that restores the terminal
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

// clipboard lists the commands that may take a text for the clipboard of this machine, and those that print what it
// holds, in the order in which to try them: pictures first, which as a text would be nothing. Over a connection from
// elsewhere it would be somebody else's clipboard, and the terminal's own way remains.
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
	if env("TMUX") != "" { // which lets programs in it reach the terminal's clipboard only when it was configured to
		writes, reads = append(writes, []string{"tmux", "load-buffer", "-w", "-"}), append(reads, []string{"tmux", "save-buffer", "-"})
	}
	return writes, reads
}

// isMissing reports whether the program of a command is not installed.
func isMissing(command []string) bool {
	_, err := exec.LookPath(command[0])
	return err != nil
}

// Copier puts texts on the clipboard of this machine; nil cannot.
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

// Paster reads the clipboard of this machine; nil cannot.
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

// limitedBuffer refuses what is too much.
type limitedBuffer struct{ bytes.Buffer }

func (c *limitedBuffer) Write(b []byte) (int, error) {
	if c.Len()+len(b) > mostPasted {
		return 0, lathe.Errorf(lathe.Overflow, "the clipboard holds more than %s", termtext.ByteSize(mostPasted))
	}
	return c.Buffer.Write(b)
}
