// Command lathe is a coding agent with durable sessions: run, listed, forked, exported and imported.
//
// This package lists the commands and starts them; they are in the packages below cli. Nothing calls up into it.
//
// A command runs in one goroutine with a context that ends at an interrupt. Two more exist: one waits for signals, one
// for a standard input that has nothing to say. The live view of a turn has its own (package tui/inline).
//
// Start reading here, then package cli.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/cli/database"
	"github.com/lathe-agent/lathe/cli/debug"
	"github.com/lathe-agent/lathe/cli/demo"
	"github.com/lathe-agent/lathe/cli/extension"
	"github.com/lathe-agent/lathe/cli/install"
	"github.com/lathe-agent/lathe/cli/run"
	"github.com/lathe-agent/lathe/cli/screen"
	"github.com/lathe-agent/lathe/cli/serve"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/cli/settings"
	"github.com/lathe-agent/lathe/cli/stats"
	"github.com/lathe-agent/lathe/cmd/lathe/early"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tui/tty"
)

func main() {
	if code, mine := sandbox.Launch(os.Args, os.Environ); mine { // a command of a turn, watched over
		os.Exit(code)
	}
	if tty.Restore(os.Args) || confine.RunGitHelper(os.Args, os.Getenv) { // restores a terminal; asks for git in the sandbox
		return
	}
	if asksVersion(os.Args) { // before anything else is made: programs ask often
		if _, err := os.Stdout.WriteString(version + "\n"); err == nil {
			return
		} // else it is told as any command tells it
	}
	os.Exit(execute(newApp(), os.Args[1:]))
}

// execute executes one command line and returns the exit code.
func execute(a *cli.App, args []string) int {
	ctx, stop := cli.SignalContext(context.Background(), a.TTYChildren)
	defer stop()
	for _, name := range early.Dropped {
		a.Notify("The variable %s is malformed and was ignored. Want name=value, with commas between several.", name)
	}
	root := newRoot(a)
	if completes(args) {
		completing(a, root)
	}
	root.SetArgs(args)
	return a.Finish(ctx, root.ExecuteContext(ctx), args)
}

// newRoot lists the commands.
func newRoot(a *cli.App) *cobra.Command {
	var f screen.Flags
	root := &cobra.Command{
		Use:   "lathe",
		Short: "A coding agent whose sessions last",
		Long:  rootHelp,
		Example: `  lathe                            the terminal program, in this directory
  lathe -c                         where you left off
  lathe demo                       see it work, without a key and without a network
  lathe auth login                 keep the key of a model provider
  lathe run "Why does it fail?"    give it something to do
  lathe session list               the sessions of this project
  lathe session show               the newest one, as a transcript
  lathe import opencode-export.json
  lathe export last -o session.json`,
		Annotations: map[string]string{cli.VersionAnnotation: version},
		Args:        cobra.ArbitraryArgs,
		RunE:        screen.RunRoot(a, &f, func(ctx context.Context) error { return demo.RunTUI(ctx, a) }),
	}
	f.Define(root)
	globalFlags(a, root)
	root.AddCommand(
		run.New(a),
		lacksMini(screen.NewAttach(a)),
		serve.New(a),
		newMCP(a),
		session.New(a),
		settings.NewAgent(a),
		session.NewExport(a),
		session.NewImport(a),
		stats.New(a),
		database.New(a),
		settings.NewConfig(a),
		extension.NewTrust(a),
		settings.NewPermission(a),
		session.NewShare(a),
		account.NewModels(a),
		account.NewAuth(a),
		extension.NewPlugin(a),
		debug.New(a),
		install.NewCompletion(a),
		demo.New(a),
		newMan(a),
		newVersion(a),
		install.NewUpgrade(a),
		install.NewUninstall(a),
	)
	addLater(root)
	return cli.ConfigureRoot(a, root)
}

const rootHelp = `lathe is a coding agent. It keeps every message, every tool call and every change of them
in one database that survives kills and power cuts, and goes on where it was cut off.

Without a command it is a terminal program, in the directory PROJECT or where you are. What is piped
in is sent as the first prompt, before that of --prompt.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 143 terminated; run has some more.
Results go to standard output, remarks and errors to standard error.
Environment: LATHE_DATA names the data folder, NO_COLOR turns colour off, LATHE_TRUST=1 lets
a project run what its settings say (see lathe trust).`

func globalFlags(a *cli.App, root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVarP(&a.Dir, "dir", "C", ".", "the `DIRECTORY` whose project is meant")
	f.BoolVar(&a.PrintLogs, "print-logs", false, "print logs on standard error, not into log/lathe.log of the data folder")
	f.StringVar(&a.LogLevel, "log-level", "INFO", "`LEVEL` of the logs: DEBUG, INFO, WARN or ERROR")
	f.BoolVar(&a.Trust, "trust", false, "let the project run what its settings say, this once")
	f.BoolVar(&a.Pure, "pure", false, "load no plugins from outside")
	root.Flags().BoolP("version", "v", false, "print the version")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		a.PrintLogs = a.PrintLogs || a.IsEnvTrue("PRINT_LOGS")
		if v := a.Variable("LOG_LEVEL"); v != "" && !c.Flags().Changed("log-level") {
			a.LogLevel = v
		}
		return a.StartLog()
	}
}

// newApp is the program as this process is run.
func newApp() *cli.App {
	return cli.NewApp(harness.Host{
		Version: version, Env: os.Getenv, Environ: os.Environ, Now: time.Now, Log: slog.New(slog.DiscardHandler), Notices: os.Stderr,
		Logins: auth.Methods(), Browse: account.OpenBrowser,
	})
}
