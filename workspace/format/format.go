// Package format runs code formatters on edited files and keeps the part of their work that belongs to the edit.
//
// It owns the list of known formatters (known.go), the search for their programs and for the config of a project, and
// the choice of hunks (hunks.go). It asks for no permission and saves nothing for an undo: its caller does that before
// [Formatters.Run].
//
// A formatter is foreign code. It has a time limit, runs in the sandbox that the caller gives it, and its result counts
// only if formatting it once more gives the same text as formatting the whole file.
//
// Start reading at [Formatters.Run].
package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
)

// Setting is the config of one formatter: an override, or one of the user's own.
type Setting struct {
	Disabled    bool
	Command     []string
	Environment map[string]string
	Extensions  []string
}

// Config configures the formatters of a project.
type Config struct {
	Off       bool
	WholeFile bool // keep all changes of a formatter, not only those that overlap the edit
	Settings  map[string]Setting
}

// Project is the directory whose files are formatted.
type Project struct {
	Directory string // real path
	Worktree  string // real path of the checkout; the directory if there is none
	Trusted   bool   // its programs and config may be executed
	Config    Config
}

// top is the highest folder that belongs to the project.
func (p Project) top() string {
	if p.Worktree != "" && workspace.Inside(p.Worktree, p.Directory) && filepath.Dir(p.Worktree) != p.Worktree {
		return p.Worktree
	}
	return p.Directory
}

// Options configure the formatters of a process.
type Options struct {
	Runner *sandbox.Runner
	Env    []string
	// Confine returns the sandbox of a formatter.
	Confine func(p Project, command []string) (sandbox.Profile, error)
	Limit   time.Duration // for one run; 0 is 5 seconds
}

// Formatters runs formatters. It is safe for use by many goroutines.
type Formatters struct{ o Options }

const (
	defaultLimit = 5 * time.Second
	maxFile      = 2 << 20 // bytes; larger files are not formatted
)

// Open returns formatters. Nothing is looked for or started until a file is formatted.
func Open(o Options) *Formatters {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	return &Formatters{o}
}

// Result is the work of formatters on one file.
type Result struct {
	Formatter string // the last that changed something
	After     string // the text of the file now
	Changed   []Span // lines that differ from before
	// Failed says why a formatter changed nothing, for a log.
	Failed error
}

// Span is a range of lines, from 1, both ends included. An empty one lies between two lines.
type Span struct{ First, Last int }

// Fits reports whether a formatter is for a file. It looks at no file.
func (c Config) Fits(path string) bool {
	return !c.Off && slices.ContainsFunc(c.definitions(), func(d Definition) bool { return d.handles(path) })
}

// Run formats a file after an edit and writes the result. Before is its text before the edit, at which edited lines
// are recognized.
func (f *Formatters) Run(ctx context.Context, p Project, path, before string) (Result, error) {
	edited, err := read(path)
	if err != nil {
		return Result{}, err
	}
	res := Result{After: edited}
	var failed []error
	for _, d := range p.Config.definitions() {
		if !d.handles(path) {
			continue
		}
		command := d.command(p, path, f.o.Env)
		if command == nil {
			continue
		}
		after, err := f.apply(ctx, p, d, command, path, before, res.After)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", d.Name, err))
			continue
		}
		if after != res.After {
			res.After, res.Formatter = after, d.Name
		}
	}
	res.Failed = errors.Join(failed...)
	res.Changed = changedSpans(edited, res.After)
	return res, nil
}

// apply runs one formatter and returns the text that stays, which is then in the file.
func (f *Formatters) apply(ctx context.Context, p Project, d Definition, command []string, path, before, edited string) (string, error) {
	whole, err := f.format(ctx, p, d, command, path, edited)
	if err != nil || whole == edited || p.Config.WholeFile {
		return whole, err
	}
	part := keepOverlapping(before, edited, whole)
	if part == whole {
		return whole, nil
	}
	if part != edited {
		// The text between two styles must mean the same as both: formatted, it is the formatted file.
		again, err := f.format(ctx, p, d, command, path, part)
		if err != nil || again != whole {
			part = edited
		}
	}
	return part, write(path, part)
}

// format puts a text into the file, runs the formatter on it and returns the result. After an error the text is in
// the file again.
func (f *Formatters) format(ctx context.Context, p Project, d Definition, command []string, path, text string) (string, error) {
	// Formatters find their config by the place of a file, so the file itself is formatted and not a copy.
	if now, err := read(path); err != nil || now != text {
		if err := write(path, text); err != nil {
			return text, err
		}
	}
	profile, err := f.o.Confine(p, command)
	if err != nil {
		return text, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.o.Limit)
	defer cancel()
	var said bytes.Buffer
	res, err := f.o.Runner.Run(ctx, sandbox.Command{
		Path: command[0], Args: command[1:], Dir: p.Directory, Env: environ.With(f.o.Env, d.Environment), Profile: profile, Timeout: f.o.Limit,
	}, func(b []byte) {
		if said.Len() < 4<<10 {
			said.Write(b)
		}
	})
	switch {
	case err == nil && ctx.Err() != nil:
		err = fmt.Errorf("it took longer than %s", f.o.Limit)
	case err == nil && (res.Exit != 0 || res.Signal != ""):
		first, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(said.String(), "")), "\n")
		err = fmt.Errorf("it ended with code %d: %.200s", res.Exit, first)
	}
	if err != nil {
		return text, errors.Join(err, write(path, text))
	}
	out, err := read(path)
	if err != nil || text != "" && strings.TrimSpace(out) == "" {
		return text, errors.Join(errors.New("it left an empty file"), err, write(path, text))
	}
	const mark = "\ufeff"
	if strings.HasPrefix(text, mark) && !strings.HasPrefix(out, mark) {
		out = mark + out
		err = write(path, out)
	}
	return out, err
}

// read reads a regular file that is not too large.
func read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", errors.Join(fmt.Errorf("%s is not a file that can be formatted", path), err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return string(data), err
}

// write puts a text into an existing file, by its real path, and leaves its mode.
func write(path, text string) error {
	if now, err := read(path); err == nil && now == text {
		return nil
	}
	file, err := workspace.Resolve(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	return file.Write([]byte(text))
}

// Status describes a formatter for clients.
type Status struct {
	Name       string   `json:"name"`
	Extensions []string `json:"extensions"`
	Enabled    bool     `json:"enabled"`
}

// Status lists the formatters of a config, and whether each is installed and configured in the project.
func (f *Formatters) Status(p Project) []Status {
	out := []Status{}
	for _, d := range p.Config.definitions() {
		ext := d.Extensions[0]
		out = append(out, Status{Name: d.Name, Extensions: d.Extensions, Enabled: d.command(p, filepath.Join(p.Directory, "x"+ext), f.o.Env) != nil})
	}
	return out
}
