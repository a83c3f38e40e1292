// Package cli has the code shared by all commands: streams and global flags, questions to the user, local and remote
// sessions, errors and exit codes, signals and the log.
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

// App is the state shared by the commands: streams, environment and global flags.
type App struct {
	harness.Host

	Stdin       *os.File
	Out         *bufio.Writer // standard output; Finish flushes it
	Stdout      *CountingFile
	Stderr      *os.File
	OnDraw      func()        // called on each draw of the live view; only for tests
	TTYChildren *atomic.Int32 // number of child programs that use the terminal

	JSON      bool   // --json
	Attach    string // --attach: a server
	Username  string // -u
	Password  string // -p
	Tracer    *otlp.Tracer
	PrintLogs bool
	LogLevel  string
	TTYStuck  bool // the terminal no longer accepts output
	warned    bool // WarnUntrusted has printed its warning
}

// NewApp returns an App with the streams of this process.
func NewApp(host harness.Host) *App {
	stdout := &CountingFile{File: os.Stdout}
	return &App{
		Stdin: os.Stdin, Out: bufio.NewWriterSize(stdout, 64<<10), Stdout: stdout, Stderr: os.Stderr,
		TTYChildren: new(atomic.Int32), Host: host,
	}
}

// CountingFile counts the bytes written to a file.
type CountingFile struct {
	File    *os.File
	Written int64
}

func (f *CountingFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.Written += int64(n)
	return n, err
}

// JSONFlag adds --json to a command and returns the command.
func (a *App) JSONFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.JSON, "json", false, "print JSON")
	return cmd
}

// StartLog opens the log at the level of --log-level: in the log file, or on standard error with --print-logs.
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

// Open opens the engine and creates the database if needed. The caller closes the engine.
func (a *App) Open(ctx context.Context) (*engine.Engine, error) {
	return harness.OpenSessions(ctx, &a.Host)
}

// WithEngine runs f on the engine of an existing database. It never creates one, so that reading commands leave no
// files.
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

// ExistingFolders returns the data folders, or NoDatabase if there is no database yet.
func (a *App) ExistingFolders() (datadir.Folders, error) {
	at, err := datadir.Find(a.Env)
	if err == nil && !at.Exists() {
		err = NoDatabase{at.Database()}
	}
	return at, err
}

// CloseAfter closes c and returns err, or else the error of closing.
func CloseAfter(c io.Closer, err error) error { return cmp.Or(err, c.Close()) }

// NoDatabase is the error of a command that needs a database before the first session.
type NoDatabase struct{ Path string }

func (e NoDatabase) Error() string { return e.Unwrap().Error() }

func (e NoDatabase) Unwrap() error {
	return lathe.Errorf(lathe.NotFound, "no sessions yet (no database at %s); start one with `lathe`, import one with `lathe import`, or run `lathe demo`", e.Path)
}

// Printf writes to standard output. Finish reports an error of the writer.
func (a *App) Printf(format string, args ...any) { _, _ = fmt.Fprintf(a.Out, format, args...) }

// Flush shows the result before a notice about it. Finish reports an error of the writer.
func (a *App) Flush() { _ = a.Out.Flush() }

// PrintJSON writes a value as indented JSON.
func (a *App) PrintJSON(v any) error {
	enc := layout.JSONTo(a.Out).Encoder()
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// PrintList prints a list as JSON or as a table, or a notice if it is empty.
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

// Width returns the columns of the output, or 0 if it is not a terminal.
func (a *App) Width() int {
	if n, err := strconv.Atoi(a.Env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(a.Stdout.File.Fd())); err == nil && n > 0 {
		return n
	}
	return 0
}

// ScreenSize returns the size of the terminal, or 80×24 if unknown.
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

// HasColor reports whether a stream is a terminal with colors that NO_COLOR does not disable.
func (a *App) HasColor(f *os.File) bool {
	return a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb" && IsTerminal(f)
}

// Paint styles a text if the stream has colors.
func (a *App) Paint(f *os.File, text string, look style.Attr) string {
	if !a.HasColor(f) {
		return text
	}
	return style.Paint(text, look)
}

func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// ReadOrCancel runs a blocking read and returns when the context ends. The goroutine then leaks, because nothing can
// interrupt a terminal read and the program is about to exit.
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

// CancelableReader returns a reader whose reads end with the context, for files and pipes that may block. A blocked
// goroutine then leaks, as in ReadOrCancel.
func CancelableReader(ctx context.Context, r io.Reader) io.Reader {
	return &cancelableReader{ctx: ctx, r: r}
}

type cancelableReader struct {
	ctx context.Context
	r   io.Reader
	buf []byte
	at  []byte // read and not yet returned
	err error
}

func (c *cancelableReader) Read(b []byte) (int, error) {
	if len(c.at) == 0 && c.err == nil {
		c.fill()
	}
	n := copy(b, c.at)
	if c.at = c.at[n:]; n == 0 {
		return 0, c.err
	}
	return n, nil
}

// fill reads into a buffer of its own, because a canceled caller may use its buffer for something else.
func (c *cancelableReader) fill() {
	if c.buf == nil {
		c.buf = make([]byte, 64<<10)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := c.r.Read(c.buf)
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		c.at, c.err = c.buf[:got.n], got.err
	case <-c.ctx.Done():
		c.err = context.Cause(c.ctx)
	}
}

// InDir returns a copy of the App for another directory.
func (a *App) InDir(dir string) *App {
	other := *a
	other.Dir = dir
	return &other
}
