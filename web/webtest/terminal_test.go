//go:build !windows

package webtest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// screen is the terminal UI in a terminal of its own.
type screen struct {
	w    *world
	user *os.File

	mu      sync.Mutex // guards the fields below
	sent    strings.Builder
	columns uint16
}

// attach opens a session of the server in the terminal UI.
func (w *world) attach(id string) *screen {
	w.Helper()
	path, err := program()
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.Command(path, "attach", w.url, "--session", id)
	cmd.Dir, cmd.Env = w.project, append(w.env, "TERM=xterm-256color", "CI=")
	s := &screen{w: w, columns: 120}
	if s.user, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 60, Cols: s.columns}); err != nil {
		w.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		b := make([]byte, 64<<10)
		for {
			n, err := s.user.Read(b)
			s.mu.Lock()
			s.sent.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	w.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = s.user.Close()
		reading.Wait()
	})
	return s
}

// shows waits until the screen shows a text. Only changes are drawn, so each look asks for the whole screen by another width.
func (s *screen) shows(text string) {
	s.w.Helper()
	s.w.until("the terminal shows "+text, func() bool {
		s.mu.Lock()
		found := strings.Contains(ansi.Strip(s.sent.String()), text)
		s.columns ^= 1
		s.mu.Unlock()
		if !found {
			_ = pty.Setsize(s.user, &pty.Winsize{Rows: 60, Cols: s.columns})
		}
		return found
	})
}

// enter types something.
func (s *screen) enter(keys string) {
	s.w.Helper()
	if _, err := io.WriteString(s.user, keys); err != nil {
		s.w.Fatal(err)
	}
}
