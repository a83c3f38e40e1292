// Command picture runs a command in its own terminal and draws the final screen, with
// everything that scrolled away, as an SVG. It makes the pictures of the documents from real
// runs.
//
//	go run ./scripts/picture -o docs/pictures/demo.svg -- ./bin/lathe demo
//	go run ./scripts/picture -o ask.svg -type 'y\n' -- lathe run "Push it"
//	tmux capture-pane -e -p | go run ./scripts/picture -o screen.svg -title lathe -
//
// The command has -cols columns, a terminal with colors, and on Linux and macOS nothing else of
// the machine but its environment. It types its input when the screen has been still for a
// second.
//
// Start reading here; screen.go is the terminal, svg.go draws.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

func main() {
	out := flag.String("o", "", "output file")
	cols := flag.Int("cols", 100, "terminal width")
	rows := flag.Int("rows", 50, "terminal height")
	typed := flag.String("type", "", "input to type when the screen is still; \\n is Enter")
	title := flag.String("title", "", "title above the screen; default: the command")
	flag.Parse()
	if *out == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: picture -o FILE [-cols N] [-type TEXT] -- COMMAND [ARGUMENTS], or - to draw recorded terminal output from standard input")
		os.Exit(2)
	}
	if *title == "" {
		*title = "$ " + commandLine(flag.Args())
	}
	var s *screen
	var err error
	if flag.Arg(0) == "-" {
		s, err = read(os.Stdin, *cols, *rows)
	} else {
		s, err = show(flag.Args(), *cols, *rows, strings.ReplaceAll(*typed, `\n`, "\r"))
	}
	if err == nil {
		err = os.WriteFile(*out, []byte(s.svg(*title)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// read draws recorded output of a full-screen program.
func read(from io.Reader, cols, rows int) (*screen, error) {
	data, err := io.ReadAll(from)
	s := newScreen(cols, rows)
	s.write(data)
	return s, err
}

// commandLine returns the command as a user types it.
func commandLine(args []string) string {
	words := []string{filepath.Base(args[0])}
	for _, a := range args[1:] {
		if strings.ContainsAny(a, " '$*") {
			a = `"` + a + `"`
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// still is how long the screen must not change before the next input.
const still = time.Second

// show runs a command to its end and returns the screen.
func show(args []string, cols, rows int, typed string) (*screen, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=", "CI=")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			b := make([]byte, 4096)
			n, err := f.Read(b)
			if n > 0 {
				chunks <- b[:n]
			}
			if err != nil { // the other end is closed
				return
			}
		}
	}()
	s := newScreen(cols, 0)
	timer := time.NewTimer(still)
	for open := true; open; {
		var chunk []byte
		select {
		case chunk, open = <-chunks:
			s.write(chunk)
			timer.Reset(still)
		case <-timer.C:
			if typed != "" {
				line, rest, _ := strings.Cut(typed, "\r")
				typed = rest
				if _, err := f.WriteString(line + "\r"); err != nil {
					return nil, err
				}
				timer.Reset(still)
			}
		}
	}
	err = cmd.Wait()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Exited() {
		err = nil // a failed command is shown as such
	}
	return s, err
}
