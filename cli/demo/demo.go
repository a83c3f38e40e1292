// Package demo shows lathe at work without a key and without a network: a scripted model mends a small project with
// the tools that every turn has. Start with New.
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

// New is `lathe demo`.
func New(a *cli.App) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a whole turn that mends a failing test",
		Long: `Makes a small Go project with a failing test in a temporary folder and has it mended: a scripted
model that the program carries with it streams over HTTP, thinks, keeps a list, asks for a
permission, searches, reads, edits and runs the real test with the same tools that every turn
has. Then it shows what changed, undoes it, and runs the test once more.

It needs no key, no network, no git, and not even Go: without it the project is a shell script.
It takes some seconds and removes what it made, also when you interrupt it. Your own sessions
and settings are not touched; Go's build cache is used if there is one, as by every go command.`,
		Example: `  lathe demo
  lathe demo --fast    # without pauses for reading
  lathe demo --tui     # in the terminal program: you answer, and look around
  lathe demo --keep    # and look around in what it made`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), a, f) },
	}
	cmd.Flags().BoolVar(&f.keep, "keep", false, "keep the folder and say where it is")
	cmd.Flags().BoolVar(&f.fast, "fast", false, "do not wait for people who read along")
	cmd.Flags().BoolVar(&f.tui, "tui", false, "show it in the terminal program")
	return cmd
}

type demoFlags struct{ keep, fast, tui bool }

// Run plays the demo for people who read along.
func Run(ctx context.Context, a *cli.App) error { return runDemo(ctx, a, demoFlags{}) }

// RunTUI shows the demo in the terminal UI.
func RunTUI(ctx context.Context, a *cli.App) error { return runDemo(ctx, a, demoFlags{tui: true}) }

// runDemo plays the story in a folder of its own.
func runDemo(ctx context.Context, a *cli.App, f demoFlags) (err error) {
	root, err := os.MkdirTemp("", "lathe-demo-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for the demo: %w; set TMPDIR to a folder you may write to", err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil { // as commands will see it
		return err
	}
	d := &demo{App: a.InDir(filepath.Join(root, "project")), root: root}
	defer d.sweep(f.keep)()
	defer func() {
		if f.keep {
			d.say("\nKept. Look around:  LATHE_DATA=%s lathe -C %s session show --full", d.data(), d.Dir)
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
	d.Env, d.Stderr, d.Notices = demoEnv(a.Env, d), d.Stdout.File, d.Stdout.File // it is one story
	if err := d.lay(); err != nil {
		return noRoom(root, err)
	}
	if f.tui {
		return noRoom(root, d.screened(ctx))
	}
	return noRoom(root, d.play(ctx))
}

// noRoom says what to do about a disk on which the demo cannot write.
func noRoom(root string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the demo cannot write below %s: %w; set TMPDIR to a folder with some megabytes of room", filepath.Dir(root), err)
	}
	return err
}

// sweep makes a second interrupt, which ends the program at once, remove what was made too. The
// returned function ends the watch.
func (d *demo) sweep(keep bool) func() {
	caught, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for heard := 0; ; heard++ {
			select {
			case s := <-caught:
				if heard == 0 {
					continue // ends the turn in order
				}
				for range 100 { // the rest of the program may still make files there
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

// demoSettings are all that counts in the demo: tests may run when someone says so.
const demoSettings = `{"permission": {"bash": "ask"}}`

// demoEnv lets the demo keep its data apart, and read no settings of the user's.
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

// demo is the stage: a throw-away project and its database.
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

// commandEnv is the environment of commands: what they keep goes with the folder.
func (d *demo) commandEnv() []string {
	own := append([]string{"HOME=" + d.home(), "USERPROFILE=" + d.home(), "TMPDIR=" + d.temp(), "TMP=" + d.temp(), "TEMP=" + d.temp()}, d.project.env...)
	out := slices.DeleteFunc(d.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "XDG_") || slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	})
	return append(out, own...)
}

// lay writes the project.
func (d *demo) lay() error {
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

// demoSetup is the config of every turn, with the script as the model.
type demoSetup struct {
	engine.Environment
	model *modeltest.Server
}

// Settings are those of the turn.
func (d demoSetup) Settings(ctx context.Context, at workspace.Place) (*engine.StepSettings, error) {
	s, err := d.Environment.Settings(ctx, at)
	if err != nil {
		return nil, err
	}
	own := *s
	own.DefaultModel, own.SmallModel = lathe.ModelRef{Provider: "demo", Model: "script"}, lathe.ModelRef{}
	return &own, nil
}

// Model is the script, spoken to as one speaks to a real one.
func (d demoSetup) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	return &engine.Model{
		Ref: ref, Name: ref.Model, Client: anthropic.New(model.Endpoint{Provider: ref.Provider, BaseURL: d.model.URL + "/v1"}, lathe.NewIDs()),
		Price: model.Price{Input: model.PerMillion(3), Output: model.PerMillion(15), CacheRead: model.PerMillion(0.3)},
	}, nil
}
