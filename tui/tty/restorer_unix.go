//go:build unix

package tty

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Device is the terminal of this process, whatever its streams are.
const Device = "/dev/tty"

// restorerArgument is the argument of the process that restores the terminal.
const (
	restorerArgument = "__restore-terminal"
	progressSuffix   = "-and-progress"
)

// Restorer restores the terminal when the TUI cannot: killed, out of memory, ended by
// an uncaught panic, or left with a blocked terminal. It is a separate
// process that waits for the end of a pipe. After Stop it does nothing.
type Restorer struct {
	in, out *os.File
	program string        // of the process
	before  *unix.Termios // nil where it could not be read
	child   *exec.Cmd
	pipe    *os.File

	// ResetProgress also removes the progress from the tab. Other terminals would notify the user of it.
	ResetProgress bool
}

// NewRestorer saves the terminal modes. program is an executable whose main calls Restore, "" for this one.
func NewRestorer(in, out *os.File, program string) *Restorer {
	w := &Restorer{in: in, out: out, program: program}
	if t, err := unix.IoctlGetTermios(int(in.Fd()), readTermios); err == nil {
		w.before = t
	}
	return w
}

// Start starts the process.
func (w *Restorer) Start() error {
	if w.before == nil || w.child != nil {
		return nil
	}
	state, err := json.Marshal(w.before)
	if err != nil {
		return err
	}
	program := w.program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return err
		}
	}
	r, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	child := exec.Command(program)
	child.Args = []string{os.Args[0], restorerArgument, string(state)}
	if w.ResetProgress {
		child.Args[1] += progressSuffix
	}
	child.Env = []string{"GOMAXPROCS=1"}
	child.Dir = "/" // do not keep the working directory busy
	child.Stdin, child.Stdout = r, w.out
	child.ExtraFiles = []*os.File{w.in}
	if err := child.Start(); err != nil {
		_ = pipe.Close() // the other end was not passed on
		return err
	}
	w.child, w.pipe = child, pipe
	return nil
}

// Stop ends the process: the terminal is restored.
func (w *Restorer) Stop() {
	if w.child == nil {
		return
	}
	_, _ = w.pipe.Write([]byte{'q'})
	_ = w.pipe.Close()
	_ = w.child.Wait() // it has nothing to tell
	w.child = nil
}

// Detach leaves the restoring to the process, which waits until the terminal accepts output.
func (w *Restorer) Detach() {
	if w.child == nil {
		return
	}
	_, _ = w.pipe.Write([]byte{'r'})
	_ = w.pipe.Close()
	_ = w.child.Process.Release()
	w.child = nil
}

// Restore runs the process that restores a terminal; mine says that this one is it.
func Restore(args []string) (mine bool) {
	if len(args) != 3 || strings.TrimSuffix(args[1], progressSuffix) != restorerArgument {
		return false
	}
	// Survive the signals that end the TUI, and write even if a shell is back already.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGPIPE)
	var before unix.Termios
	if json.Unmarshal([]byte(args[2]), &before) != nil || !term.IsTerminal(3) {
		return true
	}
	taken, err := unix.IoctlGetTermios(3, readTermios)
	if err != nil {
		return true
	}
	said, _ := io.ReadAll(io.LimitReader(os.Stdin, 16)) // an error also means the end
	if bytes.HasSuffix(said, []byte{'q'}) {
		return true
	}
	// A shell that was faster has its own idea of its terminal.
	if now, err := unix.IoctlGetTermios(3, readTermios); err == nil && *now == *taken {
		_ = unix.IoctlSetTermios(3, writeTermios, &before)
	}
	text := resetSequence
	if strings.HasSuffix(args[1], progressSuffix) {
		text = "\x1b]9;4;0\x07" + text
	}
	if !bytes.HasSuffix(said, []byte{'r'}) {
		text += crashNotice
	}
	_, _ = os.Stdout.WriteString(text)
	return true
}

// resetSequence resets the terminal modes that the TUI sets: synchronized output, key reporting,
// bracketed paste, mouse, focus and color reports, the window title, the alternate screen, the cursor.
const resetSequence = "\x1b[?2026l\x1b[<u\x1b[>4;0m\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2031l" +
	"\x1b]2;\x07\x1b[?1049l\x1b[0m\x1b[?25h\x1b[0 q\r\n"

// crashNotice says what happened, since other output is gone with the alternate screen.
const crashNotice = "lathe exited unexpectedly. Your session is saved: run `lathe -c` to continue.\r\n"
