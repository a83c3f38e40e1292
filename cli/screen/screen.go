// Package screen runs the terminal UI (package tui) on a local engine or a server: its flags, the terminal, and the
// text printed after it closes. Start with RunRoot.
package screen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	"github.com/lathe-agent/lathe/tui/attention"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/tty"
)

// Flags are the flags of the terminal UI, local or attached.
type Flags struct {
	next, fork, auto bool
	mini, accessible bool
	session          string
	prompt           string
	agent, model     string
}

// Define adds the flags to a command.
func (f *Flags) Define(cmd *cobra.Command) {
	s := cmd.Flags()
	s.BoolVarP(&f.next, "continue", "c", false, "continue the most recent session in this directory")
	s.StringVarP(&f.session, "session", "s", "", "continue the session with this `ID`")
	s.BoolVar(&f.fork, "fork", false, "continue in a copy of the session")
	s.StringVar(&f.prompt, "prompt", "", "`PROMPT` to send first")
	s.StringVar(&f.agent, "agent", "", "`AGENT` to use")
	s.StringVarP(&f.model, "model", "m", "", "`MODEL` to use: provider/model, or a part of its name such as sonnet")
	s.BoolVar(&f.auto, "auto", false, "approve every permission request in this run")
	s.BoolVar(&f.mini, "mini", false, "print into the scrollback instead of taking the whole screen")
	s.BoolVar(&f.accessible, "accessible", false, "print plain lines for screen readers, without redrawing")
}

func (f *Flags) check() error {
	switch {
	case f.next && f.session != "":
		return cli.Usagef("-c and -s cannot be combined")
	case f.fork && !f.next && f.session == "":
		return cli.Usagef("--fork needs -c or -s to select the session to copy")
	case strings.Trim(f.model, "/") != f.model:
		return cli.Usagef("-m %s: want a model as provider/model, or a part of its name; `lathe models` lists the models", termtext.Quote(f.model))
	}
	return nil
}

// resolve replaces the session argument by the full ID, so that errors are printed before the terminal UI starts.
func (f *Flags) resolve(ctx context.Context, a *cli.App, e api.Engine) error {
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

// RunRoot runs the program without a command: the terminal UI in the current or a given directory. demo runs if the
// user chooses the demo there.
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

// projectArgument uses the argument as the directory to work in. Anything else is an unknown command.
func projectArgument(a *cli.App, c *cobra.Command, args []string) error {
	info, err := os.Stat(args[0])
	switch {
	case args[0] != "" && err == nil && info.IsDir():
	case strings.ContainsAny(args[0], `/\`) || args[0] == "." || args[0] == "..":
		return lathe.Errorf(lathe.NotFound, "directory not found: %s", termtext.Quote(args[0]))
	default:
		return cli.UnknownCommand(c, args[0])
	}
	switch {
	case len(args) > 1:
		return cli.Usagef("`lathe` got an unexpected argument %s after a directory; see `lathe --help`", termtext.Quote(args[1]))
	case a.Dir != ".":
		return cli.Usagef("-C %s and %s are two directories; give one", termtext.Quote(a.Dir), termtext.Quote(args[0]))
	}
	a.Dir = args[0]
	return nil
}

// stage is the environment of the terminal UI.
type stage struct {
	app   *cli.App // prints nothing while the terminal UI is open
	flags Flags
	open  func(ctx context.Context) (*tuiEngine, error)
	// offers returns the choices of a user without a provider; nil has none.
	offers func(ctx context.Context) []tui.SetupOption
	state  string // state folder; "" saves no state
	remote bool   // the engine is on a server
	again  string // command that continues the session, without the ID; "" prints nothing
}

// runTUI runs the terminal UI on a local engine.
func runTUI(ctx context.Context, a *cli.App, f Flags) (offer string, err error) {
	if f.session != "" {
		if err := a.WithSessions(ctx, func(e api.Engine) error { return f.resolve(ctx, a, e) }); err != nil {
			return "", err
		}
	}
	in, piped, err := openScreen(ctx, a, f)
	if err != nil {
		return "", err
	}
	defer in.close()
	f.prompt = strings.TrimSpace(strings.TrimSpace(piped) + "\n" + f.prompt)
	at, err := datadir.Find(a.Env)
	if err != nil {
		return "", err
	}
	own, show := offScreen(a)
	defer show()
	ended, err := performTUI(ctx, own, in.file, stage{
		app: own, flags: f, open: func(ctx context.Context) (*tuiEngine, error) { return openTUI(ctx, own) }, offers: func(ctx context.Context) []tui.SetupOption { return tuiOffers(ctx, own) }, state: at.State, again: againCommand(a, "lathe"),
	})
	return ended.SetupOption, err
}

// againCommand returns the command that reopens this directory, without the session.
func againCommand(a *cli.App, command string) string {
	if a.Dir == "." {
		return command
	}
	return command + " -C " + termtext.ShellWord(a.Dir)
}

// performTUI runs the terminal UI and then prints how to continue the session.
func performTUI(ctx context.Context, a *cli.App, in *os.File, s stage) (tui.Result, error) {
	l, err := a.Config()
	if err != nil {
		return tui.Result{}, err
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return tui.Result{}, err
	}
	ctx, stop := hangupContext(ctx)
	defer stop()
	limit := limitLeaving(ctx, a, os.Exit)
	defer limit.end()
	s.useFace(l)
	watch := tty.NewRestorer(in, a.Stdout.File, sandbox.Self())
	watch.ResetProgress = tty.DetectTerminal(a.Env).HasProgress()
	engines := &opener{open: func(ctx context.Context) (*tuiEngine, error) {
		if err := watch.Start(); err != nil {
			a.Log.Warn("the terminal restorer did not start", "error", err)
		}
		e, err := s.open(ctx)
		if err == nil {
			saveCrashes(a) // the data folder exists now
		}
		return e, err
	}}
	perform := tui.Run
	if s.flags.mini {
		perform = runMini(a, s.flags)
	}
	ended, err := perform(ctx, tui.Options{
		Open: engines.enter, Version: a.Version, Dir: dir, Remote: s.remote, Start: s.flags.start(), Look: lookOf(a, l.TUI, dir), Keys: l.TUI.Keybinds, State: s.state,
		Editor: editorWords(a.Env, runtime.GOOS), FindSetupOptions: s.offers, ReadFile: readAttachment, Copy: tty.Copier(a.Env), Clipboard: tty.Paster(a.Env), Browse: a.Browse, OnQuit: limit.begin, ReleaseTTY: a.LendTTY,
		Log: func(format string, args ...any) { a.Log.Info(fmt.Sprintf(format, args...)) },
		In:  in, Out: a.Stdout.File, Env: a.Environ(), Now: a.Now,
	})
	limit.begin()
	err = cli.CloseAfter(engines, err)
	if err == nil || lathe.CodeOf(err) == lathe.Canceled {
		err = context.Cause(ctx) // a signal has its own exit code
	}
	if ended.TTYBlocked {
		watch.Detach()
		return ended, logOnly(a, err)
	}
	watch.Stop()
	if ended.Session != "" && s.again != "" {
		printEpilogue(a, ended, s.again, s.flags.accessible)
	}
	if i, ok := cli.Interrupted(ctx); ok && i.Signal == syscall.SIGHUP {
		return ended, cli.Reported{Code: i.ExitCode()} // the terminal is gone
	}
	return ended, err
}

// printEpilogue prints how to continue the session. In plain text, nothing is faint.
func printEpilogue(a *cli.App, e tui.Result, again string, plain bool) {
	mark := func(s string) string { return a.Paint(a.Stdout.File, s, style.Attr{Faint: !plain}) }
	if title := termtext.Plain(e.Title); title != "" {
		a.Printf("%s%s\n", mark("Session   "), title)
	}
	a.Printf("%s%s -s %s\n", mark("Continue  "), again, termtext.Plain(string(e.Session)))
	if e.TurnInterrupted {
		a.Printf("%s\n", mark("          then /go resumes the interrupted turn"))
	}
	a.Flush() // also when a signal ended it
}

// lookOf returns the appearance set by config and environment.
func lookOf(a *cli.App, t config.TUI, dir string) tui.Look {
	colors := tty.Colors(a.Environ())
	return tui.Look{
		Theme: t.Theme, ThemeDirs: themeDirs(a, dir),
		Mouse:       (t.Mouse == nil || *t.Mouse) && !a.IsEnvTrue("DISABLE_MOUSE"),
		ScrollSpeed: t.ScrollSpeed, Stacked: t.DiffStyle == "stacked",
		LeaderTimeout: time.Duration(t.LeaderTimeout) * time.Millisecond, PromptMaxHeight: t.Prompt.MaxHeight,
		Attention: attentionOf(t.Attention, a.Env),
		Cursor: tui.Cursor{
			Line: t.Cursor.Style == "line", Underline: t.Cursor.Style == "underline", NoBlink: t.Cursor.Blinking != nil && !*t.Cursor.Blinking,
		},
		Vim: t.Editor == "vim", PromptMaxWidth: promptWidth(t.Prompt.MaxWidth), Acceleration: t.ScrollAcceleration.Enabled, NoTitle: a.IsEnvTrue("DISABLE_TERMINAL_TITLE"),
		Access: tui.Access{Still: t.ReducedMotion, NoColor: colors == 0, Sixteen: colors == 16},
	}
}

// attentionOf returns when to notify the user. Notifications are on by default, and the bell for those who turned them
// on, as in OpenCode.
func attentionOf(c config.Attention, env func(string) string) attention.Settings {
	isOn := func(b *bool) bool { return b == nil || *b }
	notify, chosen := isOn(c.Enabled) && isOn(c.Notifications), c.Enabled != nil && *c.Enabled
	out := attention.Settings{
		NeedsYou: notify && isOn(c.NeedsYou), Done: notify && isOn(c.Done), DoneAfter: 30 * time.Second,
		Bell: isOn(c.Enabled) && isOn(c.Sound) && (chosen || c.Sound != nil), Terminal: tty.DetectTerminal(env),
	}
	if c.DoneAfter != nil {
		out.DoneAfter = time.Duration(*c.DoneAfter) * time.Second
	}
	if out.Bell && isOn(c.Enabled) && !isOn(c.Notifications) { // a bell alone
		out.NeedsYou, out.Done, out.Terminal = isOn(c.NeedsYou), isOn(c.Done), tty.Terminal{}
	}
	return out
}

// promptWidth returns the width of the prompt box, or -1 for automatic.
func promptWidth(w config.Width) int {
	if w.Auto {
		return -1
	}
	return w.Cells
}

// themeDirs returns the folders of theme files: those of the project up to its root, then the user's.
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

// NewAttach returns `lathe attach`.
func NewAttach(a *cli.App) *cobra.Command {
	var f Flags
	cmd := &cobra.Command{
		Use:   "attach URL",
		Short: "Open the terminal UI on a server",
		Long: `Open the terminal UI on the sessions of a server (lathe serve). Models, tools, files and permissions
are those of the server. Turns continue on the server after you quit.

The directory is the current one for a local server. For a remote server it is the server's own, or
the one given with -C (--dir). The password comes from --password or LATHE_SERVER_PASSWORD. For a
local server, the default is the password saved by lathe serve.`,
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
	cmd.Flags().StringVarP(&a.Username, "username", "u", "", "`NAME` to log in with (default LATHE_SERVER_USERNAME, or opencode)")
	return cmd
}

// tuiAttached runs the terminal UI on a server. It checks the address before the terminal UI starts.
func tuiAttached(ctx context.Context, a *cli.App, f Flags) error {
	in, piped, err := openScreen(ctx, a, f)
	if err != nil {
		return err
	}
	defer in.close()
	f.prompt = strings.TrimSpace(strings.TrimSpace(piped) + "\n" + f.prompt)
	own, show := offScreen(a)
	defer show()
	remote := own.InDir(a.Dir)
	r, err := remote.Dial(func(o *client.Options) { o.Persistent = true })
	if err != nil {
		return err
	}
	if _, err := r.Location(ctx, ""); err != nil {
		return cli.CloseAfter(r, err)
	}
	if f.session != "" {
		if err := f.resolve(ctx, remote, r); err != nil {
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
