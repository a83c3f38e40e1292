package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/workspace"
)

// What is said in the demo, and by whom: a script of the model that the program carries with
// it. It speaks real HTTP on the loopback, so that everything between is real too.
//
//go:embed demo.script
var demoScript string

const demoPrompt = "go test fails. Find out why, and mend it."

// demoFiles are the project: a repository with a small package, a mistake in it, and a test that
// finds it.
var demoFiles = map[string]string{
	".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/objects/.keep": "", ".git/refs/.keep": "",
	"go.mod": "module example.test/slug\n\ngo 1.21\n",
	"slug.go": `// Package slug makes names for addresses.
package slug

import "strings"

// Make turns a title into a name: small letters, words joined by dashes.
func Make(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}
`,
	"slug_test.go": `package slug

import "testing"

func TestMake(t *testing.T) {
	for title, want := range map[string]string{
		"Hello World":    "hello-world",
		" Two  spaces ": "two-spaces",
	} {
		if got := Make(title); got != want {
			t.Errorf("Make(%q) = %q, want %q", title, got, want)
		}
	}
}
`,
}

func newDemo(a *app) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a whole turn that mends a failing test",
		Long: `Makes a small Go project with a failing test in a temporary folder and has it mended: a scripted
model that the program carries with it streams over HTTP, thinks, keeps a list, searches,
reads, edits and runs the real test with the same tools that every turn has. It needs no key
and no network, takes a few seconds and removes what it made. Your own sessions are not
touched.`,
		Example: `  lathe demo
  lathe demo --keep    # and look around in what it made`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the folder and say where it is")
	return cmd
}

// demo plays the story in a folder of its own.
func (a *app) demo(ctx context.Context, keep bool) (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return lathe.Errorf(lathe.Unavailable, "the demo mends a Go program and runs its test, and there is no go on this machine: install it, or begin with `lathe auth login`")
	}
	root, err := os.MkdirTemp("", "lathe-demo-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for the demo: %w; set TMPDIR to a folder you may write to", err)
	}
	d := &demo{app: a.in(filepath.Join(root, "project")), data: filepath.Join(root, "data")}
	d.env, d.stderr = demoEnv(a.env, d.data), d.stdout.file // it is one story
	defer func() {
		if keep {
			d.say("\nKept. Look around:  LATHE_DATA=%s lathe -C %s session show --full", d.data, d.dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(root))
	}()
	if err := d.lay(); err != nil {
		return err
	}
	return d.play(ctx)
}

// demoEnv lets the demo keep its data apart, and read no settings of the user's.
func demoEnv(env func(string) string, data string) func(string) string {
	return func(name string) string {
		switch {
		case name == "LATHE_DATA":
			return data
		case strings.HasPrefix(name, "LATHE_"), strings.HasPrefix(name, "OPENCODE_"), strings.HasPrefix(name, "XDG_CONFIG"):
			return ""
		case name == "HOME" || name == "USERPROFILE":
			return data
		}
		return env(name)
	}
}

// demo is the stage: a throw-away project and its database.
type demo struct {
	*app
	data   string
	server *modeltest.Server
	setup  *agentSetup
}

// lay writes the project.
func (d *demo) lay() error {
	for name, text := range demoFiles {
		path := filepath.Join(d.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// play opens the engine, has the turn run as `lathe run` does, and shows what came of it.
func (d *demo) play(ctx context.Context) (err error) {
	script, err := modeltest.Parse(demoScript)
	if err != nil {
		return err
	}
	if d.server, err = modeltest.Listen(script); err != nil {
		return lathe.Errorf(lathe.Unavailable, "the scripted model cannot listen on this machine: %w", err)
	}
	defer d.server.Close()
	at, err := findFolders(d.env)
	if err != nil {
		return err
	}
	d.setup = newSetup(d.app, at)
	e, err := openEngine(ctx, d.app, at, d)
	if err != nil {
		return err
	}
	defer func() { err = closing(d.setup, closing(e, err)) }()
	s, err := e.Create(ctx, d.dir, engine.New{Title: "A failing test"})
	if err != nil {
		return err
	}
	d.say("A small Go project with a failing test, in a throw-away folder; the model is a script, all else is real.\n")
	d.say("$ lathe run %q", demoPrompt)
	r := &runner{app: d.app, flags: runFlags{thinking: true, auto: true}, engine: local{e, d.app}, session: s, fresh: true, began: d.now()}
	if err := r.follow(ctx, engine.Prompt{Parts: []lathe.Part{{Body: &lathe.Text{Text: demoPrompt}}}}); err != nil {
		return err
	}
	return d.conclude(ctx, e, s.ID)
}

// conclude shows the change, the list, and what to type next.
func (d *demo) conclude(ctx context.Context, e *engine.Engine, id lathe.SessionID) error {
	page, err := e.Messages(ctx, id, lathe.Place{}, 0)
	if err != nil {
		return err
	}
	for _, m := range page.Messages {
		for _, p := range m.Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok {
				d.change(c)
			}
		}
	}
	d.say("\nNothing of this is left. With a model of your own:")
	d.say("  lathe auth login                       keep the key of a provider")
	d.say("  lathe run \"Why does the build fail?\"    in any project")
	d.say("  lathe session show                     what was said and done")
	return nil
}

// change prints the diff of a call that edited a file.
func (d *demo) change(c *lathe.ToolCall) {
	done, ok := c.State.(*lathe.Completed)
	var meta struct{ Diff string }
	if !ok || json.Unmarshal(done.Metadata, &meta) != nil || meta.Diff == "" {
		return
	}
	d.say("\nWhat changed:\n")
	for line := range strings.Lines(meta.Diff) {
		d.say("  %s", strings.ReplaceAll(strings.TrimRight(line, "\n"), d.dir+string(filepath.Separator), ""))
	}
}

// say prints a line at once: the story is told as it happens.
func (d *demo) say(format string, args ...any) {
	d.printf(format+"\n", args...)
	_ = d.out.Flush()
}

// Settings are those of every turn, with the script as the model.
func (d *demo) Settings(ctx context.Context, at workspace.Place) (*engine.Settings, error) {
	s, err := d.setup.Settings(ctx, at)
	if err != nil {
		return nil, err
	}
	own := *s
	own.DefaultModel, own.SmallModel = lathe.ModelRef{Provider: "demo", Model: "script"}, lathe.ModelRef{}
	return &own, nil
}

// Model is the script, spoken to as one speaks to a real one.
func (d *demo) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	return &engine.Model{
		Ref: ref, Name: ref.Model, Client: anthropic.New(model.Endpoint{Provider: ref.Provider, BaseURL: d.server.URL + "/v1"}, lathe.NewIDs()),
		Price: model.Price{Input: model.PerMillion(3), Output: model.PerMillion(15), CacheRead: model.PerMillion(0.3)},
	}, nil
}
