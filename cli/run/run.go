// Package run implements `lathe run`: it sends a prompt to a local or remote session and prints the turn (package
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

const runHelp = `Run one prompt in a new or existing session and print the answer. The text goes to standard output.
Tool calls, reasoning, and the final tokens, cost and time go to standard error. Piped input is
appended to the prompt.

On a terminal the answer is a live view: rendered Markdown, one line per tool call, and a summary
with tokens, cost, changed files and time. NO_COLOR, TERM=dumb, --print-logs or a pipe switch to
plain text. --accessible prints plain lines in words, for screen readers.

Permissions: on a terminal, lathe asks. Otherwise the tool call is refused and the turn continues.
--yes approves every request in this run. --allow and --deny add rules for this run: a permission
(edit, bash, webfetch …), or permission:pattern. The last matching rule wins. --allow never
overrides a deny rule in the config.

Ctrl-C stops the turn and saves the session; --resume continues it, also after a crash. A second
Ctrl-C exits immediately. Commands started by the agent stop with the turn. On Linux so do all
their child processes; elsewhere, their process group or job.

--command runs a slash command: built in (init, review), from the config, from a file in a commands
folder, or a skill. Its shell commands need the same permissions as those of the agent.

--budget (or --max-cost), --max-tokens, --max-steps and --max-time limit the session and are saved
with it. The budget config key limits all sessions, per day or project. A turn that reaches a limit
ends with an error that shows the usage. The next prompt continues.

--format json prints one JSON object per line: step_start, text, reasoning, tool_use, step_finish
or error, each with type, timestamp, sessionID and the part. --format stream-json prints every event
of the session and its subagents, then one line of type result with status, exit code, text,
tokens, cost, files and session.

--output-schema asks for an answer that matches a JSON schema and prints only that answer.

--record saves the model traffic to a file, without API keys. --replay answers from that file,
without network or API key, in any directory.

--attach sends the prompt to a server (lathe serve). Models, tools, files and permissions are those
of the server. Ctrl-C stops the turn there too. Set LATHE_SERVER_USERNAME and LATHE_SERVER_PASSWORD
rather than -u and -p.

--port serves this turn on a local port, so that other clients can follow it.

--worktree works in an isolated copy of this checkout, with your uncommitted changes, on the branch
lathe/NAME. Your files stay as they are until you run "lathe worktree merge NAME". A word after
--worktree is its NAME.

--tries runs the prompt several times in parallel, each in its own worktree, with the models of -m in
turn, under one --budget. The --check command then runs in each worktree. A try wins by its exit code,
then by the last number that it prints (more is better), then by the smaller change. --merge merges the
winner; on a terminal lathe asks.

--until runs a command in the sandbox after each turn. While it fails, its output becomes the next prompt.
The run ends when the command passes, at --budget or another limit, when the same failure came three
times, or after --tries runs (default 10). The files that the command names, such as scripts and the
Makefile, cannot be changed meanwhile. --resume continues an interrupted run.

--share publishes the session on the server of --attach, for everyone who has the link.

Exit codes: 0 success, 1 failure, 2 usage error, 3 permission refused, 4 budget reached, 5 no
provider or no valid credentials, 6 no progress with --until, 7 --tries of --until reached, 130 interrupted or canceled by another client, 143 terminated.`

// New returns `lathe run`.
func New(a *cli.App) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROMPT...]",
		Short: "Run a prompt non-interactively",
		Long:  runHelp,
		Example: `  lathe run "Why does the build fail?"
  git diff | lathe run -m anthropic/claude-haiku-4-5-20251001 "Review this"
  lathe run -c "And now the tests"              # continue the latest session
  lathe run --command review HEAD~1             # slash command with arguments
  lathe run --resume                            # resume an interrupted turn
  lathe run --budget 0.50 --max-time 10m "Fix the flaky test"
  lathe run --allow 'bash:git *' --deny edit "What changed since Monday?"
  lathe run --output-schema '{"type":"object","properties":{"bugs":{"type":"integer"}}}' "Count"
  lathe run -s ses_… --format json "Again" | jq -r 'select(.type == "text").part.text'
  lathe run --attach http://127.0.0.1:4096 "What is running?"
  lathe run --worktree parser "Rewrite the parser"
  lathe run --tries 3 --check 'make test' --budget 5 "Fix the flaky test"
  lathe run --until 'make test' --budget 2 "Make the tests pass"
  lathe run --record turn.jsonl "hello"; lathe run --replay turn.jsonl "hello"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := rejectEmptyFlags(c.Flags()); err != nil {
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

// runCommand runs the prompt here, on a server, or against a recording.
func runCommand(ctx context.Context, a *cli.App, f runFlags, text string) error {
	for _, r := range f.rules {
		if wrong := config.SuggestPermission(r.Permission); wrong != "" {
			a.Notify("Warning: --%s %s: %s", r.Action, termtext.Plain(r.Permission), wrong)
		}
	}
	if a.Attach != "" {
		return runAttached(ctx, a, f, text)
	}
	if l, err := a.Config(); err == nil { // harness.Open reports a broken file
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

// runRecorded saves the model traffic, also of a turn that fails.
func runRecorded(ctx context.Context, a *cli.App, f runFlags, text string) error {
	var ran error
	_, err := session.WriteFile(f.record, func(w *cli.CountingFile) error {
		r := record.NewRecorder(w, nil)
		ran = runOn(ctx, a, f, text, r)
		return r.Close()
	})
	return cmp.Or(ran, err)
}

// runOn opens the engine in this process, with the transport of --record or --replay.
func runOn(ctx context.Context, a *cli.App, f runFlags, text string, wire http.RoundTripper) (err error) {
	if f.isParallel() {
		a.JSON = f.tries.json
	}
	setup, err := harness.Open(ctx, &a.Host, harness.Options{Transport: wire, Keyless: f.replay != "", Headless: isHeadless(a, f), Tracer: a.Tracer})
	if err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	if err := haveModel(ctx, a, setup, &f); err != nil {
		return err
	}
	f.environment, f.repeats = setup, harness.Repeats(setup)
	return serve.WithServer(ctx, a, f.port, setup, func() error {
		if f.isParallel() {
			return runTries(ctx, a, setup, f, text)
		}
		return runWith(ctx, a, setup.Engine, f, text)
	})
}

// runWith selects or creates the session and follows the turn.
func runWith(ctx context.Context, a *cli.App, e api.Engine, f runFlags, text string) error {
	c, remote := e.(*client.Client)
	if remote {
		if err := checkRemoteNames(ctx, c, cli.EngineDir(a), &f); err != nil {
			return err
		}
	}
	prompt, err := runPrompt(a, f, text)
	if err != nil {
		return err
	}
	if remote {
		if prompt, err = embedFiles(c, prompt); err != nil {
			return err
		}
	}
	own, isOwn := e.(*engine.Engine)
	tree, err := openTree(ctx, a, own, &f)
	if err != nil {
		return err
	}
	defer func() { tree.end(ctx, a, f) }()
	s, err := runSession(ctx, a, e, f)
	if err == nil {
		err = tree.begin(ctx, s)
	}
	if err != nil {
		return err
	}
	if isOwn {
		if f.limits.Cost = lathe.Dollars(f.maxCost); !f.limits.IsZero() {
			if err := own.SetLimits(ctx, s.ID, f.limits); err != nil {
				return err
			}
		}
	}
	fresh := !f.next && !f.resume && f.session == "" || f.fork
	if fresh && f.format == "default" {
		warnLongInstructions(a, s.Directory)
	}
	r := &runner{App: a, flags: f, arguments: text, turn: &turn.Turn{Engine: e, Session: s, Fresh: fresh}}
	if err := r.share(ctx); err != nil {
		return err
	}
	var rules lathe.Ruleset
	if isOwn && (!fresh || f.fork) {
		rules = f.rules
	}
	release, err := r.beginUntil(ctx, &prompt)
	if err != nil {
		r.turn.DeleteEmpty(ctx)
		return err
	}
	defer release()
	return withRules(ctx, e, s, rules, func() error { return r.follow(ctx, prompt) })
}

// isHeadless reports whether no user watches the turn.
func isHeadless(a *cli.App, f runFlags) bool {
	return f.format != "default" || f.schema != "" || !cli.IsTerminal(a.Stdout.File) || a.Env("CI") != ""
}

// runSession returns the selected session, or creates one whose rules deny questions to the user, since no user may
// be there.
func runSession(ctx context.Context, a *cli.App, e api.Engine, f runFlags) (lathe.Session, error) {
	which := f.session
	if f.next {
		which = cli.Last
	}
	if f.resume && which == "" {
		return newestInterrupted(ctx, a, e, f)
	}
	if which == "" {
		return e.Create(ctx, cmp.Or(f.treeDir, cli.EngineDir(a)), lathe.NewSession{Title: f.title, Rules: append(turn.UnattendedRules(), sessionRules(f.rules)...)})
	}
	s, err := a.Find(ctx, e, which)
	if err != nil || !f.fork {
		return s, err
	}
	return e.Fork(ctx, s.Directory, s.ID, "")
}

// newestInterrupted returns the project's most recent session with an interrupted turn.
func newestInterrupted(ctx context.Context, a *cli.App, e api.Engine, f runFlags) (lathe.Session, error) {
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
	if f.repeats != nil && len(all) > 0 { // a run of --until may have ended between two turns
		if release, failed := f.repeats.ResumeUntil(ctx, all[0].ID); failed == nil {
			release()
			return all[0], nil
		}
	}
	if err == nil {
		err = lathe.Errorf(lathe.NotFound, "no interrupted session in this project; `lathe session list --all` lists other projects")
	}
	return lathe.Session{}, err
}

// longInstruction is the size in tokens above which an instruction file gets a warning.
const longInstruction = 2000

// warnLongInstructions warns about long instruction files: every request carries them, and models follow long ones
// less well.
func warnLongInstructions(a *cli.App, dir string) {
	l, err := a.WithDir(dir).Config()
	if err != nil {
		return // harness.Open reports it
	}
	for _, i := range l.Instructions {
		if n := len(harness.ReadInstruction(i.Path)) * 10 / 36; i.Path != "" && n > longInstruction {
			a.Notify("Note: %s has about %s tokens, sent with every request. Leave out what the model can read in the code.", termtext.Plain(i.Path), termtext.Count(n))
		}
	}
}

// NoVariant is the error for a reasoning level that the model does not have.
func NoVariant(m *catalog.Model, name string) error {
	if all := account.ReasoningLevels(m); len(all) > 0 {
		return lathe.Errorf(lathe.NotFound, "%s has no reasoning level %s; available: %s", termtext.Plain(m.Ref()), termtext.Quote(name), termtext.Plain(strings.Join(all, ", ")))
	}
	return lathe.Errorf(lathe.NotFound, "%s has no reasoning levels; leave out --variant", termtext.Plain(m.Ref()))
}

// OpenPlayer reads a recording for --replay.
func OpenPlayer(name string) (*record.Player, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, lathe.Errorf(lathe.NotFound, "cannot read the recording: %w", err)
	}
	player, err := record.NewPlayer(file)
	if err := cli.CloseAfter(file, err); err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "%s is not a recording: %w", termtext.Plain(name), err)
	}
	return player, nil
}

// runAttached sends the prompt to a server.
func runAttached(ctx context.Context, a *cli.App, f runFlags, text string) error {
	switch {
	case f.record != "" || f.replay != "":
		return cli.Usagef("--record and --replay cannot be combined with --attach")
	case f.maxCost != 0 || !f.limits.IsZero():
		return cli.Usagef("--budget and --max-* cannot be combined with --attach; set budget in the server's config")
	case len(sessionRules(f.rules)) > 0 && (f.next || f.session != "" || f.resume):
		return cli.Usagef("with --attach, --deny works only for new sessions, because a server saves the rules with the session; deny it in the server's config")
	case hasExceptions(sessionRules(f.rules)):
		return cli.Usagef("--allow after --deny cannot be combined with --attach: the server's deny rules are not known here")
	}
	r, err := a.Dial()
	if err != nil {
		return err
	}
	f.repeats = r
	return cli.CloseAfter(r, runWith(ctx, a, r, f, text))
}
