// Package run is `lathe run`: it gives a prompt to a session, here or on a server, and shows the turn (package
// cli/turn). Start with New, then runner.follow.
package run

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/cli/serve"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/record"
)

const runHelp = `Gives a prompt to a session of this directory, a new one unless you say which, and prints the
answer as it comes: text on standard output; tools, thoughts and at last tokens, cost and time
on standard error. What is piped in is appended to the words.

On a terminal the answer is a live view: text as it is meant to look, a line for each tool with its
time and result, and at last tokens, cost, files changed and time. NO_COLOR, TERM=dumb, --print-logs
or a pipe make it plain text.

What needs a permission is asked on a terminal; elsewhere the call fails and the turn continues,
unless --yes allows everything once. --allow and --deny are rules for this run: a permission (edit, bash, webfetch …), or
one and a pattern; the last that matches counts. --allow answers what would be asked, and never what
the settings deny. Interrupt (Ctrl-C) ends the turn in order; what was said stays in the session,
and --resume goes on with it, as it does after a crash. A second interrupt ends at once.

Commands that the agent runs end with their turn's cancel, their time limit, or lathe itself; on
Linux whatever they started ends too, elsewhere their process group or job.

--command runs a slash command: a built-in one (init, review), one of your settings, of a file
in a folder commands, or a skill. Shell commands in it need the permissions the agent's would.

--budget (or --max-cost) and its like bound what the session may use; they stay with it, and budget in the
settings does the same for all sessions, a day or a project. A turn that reaches a limit ends
with an error that says what was spent, and the next prompt goes on.

--format json prints an object a line: step_start, text, reasoning, tool_use, step_finish and
error, each with type, timestamp, sessionID and the part. --format stream-json prints every event of
the session and of those that work for it, as a server would tell it, and last a line of type result
with status, exit code, text, tokens, cost, files and session, however the turn ends.

--output-schema wants an answer that fits a JSON schema, and prints nothing but that.

--record keeps the traffic with the model in a file, without keys; --replay answers from such
a file, without a network and without a key, also in another directory.

--attach gives the prompt to a server (lathe serve, here or elsewhere) and shows what comes of it:
models, tools, files and permissions are the server's. Interrupt ends the turn there too.

-u and -p are its name and password; better give them in LATHE_SERVER_USERNAME and LATHE_SERVER_PASSWORD.

--port serves this turn at a port of this machine, as lathe serve would, for clients that want to watch.

--share lets everyone who has the address read the session; it is a page of the server of --attach.

Exit codes: 0 done, 1 failed (the model, the network, anything else), 2 wrong usage, 3 a permission
was refused, 4 a budget is used up, 5 no provider or no credential that it takes, 130 interrupted
or ended by someone else, 143 terminated.`

// New is `lathe run`.
func New(a *cli.App) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [WORDS...]",
		Short: "Give a prompt and print what comes of it",
		Long:  runHelp,
		Example: `  lathe run "Why does the build fail?"
  git diff | lathe run -m anthropic/claude-haiku-4-5-20251001 "Review this"
  lathe run -c "And now the tests"              # go on with the newest session
  lathe run --command review HEAD~1             # a slash command with its arguments
  lathe run --resume                            # go on with what a crash cut off
  lathe run --budget 0.50 --max-time 10m "Fix the flaky test"
  lathe run --allow 'bash:git *' --deny edit "What changed since Monday?"
  lathe run --output-schema '{"type":"object","properties":{"bugs":{"type":"integer"}}}' "Count"
  lathe run -s ses_… --format json "Again" | jq -r 'select(.type == "text").part.text'
  lathe run --attach http://127.0.0.1:4096 "What is running?"
  lathe run --record turn.jsonl "hello"; lathe run --replay turn.jsonl "hello"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := givenNothing(c.Flags()); err != nil {
				return err
			}
			if err := f.check(a); err != nil {
				return err
			}
			text, err := "", error(nil)
			if f.resume && len(args) > 0 {
				return cli.Usagef("--resume takes no prompt: it continues the interrupted turn. Leave out --resume to send a prompt")
			}
			if !f.resume {
				text, err = runText(c.Context(), a, args, f.command != "")
			}
			if err != nil {
				return err
			}
			err = cli.WithExitCode(runCommand(c.Context(), a, f, text))
			if f.format == streamJSON {
				return turn.ReportResult(a, err)
			}
			return err
		},
	}
	f.define(a, cmd)
	return cmd
}

// runCommand opens what a turn needs and closes it again.
func runCommand(ctx context.Context, a *cli.App, f runFlags, text string) error {
	for _, r := range f.rules {
		if wrong := config.SuggestPermission(r.Permission); wrong != "" {
			a.Notify("Warning: --%s %s: %s", r.Action, termtext.Plain(r.Permission), wrong)
		}
	}
	if a.Attach != "" {
		return runAttached(ctx, a, f, text)
	}
	if l, err := a.Config(); err == nil { // a broken file is told by whoever needs it
		a.WarnUntrusted(l)
		a.WarnConfig(l)
	}
	switch {
	case f.replay != "":
		player, err := OpenPlayer(f.replay)
		if err != nil {
			return err
		}
		player.Loose = true
		return runOn(ctx, a, f, text, player)
	case f.record != "":
		return runRecorded(ctx, a, f, text)
	default:
		return runOn(ctx, a, f, text, nil)
	}
}

// runRecorded keeps the traffic, of a failure too.
func runRecorded(ctx context.Context, a *cli.App, f runFlags, text string) error {
	var ran error
	_, err := session.WriteFile(f.record, func(w *cli.CountingFile) error {
		r := record.NewRecorder(w, nil)
		ran = runOn(ctx, a, f, text, r)
		return r.Close()
	})
	return cmp.Or(ran, err)
}

func runOn(ctx context.Context, a *cli.App, f runFlags, text string, wire http.RoundTripper) (err error) {
	setup, err := harness.Open(ctx, &a.Host, harness.Options{Transport: wire, Keyless: f.replay != "", Headless: isHeadless(a, f), Tracer: a.Tracer})
	if err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	if err := haveModel(ctx, a, setup, &f); err != nil {
		return err
	}
	f.judge = setup
	return serve.WithServer(ctx, a, f.port, setup, func() error { return runWith(ctx, a, setup.Engine, f, text) })
}

// runWith chooses the session and follows the turn.
func runWith(ctx context.Context, a *cli.App, e api.Engine, f runFlags, text string) error {
	prompt, err := runPrompt(a, f, text)
	if err != nil {
		return err
	}
	if c, ok := e.(*client.Client); ok {
		if prompt, err = carried(c, prompt); err != nil {
			return err
		}
	}
	s, err := runSession(ctx, a, e, f)
	if err != nil {
		return err
	}
	own, isOwn := e.(*engine.Engine)
	if isOwn {
		if f.limits.Cost = lathe.Dollars(f.maxCost); !f.limits.IsZero() {
			if err := own.SetLimits(ctx, s.ID, f.limits); err != nil {
				return err
			}
		}
	}
	fresh := !f.next && !f.resume && f.session == "" || f.fork
	if fresh && f.format == "default" {
		noteLong(a, s.Directory)
	}
	r := &runner{App: a, flags: f, arguments: text, turn: &turn.Turn{Engine: e, Session: s, Fresh: fresh}}
	if err := r.share(ctx); err != nil {
		return err
	}
	if isOwn && (!fresh || f.fork) {
		return withRules(ctx, e, s, f.rules, func() error { return r.follow(ctx, prompt) })
	}
	return r.follow(ctx, prompt)
}

// isHeadless reports whether nobody watches the turn.
func isHeadless(a *cli.App, f runFlags) bool {
	return f.format != "default" || f.schema != "" || !cli.IsTerminal(a.Stdout.File) || a.Env("CI") != ""
}

// runSession is the session that is meant, or a new one. A new one may not ask the user
// things, since nobody may be there.
func runSession(ctx context.Context, a *cli.App, e api.Engine, f runFlags) (lathe.Session, error) {
	which := f.session
	if f.next {
		which = cli.Last
	}
	if f.resume && which == "" {
		return newestInterrupted(ctx, a, e)
	}
	if which == "" {
		return e.Create(ctx, cli.EngineDir(a), lathe.NewSession{Title: f.title, Rules: append(turn.UnattendedRules(), sessionRules(f.rules)...)})
	}
	s, err := a.Find(ctx, e, which)
	if err != nil || !f.fork {
		return s, err
	}
	return e.Fork(ctx, s.Directory, s.ID, "")
}

// newestInterrupted is the session of the project whose turn was cut off last.
func newestInterrupted(ctx context.Context, a *cli.App, e api.Engine) (lathe.Session, error) {
	q, err := a.ProjectQuery(ctx, e)
	if err != nil {
		return lathe.Session{}, err
	}
	cut, err := session.InterruptedSessions(ctx, e)
	if err != nil {
		return lathe.Session{}, err
	}
	all, err := e.List(ctx, q)
	for _, s := range all {
		if cut[s.ID] {
			return s, nil
		}
	}
	if err == nil {
		err = lathe.Errorf(lathe.NotFound, "nothing was interrupted in this project; `lathe session list --all` shows the others")
	}
	return lathe.Session{}, err
}

// longInstruction is from how many tokens on an instruction file is worth a word to its author.
const longInstruction = 2000

// noteLong tells the user of instruction files that are long: every request carries them, and
// models follow long ones less well.
func noteLong(a *cli.App, dir string) {
	l, err := a.WithDir(dir).Config()
	if err != nil {
		return // whoever needs them says so
	}
	for _, i := range l.Instructions {
		if n := len(harness.ReadInstruction(i.Path)) * 10 / 36; i.Path != "" && n > longInstruction {
			a.Notify("Note: %s has about %s tokens, which every request carries. What a model can see for itself need not be in it.", termtext.Plain(i.Path), termtext.Count(n))
		}
	}
}

// NoVariant is the error of a level of reasoning that a model does not have.
func NoVariant(m *catalog.Model, name string) error {
	if all := account.ReasoningLevels(m); len(all) > 0 {
		return lathe.Errorf(lathe.NotFound, "%s has no level %s; it has %s", termtext.Plain(m.Ref()), termtext.Quote(name), termtext.Plain(strings.Join(all, ", ")))
	}
	return lathe.Errorf(lathe.NotFound, "%s has no levels of reasoning; leave --variant out", termtext.Plain(m.Ref()))
}

// OpenPlayer reads a recording.
func OpenPlayer(name string) (*record.Player, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, lathe.Errorf(lathe.NotFound, "the recording cannot be read: %w", err)
	}
	player, err := record.NewPlayer(file)
	if err := cli.CloseAfter(file, err); err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "%s is no recording: %w", termtext.Plain(name), err)
	}
	return player, nil
}

// runAttached gives a prompt to a server.
func runAttached(ctx context.Context, a *cli.App, f runFlags, text string) error {
	switch {
	case f.record != "" || f.replay != "":
		return cli.Usagef("--record and --replay are for turns of this process; leave out --attach")
	case f.maxCost != 0 || !f.limits.IsZero():
		return cli.Usagef("--budget, --max-cost and their like are for turns of this process; budget in the settings of the server does the same")
	case len(sessionRules(f.rules)) > 0 && (f.next || f.session != "" || f.resume):
		return cli.Usagef("--deny is for new sessions with --attach: a server keeps the rules of a session for good; its settings can deny it")
	case hasExceptions(sessionRules(f.rules)):
		return cli.Usagef("--allow behind --deny is for turns of this process: what the settings of a server deny is not known here")
	}
	r, err := a.Dial()
	if err != nil {
		return err
	}
	return cli.CloseAfter(r, runWith(ctx, a, r, f, text))
}
