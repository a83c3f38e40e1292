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

// keyboard is the source of keys: standard input, or the terminal device if input is piped.
type keyboard struct {
	file   *os.File
	opened bool // by us
}

func (k keyboard) close() {
	if k.opened {
		_ = k.file.Close() // only read
	}
}

// openScreen checks that there is a terminal. It returns piped input as the start of the prompt; keys then come from
// the terminal device.
func openScreen(ctx context.Context, a *cli.App, f Flags) (keyboard, string, error) {
	const instead = "use `lathe run \"…\"` instead; `lathe --help` lists the commands"
	plain := f.accessible
	if l, err := a.Config(); err == nil { // the caller reports an error
		plain = plain || l.TUI.Accessible
	}
	switch {
	case !cli.IsTerminal(a.Stdout.File):
		return keyboard{}, "", cli.Usagef("the terminal UI needs a terminal, but standard output is not one; %s", instead)
	case a.Env("TERM") == "dumb" && !plain:
		return keyboard{}, "", cli.Usagef("the terminal UI cannot run with TERM=dumb; use `lathe --accessible`, or %s", instead)
	case cli.IsTerminal(a.Stdin):
		return keyboard{file: a.Stdin}, "", nil
	}
	keys, err := os.OpenFile(tty.Device, os.O_RDWR, 0)
	if err != nil {
		return keyboard{}, "", cli.Usagef("the terminal UI needs a keyboard, but standard input is not a terminal; %s", instead)
	}
	k := keyboard{file: keys, opened: true}
	text, err := a.AppendStdin(ctx, "")
	if err != nil {
		k.close()
	}
	return k, text, err
}

// maxCrash is the size at which the crash file is truncated, in bytes.
const maxCrash = 1 << 20

// saveCrashes also writes crash output to a file next to the logs, because the terminal UI hides it on the screen.
func saveCrashes(a *cli.App) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return
	}
	path := filepath.Join(filepath.Dir(at.Logs()), "crash.txt")
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxCrash {
		_ = os.Truncate(path, 0) // on failure it keeps growing
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		a.Log.Warn("cannot save crash reports", "error", err)
	}
}

// hangupContext returns a context that SIGHUP cancels, for a clean shutdown when the terminal closes.
func hangupContext(parent context.Context) (context.Context, context.CancelFunc) {
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

// maxRemarks is the size of the notices saved while the terminal UI is open, in bytes.
const maxRemarks = 64 << 10

// offScreen returns a copy of the App that saves its notices and logs while the terminal UI is open. show prints the
// notices afterwards.
func offScreen(a *cli.App) (own *cli.App, show func()) {
	other := *a
	if a.PrintLogs && cli.IsTerminal(a.Stderr) { // log to the file instead
		other.PrintLogs = false
		if other.StartLog() != nil { // the level is already valid
			other.Log = a.Log
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		other.Log.Warn("cannot save notices", "error", err)
		return &other, func() {}
	}
	other.Stderr, other.Notices = w, w
	var saved bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = io.CopyN(&saved, r, maxRemarks) // ends with the pipe
		_, _ = io.Copy(io.Discard, r)
		_ = r.Close()
	})
	return &other, sync.OnceFunc(func() {
		_ = w.Close()
		reading.Wait()
		if saved.Len() > 0 && !other.TTYStuck {
			a.Flush()
			_, _ = a.Stderr.Write(saved.Bytes())
		}
	})
}

// editorWords returns the user's editor command with arguments: VISUAL, EDITOR, or the one that every system has.
func editorWords(env func(string) string, system string) []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := splitWords(env(name)); len(words) > 0 {
			return words
		}
	}
	if system == "windows" {
		return []string{"notepad"}
	}
	return []string{"vi"}
}

// splitWords splits a command at spaces outside quotes.
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

// readAttachment reads a file to attach to a prompt.
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
		return nil, lathe.Errorf(lathe.Invalid, "%s is not a regular file", termtext.Plain(path))
	}
	data, err := io.ReadAll(io.LimitReader(f, cli.MaxAttachment+1))
	if err == nil && len(data) > cli.MaxAttachment {
		return nil, lathe.Errorf(lathe.Overflow, "%s is larger than %s", termtext.Plain(path), termtext.ByteSize(cli.MaxAttachment))
	}
	return data, err
}
