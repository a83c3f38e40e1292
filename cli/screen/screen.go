// Package screen shows the terminal UI (package tui) on an engine of this process or on a server: flags, the terminal
// around it, and what is printed when the user has left. Start with Front.
package screen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tui"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/tty"
)

// Flags are those of the terminal program, here and on a server.
type Flags struct {
	next, fork, auto bool
	session          string
	prompt           string
	agent, model     string
}

// Define defines the flags of a command.
func (f *Flags) Define(cmd *cobra.Command) {
	s := cmd.Flags()
	s.BoolVarP(&f.next, "continue", "c", false, "go on with the newest session of this directory")
	s.StringVarP(&f.session, "session", "s", "", "go on with the session `ID`")
	s.BoolVar(&f.fork, "fork", false, "go on in a copy of it")
	s.StringVar(&f.prompt, "prompt", "", "`WORDS` to begin with")
	s.StringVar(&f.agent, "agent", "", "the `AGENT`")
	s.StringVarP(&f.model, "model", "m", "", "the `MODEL`, as provider/model")
	s.BoolVar(&f.auto, "auto", false, "give every permission that is asked for, once")
}

func (f *Flags) check() error {
	provider, model, ok := strings.Cut(f.model, "/")
	switch {
	case f.next && f.session != "":
		return cli.Usagef("-c and -s do not go together")
	case f.fork && !f.next && f.session == "":
		return cli.Usagef("--fork needs -c or -s: say what to copy")
	case f.model != "" && (!ok || provider == "" || model == ""):
		return cli.Usagef("-m %s: a model is written provider/model; `lathe models` lists them", termtext.Quote(f.model))
	}
	return nil
}

// meant puts the whole id of the session in place of what names it. What is wrong with that is told
// before the screen is taken.
func (f *Flags) meant(ctx context.Context, a *cli.App, e api.Engine) error {
	s, err := a.Find(ctx, e, f.session)
	if err == nil {
		f.session = string(s.ID)
	}
	return err
}

func (f *Flags) start() tui.Start {
	return tui.Start{
		Session: lathe.SessionID(f.session), Continue: f.next, Fork: f.fork, Prompt: f.prompt, Agent: f.agent, Model: f.model, Auto: f.auto,
	}
}

// RunRoot is the program without a command: the terminal UI, in a directory if one is named. demo runs the demo for a
// user who chose it there.
func RunRoot(a *cli.App, f *Flags, demo func(ctx context.Context) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if asked, err := c.Flags().GetBool("version"); err == nil && asked {
			return cli.RequireSubcommand(c, nil)
		}
		if len(args) > 0 {
			if err := projectArgument(a, c, args); err != nil {
				return err
			}
		}
		if err := f.check(); err != nil {
			return err
		}
		offer, err := runTUI(c.Context(), a, *f)
		if err != nil || offer != account.ChooseDemo {
			return err
		}
		return demo(c.Context())
	}
}

// projectArgument takes the argument for the directory to work in. What is none was meant as a command.
func projectArgument(a *cli.App, c *cobra.Command, args []string) error {
	info, err := os.Stat(args[0])
	switch {
	case args[0] != "" && err == nil && info.IsDir():
	case strings.ContainsAny(args[0], `/\`) || args[0] == "." || args[0] == "..":
		return lathe.Errorf(lathe.NotFound, "there is no directory %s; say where your project is", termtext.Quote(args[0]))
	default:
		return cli.UnknownCommand(c, args[0])
	}
	switch {
	case len(args) > 1:
		return cli.Usagef("`lathe` does not know what to do with %s behind a directory; `lathe --help` shows how", termtext.Quote(args[1]))
	case a.Dir != ".":
		return cli.Usagef("-C %s and %s are two directories; name one", termtext.Quote(a.Dir), termtext.Quote(args[0]))
	}
	a.Dir = args[0]
	return nil
}

// stage is what the terminal program runs on.
type stage struct {
	app   *cli.App // remarks of this one do not reach the screen
	flags Flags
	open  func(ctx context.Context) (*tuiEngine, error)
	// offers looks for what somebody without a provider can do; nil has nothing to offer.
	offers func(ctx context.Context) []tui.SetupOption
	state  string // folder of what is remembered; "" remembers nothing
	remote bool   // the engine is not of this process
	again  string // what goes on with the session, but for its id; "" is not to be told
}

// runTUI shows the terminal program on an engine of this process.
func runTUI(ctx context.Context, a *cli.App, f Flags) (offer string, err error) {
	if f.session != "" {
		if err := a.WithSessions(ctx, func(e api.Engine) error { return f.meant(ctx, a, e) }); err != nil {
			return "", err
		}
	}
	in, piped, err := openScreen(ctx, a)
	if err != nil {
		return "", err
	}
	defer in.close()
	f.prompt = strings.TrimSpace(strings.TrimSpace(piped) + "\n" + f.prompt)
	at, err := datadir.Find(a.Env)
	if err != nil {
		return "", err
	}
	own, tell := offScreen(a)
	defer tell()
	ended, err := performTUI(ctx, own, in.file, stage{
		app: own, flags: f, open: func(ctx context.Context) (*tuiEngine, error) { return openTUI(ctx, own) }, offers: func(ctx context.Context) []tui.SetupOption { return tuiOffers(ctx, own) }, state: at.State, again: againCommand(a, "lathe"),
	})
	return ended.SetupOption, err
}

// againCommand is what brings one back to this directory, without the session.
func againCommand(a *cli.App, command string) string {
	if a.Dir == "." {
		return command
	}
	return command + " -C " + termtext.ShellWord(a.Dir)
}

// performTUI runs the program, and tells afterwards how to go on.
func performTUI(ctx context.Context, a *cli.App, in *os.File, s stage) (tui.Result, error) {
	l, err := a.Config()
	if err != nil {
		return tui.Result{}, err
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return tui.Result{}, err
	}
	ctx, stop := untilHangup(ctx)
	defer stop()
	limit := limitLeaving(ctx, a, os.Exit)
	defer limit.end()
	watch := tty.NewRestorer(in, a.Stdout.File, sandbox.Self())
	door := &opener{open: func(ctx context.Context) (*tuiEngine, error) {
		if err := watch.Start(); err != nil {
			a.Log.Warn("nobody looks after the terminal", "error", err)
		}
		e, err := s.open(ctx)
		if err == nil {
			keepCrashes(a) // the data folder is there now
		}
		return e, err
	}}
	ended, err := tui.Run(ctx, tui.Options{
		Open: door.enter, Version: a.Version, Dir: dir, Remote: s.remote, Start: s.flags.start(), Look: lookOf(a, l.TUI, dir), Keys: l.TUI.Keybinds, State: s.state,
		Editor: editorWords(a.Env), FindSetupOptions: s.offers, ReadFile: readAttachment, Copy: tty.Copier(a.Env), Clipboard: tty.Paster(a.Env), Browse: a.Browse, OnQuit: limit.begin, ReleaseTTY: a.LendTTY,
		Log: func(format string, args ...any) { a.Log.Info(fmt.Sprintf(format, args...)) },
		In:  in, Out: a.Stdout.File, Env: a.Environ(), Now: a.Now,
	})
	limit.begin()
	err = cli.CloseAfter(door, err)
	if err == nil || lathe.CodeOf(err) == lathe.Canceled {
		err = context.Cause(ctx) // a signal has its own exit code
	}
	if ended.TTYBlocked {
		watch.Detach()
		return ended, toNobody(a, err)
	}
	watch.Stop()
	if ended.Session != "" && s.again != "" {
		printEpilogue(a, ended, s.again)
	}
	if i, ok := cli.Interrupted(ctx); ok && i.Signal == syscall.SIGHUP {
		return ended, cli.Reported{Code: i.ExitCode()} // there is nobody to tell
	}
	return ended, err
}

// printEpilogue says how to go on with the session that was on the screen.
func printEpilogue(a *cli.App, e tui.Result, again string) {
	mark := func(s string) string { return a.Paint(a.Stdout.File, s, style.Attr{Faint: true}) }
	if title := termtext.Plain(e.Title); title != "" {
		a.Printf("%s%s\n", mark("Session   "), title)
	}
	a.Printf("%s%s -s %s\n", mark("Continue  "), again, termtext.Plain(string(e.Session)))
	if e.TurnInterrupted {
		a.Printf("%s\n", mark("          /go there goes on with the turn that was cut off"))
	}
	a.Flush() // also when a signal ended it
}

// lookOf is what settings and environment say of the screen.
func lookOf(a *cli.App, t config.TUI, dir string) tui.Look {
	return tui.Look{
		Theme: t.Theme, ThemeDirs: themeDirs(a, dir),
		Mouse:       (t.Mouse == nil || *t.Mouse) && !a.IsEnvTrue("DISABLE_MOUSE"),
		ScrollSpeed: t.ScrollSpeed, Stacked: t.DiffStyle == "stacked",
		LeaderTimeout: time.Duration(t.LeaderTimeout) * time.Millisecond, PromptMaxHeight: t.Prompt.MaxHeight,
		Attention: t.Attention.Enabled && (t.Attention.Notifications == nil || *t.Attention.Notifications),
		Bell:      t.Attention.Enabled && (t.Attention.Sound == nil || *t.Attention.Sound),
		Cursor: tui.Cursor{
			Line: t.Cursor.Style == "line", Underline: t.Cursor.Style == "underline", NoBlink: t.Cursor.Blinking != nil && !*t.Cursor.Blinking,
		},
		PromptMaxWidth: promptWidth(t.Prompt.MaxWidth), Acceleration: t.ScrollAcceleration.Enabled, NoTitle: a.IsEnvTrue("DISABLE_TERMINAL_TITLE"),
	}
}

// promptWidth is the width of the prompt as the terminal program has it: below 0 is what fits.
func promptWidth(w config.Width) int {
	if w.Auto {
		return -1
	}
	return w.Cells
}

// themeDirs are the folders of theme files: those of the project up to its top, then the user's.
func themeDirs(a *cli.App, dir string) (out []string) {
	if o, err := a.ConfigOptions(); err == nil && !a.IsEnvTrue("DISABLE_PROJECT_CONFIG") {
		top := o.Worktree
		if top == filepath.Dir(top) { // in no repository
			top = dir
		}
		for at := dir; ; at = filepath.Dir(at) {
			out = append(out, filepath.Join(at, ".lathe", "themes"), filepath.Join(at, ".opencode", "themes"))
			if at == top || at == filepath.Dir(at) {
				break
			}
		}
	}
	if user := a.UserDir(); user != "" {
		out = append(out, filepath.Join(user, "lathe", "themes"), filepath.Join(user, "opencode", "themes"))
	}
	return out
}

// NewAttach is `lathe attach`.
func NewAttach(a *cli.App) *cobra.Command {
	var f Flags
	cmd := &cobra.Command{
		Use:   "attach URL",
		Short: "The terminal program on a server",
		Long: `Shows the sessions of a server (lathe serve, here or elsewhere) in the terminal program. Models,
tools, files and permissions are the server's; the session goes on when you leave.

The directory is the one you are in, if the server is on this machine; elsewhere it is the server's
own, or the one of its directories that -C (--dir) names. The password is that of --password, of
LATHE_SERVER_PASSWORD, or, for a server of this machine, the one that lathe serve keeps.`,
		Example: `  lathe attach http://127.0.0.1:4096
  lathe attach unix:///run/user/1000/lathe.sock -c
  LATHE_SERVER_PASSWORD=… lathe attach https://build.lan:4096 --dir /srv/app`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			a.Attach = args[0]
			return tuiAttached(c.Context(), a, f)
		},
	}
	f.Define(cmd)
	cmd.Flags().StringVarP(&a.Password, "password", "p", "", "server `PASSWORD`; visible to other users in the process list, so prefer the environment")
	cmd.Flags().StringVarP(&a.Username, "username", "u", "", "the `NAME` to log in with; opencode unless the server has another")
	return cmd
}

// tuiAttached shows the terminal program on a server. What is wrong with the address is told before the
// screen is taken.
func tuiAttached(ctx context.Context, a *cli.App, f Flags) error {
	in, piped, err := openScreen(ctx, a)
	if err != nil {
		return err
	}
	defer in.close()
	f.prompt = strings.TrimSpace(strings.TrimSpace(piped) + "\n" + f.prompt)
	own, tell := offScreen(a)
	defer tell()
	guest := own.InDir(a.Dir)
	r, err := guest.Dial(func(o *client.Options) { o.Persistent = true })
	if err != nil {
		return err
	}
	if _, err := r.Location(ctx, ""); err != nil {
		return cli.CloseAfter(r, err)
	}
	if f.session != "" {
		if err := f.meant(ctx, guest, r); err != nil {
			return cli.CloseAfter(r, err)
		}
	}
	at, err := datadir.Find(a.Env)
	if err != nil {
		return cli.CloseAfter(r, err)
	}
	_, err = performTUI(ctx, own, in.file, stage{
		app: own, flags: f, state: at.State, remote: true, again: againCommand(a, "lathe attach "+termtext.ShellWord(r.Address())),
		open: func(context.Context) (*tuiEngine, error) {
			return &tuiEngine{Engine: r, close: func() error { return nil }}, nil
		},
	})
	return cli.CloseAfter(r, err)
}
