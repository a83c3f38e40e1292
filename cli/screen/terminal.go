package screen

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/tty"
)

// keyboard is where keys come from.
type keyboard struct {
	file   *os.File
	opened bool // by us
}

func (k keyboard) close() {
	if k.opened {
		_ = k.file.Close() // it was only read
	}
}

// openScreen looks whether there is a terminal to show something on. What is piped in is the beginning of a
// prompt; keys then come from the terminal itself.
func openScreen(ctx context.Context, a *cli.App) (keyboard, string, error) {
	const instead = "`lathe run \"…\"` answers in lines, `lathe --help` lists the commands"
	switch {
	case !cli.IsTerminal(a.Stdout.File):
		return keyboard{}, "", cli.Usagef("the terminal program needs a terminal, and standard output is none; %s", instead)
	case a.Env("TERM") == "dumb":
		return keyboard{}, "", cli.Usagef("the terminal program needs a terminal that can move its cursor, and TERM=dumb says that this one cannot; %s", instead)
	case cli.IsTerminal(a.Stdin):
		return keyboard{file: a.Stdin}, "", nil
	}
	keys, err := os.OpenFile(tty.Device, os.O_RDWR, 0)
	if err != nil {
		return keyboard{}, "", cli.Usagef("the terminal program needs a keyboard, and standard input is none; %s", instead)
	}
	k := keyboard{file: keys, opened: true}
	text, err := a.AppendStdin(ctx, "")
	if err != nil {
		k.close()
	}
	return k, text, err
}

// mostCrash is how long the file of crashes grows before it begins anew, in bytes.
const mostCrash = 1 << 20

// keepCrashes lets what the runtime says of a crash also go to a file beside the logs: on the screen it is gone
// with it.
func keepCrashes(a *cli.App) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return
	}
	path := filepath.Join(filepath.Dir(at.Logs()), "crash.txt")
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	if info, err := os.Stat(path); err == nil && info.Size() > mostCrash {
		_ = os.Truncate(path, 0) // else it grows on
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		a.Log.Warn("crashes are not written down", "error", err)
	}
}

// untilHangup gives a context that also ends when the terminal is gone, so that what was begun is ended in
// order.
func untilHangup(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-caught:
			cancel(cli.Interrupt{Signal: s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
		<-done
	}
}

// mostRemarks is how much is kept of what was said while the screen was taken, in bytes.
const mostRemarks = 64 << 10

// offScreen is the same program whose remarks and logs do not reach the screen. Once it is free, tell
// prints the remarks.
func offScreen(a *cli.App) (own *cli.App, tell func()) {
	other := *a
	if a.PrintLogs && cli.IsTerminal(a.Stderr) { // to the file instead
		other.PrintLogs = false
		if other.StartLog() != nil { // the level was right before
			other.Log = a.Log
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		other.Log.Warn("remarks are lost", "error", err)
		return &other, func() {}
	}
	other.Stderr, other.Notices = w, w
	var said bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = io.CopyN(&said, r, mostRemarks) // its end is the end of the pipe
		_, _ = io.Copy(io.Discard, r)
		_ = r.Close()
	})
	return &other, sync.OnceFunc(func() {
		_ = w.Close()
		reading.Wait()
		if said.Len() > 0 && !other.TTYStuck {
			a.Flush()
			_, _ = a.Stderr.Write(said.Bytes())
		}
	})
}

// editorWords is the user's editor with its arguments; nil is none.
func editorWords(env func(string) string) []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := splitWords(env(name)); len(words) > 0 {
			return words
		}
	}
	return nil
}

// splitWords cuts a command at spaces outside of quotes.
func splitWords(line string) (out []string) {
	var word strings.Builder
	begun, quote := false, rune(0)
	end := func() {
		if begun {
			out = append(out, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			end()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	end()
	return out
}

// readAttachment reads a file that goes with a prompt.
func readAttachment(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, lathe.Errorf(lathe.Invalid, "%s is no file", termtext.Plain(path))
	}
	data, err := io.ReadAll(io.LimitReader(f, cli.MaxAttachment+1))
	if err == nil && len(data) > cli.MaxAttachment {
		return nil, lathe.Errorf(lathe.Overflow, "%s is longer than %s", termtext.Plain(path), termtext.ByteSize(cli.MaxAttachment))
	}
	return data, err
}
