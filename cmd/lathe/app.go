package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
)

// app is what the commands share: streams, surroundings and the global flags.
type app struct {
	harness.Host

	stdin  *os.File
	out    *bufio.Writer // standard output; finish flushes it
	stdout *countingFile
	stderr *os.File
	onDraw func()        // is called whenever the live view draws; nil but in tests
	lent   *atomic.Int32 // how many other programs have the terminal

	json      bool   // --json
	attach    string // --attach: a server
	username  string // -u and
	password  string // -p: what it wants to know
	tracer    *otlp.Tracer
	printLogs bool
	logLevel  string
	deaf      bool // the terminal takes nothing any more
	warned    bool // of settings that wait for trust
}

func newApp() *app {
	stdout := &countingFile{file: os.Stdout}
	return &app{
		stdin: os.Stdin, out: bufio.NewWriterSize(stdout, 64<<10), stdout: stdout, stderr: os.Stderr,
		lent: new(atomic.Int32),
		Host: harness.Host{
			Version: version, Env: os.Getenv, Environ: os.Environ, Now: time.Now, Log: slog.New(slog.DiscardHandler), Notices: os.Stderr,
			Logins: auth.Methods(), Browse: browse,
		},
	}
}

// countingFile remembers whether anything was written to it.
type countingFile struct {
	file    *os.File
	written int64
}

func (f *countingFile) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	f.written += int64(n)
	return n, err
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVarP(&a.Dir, "dir", "C", ".", "the `DIRECTORY` whose project is meant")
	f.BoolVar(&a.printLogs, "print-logs", false, "print logs on standard error, not into log/lathe.log of the data folder")
	f.StringVar(&a.logLevel, "log-level", "INFO", "`LEVEL` of the logs: DEBUG, INFO, WARN or ERROR")
	f.BoolVar(&a.Trust, "trust", false, "let the project run what its settings say, this once")
	f.BoolVar(&a.Pure, "pure", false, "load no plugins from outside")
	root.Flags().BoolP("version", "v", false, "print the version")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		a.printLogs = a.printLogs || a.IsOn("PRINT_LOGS")
		if v := a.Variable("LOG_LEVEL"); v != "" && !c.Flags().Changed("log-level") {
			a.logLevel = v
		}
		return a.startLog()
	}
}

func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON for programs")
}

func (a *app) startLog() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil || strings.ContainsAny(a.logLevel, "+-") {
		return usagef("--log-level %s: want DEBUG, INFO, WARN or ERROR", termtext.Plain(a.logLevel))
	}
	var to io.Writer = &logFile{find: func() (datadir.Folders, error) { return datadir.Find(a.Env) }}
	if a.printLogs {
		to = a.stderr
	}
	a.Log = slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level}))
	return nil
}

// open opens the engine, and makes the database if there is none. The caller closes it.
func (a *app) open(ctx context.Context) (*engine.Engine, error) {
	return harness.OpenSessions(ctx, &a.Host)
}

// with runs f on the engine of a database that exists. Without one there is nothing to find,
// and none is made by looking.
func (a *app) with(ctx context.Context, f func(*engine.Engine) error) error {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	if !at.Exists() {
		return noDatabase{at.Database()}
	}
	e, err := a.open(ctx)
	if err != nil {
		return err
	}
	return closing(e, f(e))
}

// closing closes and keeps the first error.
func closing(c io.Closer, err error) error {
	if e := c.Close(); err == nil {
		err = e
	}
	return err
}

// noDatabase says that nothing was ever written.
type noDatabase struct{ path string }

func (e noDatabase) Error() string { return e.Unwrap().Error() }

func (e noDatabase) Unwrap() error {
	return lathe.Errorf(lathe.NotFound, "there are no sessions yet (no database at %s); `lathe import` brings one in, `lathe demo` shows how it works", e.path)
}

// printf writes to standard output. An error stays with the writer until finish.
func (a *app) printf(format string, args ...any) { _, _ = fmt.Fprintf(a.out, format, args...) }

// flushed lets the result be seen before a remark on it. An error stays with the writer.
func (a *app) flushed() { _ = a.out.Flush() }

// printJSON writes a value with two spaces an indent.
func (a *app) printJSON(v any) error {
	enc := jsonTo(a.out).encoder()
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// width is how many columns the output has, 0 when it goes to no screen.
func (a *app) width() int {
	if n, err := strconv.Atoi(a.Env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(a.stdout.file.Fd())); err == nil && n > 0 {
		return n
	}
	return 0
}

// colour reports whether a stream is a screen that shows colour and whose user wants it.
func (a *app) colour(f *os.File) bool {
	return a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb" && isTerminal(f)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// answer is what reading gave.
type answer struct {
	data []byte
	err  error
}

// reading runs a read that may wait for ever, and gives up when the context ends. The goroutine
// is then left behind: nothing can wake a read of a terminal, and the program is about to end.
func reading(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	got := make(chan answer, 1)
	go func() {
		data, err := read()
		got <- answer{data, err}
	}()
	select {
	case r := <-got:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// inDir is the same program in another directory.
func (a *app) inDir(dir string) *app {
	other := *a
	other.Dir = dir
	return &other
}
