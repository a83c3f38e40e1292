// Command lathe is a coding agent with durable sessions.
//
// This package lists the commands and runs them. The commands are in the packages below cli.
//
// A command runs in one goroutine with a context that an interrupt cancels. Two more wait for signals and for
// standard input. The live view of a turn has its own (package tui/inline).
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
	"github.com/lathe-agent/lathe/cli/acpserver"
	"github.com/lathe-agent/lathe/cli/background"
	"github.com/lathe-agent/lathe/cli/database"
	"github.com/lathe-agent/lathe/cli/debug"
	"github.com/lathe-agent/lathe/cli/demo"
	"github.com/lathe-agent/lathe/cli/eval"
	"github.com/lathe-agent/lathe/cli/extension"
	"github.com/lathe-agent/lathe/cli/install"
	"github.com/lathe-agent/lathe/cli/run"
	"github.com/lathe-agent/lathe/cli/screen"
	"github.com/lathe-agent/lathe/cli/serve"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/cli/settings"
	"github.com/lathe-agent/lathe/cli/stats"
	"github.com/lathe-agent/lathe/cli/worktree"
	"github.com/lathe-agent/lathe/cmd/lathe/early"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tui/tty"
)

func main() {
	if code, mine := sandbox.Launch(os.Args, os.Environ); mine { // launches a sandboxed command
		os.Exit(code)
	}
	if tty.Restore(os.Args) || confine.RunGitHelper(os.Args, os.Getenv) { // the terminal restorer; the git credential helper in the sandbox
		return
	}
	if asksVersion(os.Args) { // first, because programs ask often
		if _, err := os.Stdout.WriteString(version + "\n"); err == nil {
			return
		} // else the command reports the error
	}
	os.Exit(execute(newApp(), os.Args[1:]))
}

// execute runs one command line and returns the exit code.
func execute(a *cli.App, args []string) int {
	ctx, stop := cli.SignalContext(context.Background(), a.TTYChildren)
	defer stop()
	for _, name := range early.Dropped {
		a.Notify("Ignored the malformed variable %s. Want name=value, separated by commas.", name)
	}
	root := newRoot(a)
	if isCompletion(args) {
		registerCompletions(a, root)
	}
	root.SetArgs(run.JoinWorktreeName(withPrint(root, args)))
	return a.Finish(ctx, root.ExecuteContext(ctx), args)
}

// newRoot returns the root command with all others.
func newRoot(a *cli.App) *cobra.Command {
	var f screen.Flags
	root := &cobra.Command{
		Use:   "lathe",
		Short: "A coding agent with durable sessions",
		Long:  rootHelp,
		Example: `  lathe                            # open the terminal UI in this directory
  lathe -c                         # continue the most recent session
  lathe demo                       # watch a demo, without API key or network
  lathe auth login                 # save an API key, or log in to a provider
  lathe -p "Why does it fail?"     # run one prompt and print the answer (lathe run)
  lathe session list               # list the sessions of this project
  lathe session show               # print the most recent session
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
		eval.New(a),
		screen.NewAttach(a),
		serve.New(a),
		serve.NewWeb(a),
		serve.NewDevice(a),
		newMCP(a),
		acpserver.New(a, account.NewLogin(a)),
		session.New(a, run.Forks),
		worktree.New(a),
		settings.NewAgent(a),
		background.NewAgents(a),
		background.NewTask(a),
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
		debug.NewDoctor(a),
		debug.New(a),
		install.NewCompletion(a),
		demo.New(a),
		newMan(a),
		newVersion(a),
		install.NewUpgrade(a),
		install.NewUninstall(a),
	)
	addLater(root)
	addPrint(root)
	return cli.ConfigureRoot(a, root)
}

const rootHelp = `lathe is a coding agent for your terminal, editor and CI. Sessions survive crashes and can be resumed.

Run without a command to open the terminal UI in the current directory, or in PROJECT. Piped input is
sent as the first prompt, followed by --prompt.

Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted, 143 terminated. lathe run has more.
Results go to standard output, notices and errors to standard error.

Environment: LATHE_DATA sets the data folder, NO_COLOR turns colors off, LATHE_TRUST=1 trusts the
project (see lathe trust).`

// globalFlags adds the flags that every command accepts.
func globalFlags(a *cli.App, root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVarP(&a.Dir, "dir", "C", ".", "`DIRECTORY` to work in")
	f.BoolVar(&a.PrintLogs, "print-logs", false, "log to standard error instead of log/lathe.log in the data folder")
	f.StringVar(&a.LogLevel, "log-level", "INFO", "log `LEVEL`: DEBUG, INFO, WARN or ERROR")
	f.BoolVar(&a.Trust, "trust", false, "trust the project's config in this run")
	f.BoolVar(&a.Pure, "pure", false, "load no external plugins")
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
