//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/lathe-agent/lathe/sandbox"
)

// terminalDevice is the terminal of this process, whatever its streams are.
const terminalDevice = "/dev/tty"

// wardenWord is the argument of the process that looks after the terminal.
const wardenWord = "__terminal-warden"

// warden puts the terminal in order when the program that took it cannot: killed, out of memory, or ended by
// a panic in a goroutine that nobody could catch, or left with a terminal that takes nothing. It is a process of
// its own that waits for the end of a pipe. Whoever leaves in order says so, and it does nothing.
type warden struct {
	in, out *os.File
	before  *unix.Termios // nil where it could not be read
	child   *exec.Cmd
	pipe    *os.File
}

// newWarden remembers how the terminal is.
func newWarden(in, out *os.File) *warden {
	w := &warden{in: in, out: out}
	if t, err := unix.IoctlGetTermios(int(in.Fd()), readTermios); err == nil {
		w.before = t
	}
	return w
}

// begin starts to look after it.
func (w *warden) begin() error {
	if w.before == nil || w.child != nil {
		return nil
	}
	state, err := json.Marshal(w.before)
	if err != nil {
		return err
	}
	program := sandbox.Self()
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
	child.Args = []string{os.Args[0], wardenWord, string(state)}
	child.Env = []string{"GOMAXPROCS=1"}
	child.Dir = "/" // it keeps no folder from being removed
	child.Stdin, child.Stdout = r, w.out
	child.ExtraFiles = []*os.File{w.in}
	if err := child.Start(); err != nil {
		_ = pipe.Close() // nobody has the other end
		return err
	}
	w.child, w.pipe = child, pipe
	return nil
}

// end says that the terminal is in order.
func (w *warden) end() {
	if w.child == nil {
		return
	}
	_, _ = w.pipe.Write([]byte{'q'})
	_ = w.pipe.Close()
	_ = w.child.Wait() // it has nothing to tell
	w.child = nil
}

// leave lets it put in order what the terminal does not take now. It outlives us until that is read.
func (w *warden) leave() {
	if w.child == nil {
		return
	}
	_, _ = w.pipe.Write([]byte{'r'})
	_ = w.pipe.Close()
	_ = w.child.Process.Release()
	w.child = nil
}

// wardenCall runs the process that looks after a terminal; mine says that this one is it.
func wardenCall(args []string) (mine bool) {
	if len(args) != 3 || args[1] != wardenWord {
		return false
	}
	// It outlives whatever ends the one it watches, and may write when a shell is back already.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGPIPE)
	var before unix.Termios
	if json.Unmarshal([]byte(args[2]), &before) != nil || !term.IsTerminal(3) {
		return true
	}
	taken, err := unix.IoctlGetTermios(3, readTermios)
	if err != nil {
		return true
	}
	said, _ := io.ReadAll(io.LimitReader(os.Stdin, 16)) // its end says enough
	if bytes.HasSuffix(said, []byte{'q'}) {
		return true
	}
	// A shell that was faster has its own idea of its terminal.
	if now, err := unix.IoctlGetTermios(3, readTermios); err == nil && *now == *taken {
		_ = unix.IoctlSetTermios(3, writeTermios, &before)
	}
	text := wardenReset
	if !bytes.HasSuffix(said, []byte{'r'}) {
		text += wardenWords
	}
	_, _ = os.Stdout.WriteString(text)
	return true
}

// wardenReset takes back what a program may have asked of a terminal: drawing held back, keys told in
// another way, pasting marked, the mouse, focus and colours told, the other screen, the cursor.
const wardenReset = "\x1b[?2026l\x1b[<u\x1b[>4;0m\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2031l" +
	"\x1b[?1049l\x1b[0m\x1b[?25h\x1b[0 q\r\n"

// wardenWords say what happened, since whatever else was printed is gone with that screen.
const wardenWords = "lathe did not end in order; what was said is kept, and `lathe -c` goes on.\r\n"
