// Package cli is what the commands of lathe share: the streams and global flags of the program, questions to the
// user, sessions of this machine or of a server, errors and exit codes, signals and the log.
//
// Start reading at app.go; the commands are in packages below this one and in cmd/lathe.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/style"
)

// App is what the commands share: streams, surroundings and the global flags.
type App struct {
	harness.Host

	Stdin  *os.File
	Out    *bufio.Writer // standard output; finish flushes it
	Stdout *CountingFile
	Stderr *os.File
	OnDraw func()        // is called whenever the live view draws; nil but in tests
	TTYChildren   *atomic.Int32 // how many other programs have the terminal

	JSON      bool   // --json
	Attach    string // --attach: a server
	Username  string // -u and
	Password  string // -p: what it wants to know
	Tracer    *otlp.Tracer
	PrintLogs bool
	LogLevel  string
	TTYStuck      bool // the terminal takes nothing any more
	warned    bool // of settings that wait for trust
}

// NewApp is a program with the streams of this process.
func NewApp(host harness.Host) *App {
	stdout := &CountingFile{File: os.Stdout}
	return &App{
		Stdin: os.Stdin, Out: bufio.NewWriterSize(stdout, 64<<10), Stdout: stdout, Stderr: os.Stderr,
		TTYChildren: new(atomic.Int32), Host: host,
	}
}

// CountingFile remembers whether anything was written to it.
type CountingFile struct {
	File    *os.File
	Written int64
}

func (f *CountingFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.Written += int64(n)
	return n, err
}

// JSONFlag gives a command --json, and returns it.
func (a *App) JSONFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.JSON, "json", false, "print JSON for programs")
	return cmd
}

func (a *App) StartLog() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.LogLevel)); err != nil || strings.ContainsAny(a.LogLevel, "+-") {
		return Usagef("--log-level %s: want DEBUG, INFO, WARN or ERROR", termtext.Plain(a.LogLevel))
	}
	var to io.Writer = &logFile{find: func() (datadir.Folders, error) { return datadir.Find(a.Env) }}
	if a.PrintLogs {
		to = a.Stderr
	}
	a.Log = slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level}))
	return nil
}

// Open opens the engine, and makes the database if there is none. The caller closes it.
func (a *App) Open(ctx context.Context) (*engine.Engine, error) {
	return harness.OpenSessions(ctx, &a.Host)
}

// WithEngine runs f on the engine of a database that exists. Without one there is nothing to find,
// and none is made by looking.
func (a *App) WithEngine(ctx context.Context, f func(*engine.Engine) error) error {
	if _, err := a.ExistingFolders(); err != nil {
		return err
	}
	e, err := a.Open(ctx)
	if err != nil {
		return err
	}
	return CloseAfter(e, f(e))
}

// ExistingFolders are the folders of a database that exists.
func (a *App) ExistingFolders() (datadir.Folders, error) {
	at, err := datadir.Find(a.Env)
	if err == nil && !at.Exists() {
		err = NoDatabase{at.Database()}
	}
	return at, err
}

// CloseAfter closes and keeps the first error.
func CloseAfter(c io.Closer, err error) error { return cmp.Or(err, c.Close()) }

// NoDatabase says that nothing was ever written.
type NoDatabase struct{ Path string }

func (e NoDatabase) Error() string { return e.Unwrap().Error() }

func (e NoDatabase) Unwrap() error {
	return lathe.Errorf(lathe.NotFound, "there are no sessions yet (no database at %s); `lathe import` brings one in, `lathe demo` shows how it works", e.Path)
}

// Printf writes to standard output. An error stays with the writer until finish.
func (a *App) Printf(format string, args ...any) { _, _ = fmt.Fprintf(a.Out, format, args...) }

// Flush lets the result be seen before a remark on it. An error stays with the writer.
func (a *App) Flush() { _ = a.Out.Flush() }

// PrintJSON writes a value with two spaces an indent.
func (a *App) PrintJSON(v any) error {
	enc := layout.JSONTo(a.Out).Encoder()
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// PrintList prints a list: for programs, as a table, or that there is nothing in it.
func (a *App) PrintList(list any, t layout.Table, nothing string) error {
	switch {
	case a.JSON:
		return a.PrintJSON(list)
	case len(t.Rows) == 0:
		a.Notify("%s", nothing)
		return nil
	default:
		return t.Write(a.Out, a.Width())
	}
}

// Width is how many columns the output has, 0 when it goes to no screen.
func (a *App) Width() int {
	if n, err := strconv.Atoi(a.Env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(a.Stdout.File.Fd())); err == nil && n > 0 {
		return n
	}
	return 0
}

// ScreenSize is the size of the terminal, or a usual one where it does not say.
func (a *App) ScreenSize() (width, height int) {
	width, height, err := term.GetSize(int(a.Stdout.File.Fd()))
	if err != nil || width <= 0 {
		width = cmp.Or(a.Width(), 80)
	}
	if height <= 0 {
		height = 24
	}
	return width, height
}

// HasColor reports whether a stream is a screen that shows colour and whose user wants it.
func (a *App) HasColor(f *os.File) bool {
	return a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb" && IsTerminal(f)
}

// Paint gives a text a look where the stream shows colors.
func (a *App) Paint(f *os.File, text string, look style.Attr) string {
	if !a.HasColor(f) {
		return text
	}
	return style.Paint(text, look)
}

func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// ReadOrCancel runs a read that may wait for ever, and gives up when the context ends. The goroutine
// is then left behind: nothing can wake a read of a terminal, and the program is about to end.
func ReadOrCancel(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	var data []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		data, err = read()
	}()
	select {
	case <-done:
		return data, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// InDir is the same program in another directory.
func (a *App) InDir(dir string) *App {
	other := *a
	other.Dir = dir
	return &other
}
