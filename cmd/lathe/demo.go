package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
)

func newDemo(a *app) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a whole turn, its feed, a fork, an export",
		Long: `Makes a project and a database in a temporary folder and runs a whole turn in it: a scripted
model that the program carries with it streams over HTTP, a tool reads a file, another asks
before it writes one. Every event is shown with its number; then the feed is resumed after
a restart, and the session forked, listed and exported. It needs no key and no network, takes a few seconds
and removes what it made. Your own sessions are not touched.`,
		Example: `  lathe demo
  lathe demo --keep    # and look around in what it made`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the folder and say where it is")
	return cmd
}

// demo runs the story in a folder of its own.
func (a *app) demo(ctx context.Context, keep bool) (err error) {
	root, err := os.MkdirTemp("", "lathe-demo-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for the demo: %w; set TMPDIR to a folder you may write to", err)
	}
	d := &demo{app: a, project: filepath.Join(root, "project")}
	d.at = folders{data: filepath.Join(root, "data"), owners: filepath.Join(root, "data", "owners")}
	defer func() {
		err = errors.Join(err, d.close())
		if keep {
			d.say("\nKept. Look around:  LATHE_DATA=%s lathe session list -C %s", d.at.data, d.project)
			return
		}
		err = errors.Join(err, os.RemoveAll(root))
	}()
	if err := os.MkdirAll(d.project, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(d.notes(), []byte(demoNotes), 0o600); err != nil {
		return err
	}
	for _, scene := range []func(context.Context) error{
		d.begin, d.prompt, d.turn, d.resume, d.fork, d.export, d.count,
	} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

// demo is the stage: a throw-away project, its database, and one reader of the feed.
type demo struct {
	*app
	project string
	at      folders

	engine  *engine.Engine
	next    func() (lathe.Event, error, bool)
	stop    func()
	session lathe.Session
	model   *modeltest.Server
	noted   lathe.Cursor // where a reader went away

	resuming bool // the reader is told what it missed
}

func (d *demo) notes() string { return filepath.Join(d.project, "notes.txt") }

// open opens the database and begins to read its feed, from a cursor if there is one.
func (d *demo) open(ctx context.Context, after lathe.Opt[lathe.Cursor]) (err error) {
	if d.engine, err = d.openDemo(ctx); err != nil {
		return err
	}
	d.next, d.stop = iter.Pull2(d.engine.Events(ctx, lathe.Scope{}, after))
	return nil
}

func (d *demo) close() error {
	if d.engine == nil {
		return nil
	}
	d.stop()
	e := d.engine
	d.engine = nil
	err := e.Close()
	d.model.Close()
	return err
}

// say prints a line at once: the story is told as it happens.
func (d *demo) say(format string, args ...any) {
	d.printf(format+"\n", args...)
	_ = d.out.Flush()
}

// show prints lines below a heading.
func (d *demo) show(lines string) {
	for line := range strings.Lines(lines) {
		d.say("   %s", strings.TrimSuffix(line, "\n"))
	}
}

// scene prints a heading.
func (d *demo) scene(n int, what string) { d.say("\n%d. %s", n, what) }

// watch prints events of the feed until the one that is waited for.
func (d *demo) watch(until func(lathe.Event) bool) error {
	for {
		ev, err, ok := d.next()
		if err != nil {
			return err
		}
		if !ok {
			return lathe.Errorf(lathe.Internal, "the feed ended before its time")
		}
		if !d.late(ev) {
			d.say("%s", eventLine(ev))
		}
		if until(ev) {
			return nil
		}
	}
}

// late reports whether an event is for readers who joined in the middle of a part: it tells what
// this one has seen.
func (d *demo) late(ev lathe.Event) bool {
	_, part := ev.Fact.(*lathe.PartChanged)
	return part && ev.Seq == 0 && !d.resuming
}

// eventLine is one event in short: its number, its type, what it is about.
func eventLine(ev lathe.Event) string {
	number := "  ·"
	if ev.Seq > 0 {
		number = fmt.Sprintf("%3d", ev.Seq)
	}
	what := ""
	switch f := ev.Fact.(type) {
	case *lathe.SessionCreated:
		what = f.Info.Title
	case *lathe.SessionChanged:
		what = f.Info.Title
		if t := f.Info.Tokens; t != nil && t.Output > 0 {
			what += " · " + tokens(*t)
		}
	case *lathe.MessageChanged:
		what = f.Info.Said.Role()
		if a, ok := f.Info.Said.(*lathe.Assistant); ok && a.Completed > 0 {
			what += " · finished: " + a.Finish
		}
	case *lathe.PartChanged:
		what = partInShort(f.Part)
	case *lathe.PartDelta:
		what = fmt.Sprintf("+ %q", f.Delta)
	case *lathe.StatusChanged:
		what = f.Status.Type
	case *lathe.PermissionAsked:
		what = f.Permission + " " + strings.Join(f.Patterns, " ")
	case *lathe.PermissionReplied:
		what = string(f.Reply)
	case *lathe.ServerConnected:
		what = "reading the feed"
	default:
	}
	return fmt.Sprintf("   %s  %-21s %s", number, ev.Fact.Type(), clip(plain(what), 50))
}

func partInShort(p lathe.Part) string {
	switch b := p.Body.(type) {
	case *lathe.ToolCall:
		return "tool " + b.Tool + " · " + b.State.Status()
	case *lathe.StepFinish:
		return "step-finish · " + tokens(b.Tokens)
	default:
		if text := p.GrowingText(); text != "" {
			return fmt.Sprintf("%s %q", p.Body.Type(), clip(plain(text), 30))
		}
		if p.Open() {
			return p.Body.Type() + " · opened, empty"
		}
		return p.Body.Type()
	}
}
