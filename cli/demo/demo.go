// Package demo implements `lathe demo`: a scripted model fixes a small project with the usual tools, without API key
// or network. Start with New.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/workspace"
)

// New returns `lathe demo`.
func New(a *cli.App) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a demo turn that fixes a failing test",
		Long: `Create a small Go project with a failing test in a temporary folder and fix it. A built-in scripted
model streams over HTTP, reasons, writes a to-do list, asks for permission, searches, reads, edits
and runs the real test with the usual tools. The demo then shows the changes, undoes them, and runs
the test again.

It needs no API key, network or git. Without Go, the project is a shell script. It takes a few
seconds and removes its files, also when interrupted. Your sessions and config are not touched. Go's
build cache is used if it exists.`,
		Example: `  lathe demo
  lathe demo --fast    # without pauses for reading
  lathe demo --tui     # in the terminal UI, where you answer
  lathe demo --keep    # keep the folder to look around`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), a, f) },
	}
	cmd.Flags().BoolVar(&f.keep, "keep", false, "keep the folder and print its path")
	cmd.Flags().BoolVar(&f.fast, "fast", false, "do not pause for reading")
	cmd.Flags().BoolVar(&f.tui, "tui", false, "run the demo in the terminal UI")
	return cmd
}

type demoFlags struct{ keep, fast, tui bool }

// Run runs the demo with pauses for reading.
func Run(ctx context.Context, a *cli.App) error { return runDemo(ctx, a, demoFlags{}) }

// RunTUI runs the demo in the terminal UI.
func RunTUI(ctx context.Context, a *cli.App) error { return runDemo(ctx, a, demoFlags{tui: true}) }

// runDemo runs the demo in a temporary folder.
func runDemo(ctx context.Context, a *cli.App, f demoFlags) (err error) {
	root, err := os.MkdirTemp("", "lathe-demo-")
	if err != nil {
		return fmt.Errorf("cannot create a folder for the demo: %w; set TMPDIR to a writable folder", err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil { // the path as commands see it
		return err
	}
	d := &demo{App: a.InDir(filepath.Join(root, "project")), root: root}
	defer d.sweep(f.keep)()
	defer func() {
		if f.keep {
			d.say("\nTo look around:  LATHE_DATA=%s lathe -C %s session show --full", d.data(), d.Dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(root))
	}()
	if d.project, err = demoFor(ctx, a, root); err != nil {
		return err
	}
	if !f.fast && cli.IsTerminal(a.Stdout.File) {
		d.pace = readingPace
	}
	d.Env, d.Stderr, d.Notices = demoEnv(a.Env, d), d.Stdout.File, d.Stdout.File // all in one process
	if err := d.writeProject(); err != nil {
		return cannotWrite(root, err)
	}
	if f.tui {
		return cannotWrite(root, d.screened(ctx))
	}
	return cannotWrite(root, d.play(ctx))
}

// cannotWrite explains what to do if the demo cannot write to the disk.
func cannotWrite(root string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the demo cannot write below %s: %w; set TMPDIR to a folder with a few free megabytes", filepath.Dir(root), err)
	}
	return err
}

// sweep removes the files also on a second interrupt, which exits immediately. The returned function stops the watch.
func (d *demo) sweep(keep bool) func() {
	caught, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for signals := 0; ; signals++ {
			select {
			case s := <-caught:
				if signals == 0 {
					continue // stops the turn cleanly
				}
				for range 100 { // other goroutines may still create files there
					if keep || os.RemoveAll(d.root) == nil {
						break
					}
				}
				os.Exit(cli.Interrupt{Signal: s}.ExitCode())
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(caught)
		close(done)
		<-gone
	}
}

// demoSettings is the only config of the demo: commands need permission.
const demoSettings = `{"permission": {"bash": "ask"}, "formatter": false}` // gofmt would leave its telemetry in the home folder

// demoEnv separates the demo's data and config from the user's.
func demoEnv(env func(string) string, d *demo) func(string) string {
	return func(name string) string {
		for _, v := range d.project.env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		switch {
		case name == "LATHE_DATA":
			return d.data()
		case name == "LATHE_CONFIG_CONTENT":
			return demoSettings
		case strings.HasPrefix(name, "LATHE_"), strings.HasPrefix(name, "OPENCODE_"), strings.HasPrefix(name, "XDG_"):
			return ""
		case name == "HOME" || name == "USERPROFILE":
			return d.home()
		}
		return env(name)
	}
}

// demo is a temporary project with its database.
type demo struct {
	*cli.App
	root    string
	project demoProject
	pace    demoPace
	server  *modeltest.Server
	setup   *harness.Harness
	stop    context.CancelCauseFunc
}

func (d *demo) data() string { return filepath.Join(d.root, "data") }
func (d *demo) home() string { return filepath.Join(d.root, "home") }
func (d *demo) temp() string { return filepath.Join(d.root, "tmp") }

// commandEnv is the environment of commands, whose caches go to the temporary folder.
func (d *demo) commandEnv() []string {
	own := append([]string{"HOME=" + d.home(), "USERPROFILE=" + d.home(), "TMPDIR=" + d.temp(), "TMP=" + d.temp(), "TEMP=" + d.temp()}, d.project.env...)
	out := slices.DeleteFunc(d.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "XDG_") || slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	})
	return append(out, own...)
}

// writeProject writes the project.
func (d *demo) writeProject() error {
	for _, dir := range []string{d.home(), d.temp()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	files := demoRepository()
	maps.Copy(files, d.project.files)
	for name, text := range files {
		path := filepath.Join(d.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// demoSetup is the usual environment with the script as the model.
type demoSetup struct {
	engine.Environment
	model *modeltest.Server
}

// Settings returns the settings with the scripted model.
func (d demoSetup) Settings(ctx context.Context, at workspace.Place) (*engine.StepSettings, error) {
	s, err := d.Environment.Settings(ctx, at)
	if err != nil {
		return nil, err
	}
	own := *s
	own.DefaultModel, own.SmallModel = lathe.ModelRef{Provider: "demo", Model: "script"}, lathe.ModelRef{}
	return &own, nil
}

// Model returns a client for the scripted model.
func (d demoSetup) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	return &engine.Model{
		Ref: ref, Name: ref.Model, Client: anthropic.New(model.Endpoint{Provider: ref.Provider, BaseURL: d.model.URL + "/v1"}, lathe.NewIDs()),
		Price: model.Price{Input: model.PerMillion(3), Output: model.PerMillion(15), CacheRead: model.PerMillion(0.3)},
	}, nil
}
