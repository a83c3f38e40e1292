package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/record"
)

type runFlags struct {
	model, agent, variant string
	command               string
	session, title        string
	next, fork, resume    bool
	files                 []string
	format                string
	record, replay        string
	thinking, auto        bool
	limits                lathe.Spending
	maxCost               float64
	rules                 lathe.Ruleset // --allow and --deny
	judge                 engine.Setup  // knows what the settings deny; nil with --attach
	schema                string        // --output-schema
	share                 bool
	expires               string
	interactive           bool // -i
	port                  int
}

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

func newRun(a *cli.App) *cobra.Command {
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
				return cli.Usagef("--resume goes on with what was begun and takes no words; without it they are the next prompt")
			}
			if !f.resume {
				text, err = runText(c.Context(), a, args, f.command != "")
			}
			if err != nil {
				return err
			}
			return reportResult(a, f, cli.WithCode(runCommand(c.Context(), a, f, text)))
		},
	}
	f.define(a, cmd)
	return cmd
}

func (f *runFlags) define(a *cli.App, cmd *cobra.Command) {
	s := cmd.Flags()
	s.StringVarP(&f.model, "model", "m", "", "the `MODEL`, as provider/model")
	s.StringVar(&f.agent, "agent", "", "the `AGENT`")
	s.StringVar(&f.command, "command", "", "run the slash command `NAME`; the words are its arguments")
	s.StringVar(&f.variant, "variant", "", "the `LEVEL` of reasoning")
	s.BoolVarP(&f.next, "continue", "c", false, "go on with the newest session of this project")
	s.StringVarP(&f.session, "session", "s", "", "go on with the session `ID`")
	s.BoolVar(&f.resume, "resume", false, "go on with a turn that was interrupted: the newest of this project, or that of -s")
	s.BoolVar(&f.fork, "fork", false, "go on in a copy of it")
	s.StringVar(&f.title, "title", "", "the `TITLE` of a new session")
	s.StringArrayVarP(&f.files, "file", "f", nil, "attach a `FILE` or folder; may be repeated")
	s.StringVar(&f.format, "format", "default", "`FORMAT` of the output: default (or text), json or stream-json")
	s.StringVar(&f.schema, "output-schema", "", "print an answer that fits this JSON `SCHEMA`: a file, or the schema itself")
	s.StringVar(&f.record, "record", "", "keep the traffic in this `FILE`")
	s.StringVar(&f.replay, "replay", "", "answer from this `FILE`, without a network")
	s.BoolVar(&f.thinking, "thinking", false, "show what the model thinks")
	a.AttachFlag(cmd)
	s.StringVarP(&a.Username, "username", "u", "", "the `NAME` for the server of --attach; default: LATHE_SERVER_USERNAME, or opencode")
	s.StringVarP(&a.Password, "password", "p", "", "its `PASSWORD`, which others on this machine can see here; default: LATHE_SERVER_PASSWORD")
	s.IntVar(&f.port, "port", 0, "let other clients follow at this `PORT` of this machine while it runs")
	s.BoolVarP(&f.interactive, "interactive", "i", false, "comes later: a small screen of lines")
	_ = s.MarkHidden("interactive") // it was defined just now
	s.BoolVar(&f.auto, "auto", false, "give every permission that is asked for, once")
	s.BoolVar(&f.auto, "yes", false, "the same as --auto")
	for _, old := range []string{"yolo", "dangerously-skip-permissions"} { // names that users of the reference know
		s.BoolVar(&f.auto, old, false, "the same as --auto")
		_ = s.MarkHidden(old) // it was defined just now
	}
	s.Var(ruleFlag{&f.rules, lathe.Allow}, "allow", "allow what this `RULE` names, as in edit or 'bash:git *'; may be repeated")
	s.Var(ruleFlag{&f.rules, lathe.Deny}, "deny", "deny what this `RULE` names; may be repeated")
	s.StringVar(&f.expires, "expires", "", "with --share, how long the address works (`TIME`: 12h, 7d; never without it)")
	s.BoolVar(&f.share, "share", false, "let others read the session on the server of --attach, and print the address")
	s.Float64Var(&f.maxCost, "max-cost", 0, "what the session and all below it may cost, in `DOLLARS`")
	s.Float64Var(&f.maxCost, "budget", 0, "the same as --max-cost, in `DOLLARS`")
	s.Int64Var(&f.limits.Tokens, "max-tokens", 0, "how many `TOKENS` they may use")
	s.Int64Var(&f.limits.Steps, "max-steps", 0, "how many `STEPS` they may take")
	s.DurationVar(&f.limits.Time, "max-time", 0, "how long the session may work, as in 90s or 1h30m (`TIME`)")
}

func (f *runFlags) check(a *cli.App) error {
	if f.format == "text" {
		f.format = "default"
	}
	switch {
	case f.record != "" && f.replay != "":
		return cli.Usagef("--record and --replay do not go together")
	case f.next && f.session != "":
		return cli.Usagef("-c and -s do not go together")
	case f.resume && (f.next || f.fork || len(f.files) > 0 || f.title != "" || f.model != "" || f.agent != "" || f.variant != ""):
		return cli.Usagef("--resume goes on as it was begun: only -s goes with it")
	case f.resume && f.command != "":
		return cli.Usagef("--resume goes on with what was begun; --command begins something")
	case f.fork && !f.next && f.session == "":
		return cli.Usagef("--fork needs -c or -s: say what to copy")
	case f.format != "default" && f.format != "json" && f.format != streamJSON:
		return cli.Usagef("--format is default, json or stream-json, not %s", termtext.Plain(f.format))
	case f.expires != "" && !f.share:
		return cli.Usagef("--expires says how long the address of --share works")
	case f.share && a.Attach == "":
		return cli.Usagef("--share shows the session on a page of a server: start one with `lathe serve` and add --attach URL")
	}
	if err := f.checkReach(a); err != nil {
		return err
	}
	return f.checkSchema()
}

// givenNothing refuses flags that were given without what they need. A script whose variable is
// not set would else do something else than it says: run without a limit, in another session,
// on this machine.
func givenNothing(s *pflag.FlagSet) error {
	for _, name := range []string{"max-cost", "budget", "max-tokens", "max-steps", "max-time"} {
		var n float64
		switch {
		case !s.Changed(name):
			continue
		case name == "max-time":
			d, _ := s.GetDuration(name)
			n = d.Seconds()
		default: // the flag has parsed it as a number
			n, _ = strconv.ParseFloat(s.Lookup(name).Value.String(), 64)
		}
		if !(n > 0) || math.IsInf(n, 1) {
			return cli.Usagef("--%s %s: a limit is more than 0, as in --max-cost 1.50 or --max-time 10m; leave it out for none", name, s.Lookup(name).Value)
		}
	}
	for _, name := range []string{"session", "attach", "command", "output-schema", "record", "replay"} {
		if flag := s.Lookup(name); flag.Changed && strings.TrimSpace(flag.Value.String()) == "" {
			return cli.Usagef("--%s is empty; say which, or leave it out", name)
		}
	}
	return nil
}

// runText is what was typed, words with spaces in quotes as they were, and below it what was
// piped in.
func runText(ctx context.Context, a *cli.App, args []string, mayBeEmpty bool) (string, error) {
	words := make([]string, len(args))
	for i, w := range args {
		if words[i] = w; len(args) > 1 && strings.ContainsAny(w, " \t\n") {
			words[i] = `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
		}
	}
	text, err := withPiped(ctx, a, strings.Join(words, " "))
	if err == nil && text == "" && !mayBeEmpty {
		err = cli.Usagef("there is nothing to do: `lathe run \"Why does the build fail?\"`, or pipe it in")
	}
	return text, err
}

// runCommand opens what a turn needs and closes it again.
func runCommand(ctx context.Context, a *cli.App, f runFlags, text string) error {
	for _, r := range f.rules {
		if wrong := config.MeantPermission(r.Permission); wrong != "" {
			a.Remark("Warning: --%s %s: %s", r.Action, termtext.Plain(r.Permission), wrong)
		}
	}
	if a.Attach != "" {
		return runAttached(ctx, a, f, text)
	}
	if l, err := a.Config(); err == nil { // a broken file is told by whoever needs it
		a.WarnDistrust(l)
		a.WarnMeant(l)
	}
	switch {
	case f.replay != "":
		player, err := openPlayer(f.replay)
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
	_, err := session.WriteFile(f.record, func(w io.Writer) error {
		r := record.NewRecorder(w, nil)
		ran = runOn(ctx, a, f, text, r)
		return r.Close()
	})
	if ran != nil {
		return ran
	}
	return err
}

func runOn(ctx context.Context, a *cli.App, f runFlags, text string, wire http.RoundTripper) (err error) {
	setup, err := harness.Open(ctx, &a.Host, harness.Options{Wire: wire, Keyless: f.replay != "", Headless: isHeadless(a, f), Tracer: a.Tracer})
	if err != nil {
		return err
	}
	defer func() { err = cli.Closing(setup, err) }()
	if err := haveModel(ctx, a, setup, &f); err != nil {
		return err
	}
	f.judge = setup
	return whileReachable(ctx, a, f.port, setup, func() error { return runWith(ctx, a, setup.Engine, f, text) })
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
			if err := own.Limit(ctx, s.ID, f.limits); err != nil {
				return err
			}
		}
	}
	fresh := !f.next && !f.resume && f.session == "" || f.fork
	if fresh && f.format == "default" {
		noteLong(a, s.Directory)
	}
	r := &runner{App: a, flags: f, arguments: text, engine: e, session: s, fresh: fresh, began: a.Now()}
	if err := r.shared(ctx); err != nil {
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
		var rules lathe.Ruleset
		for _, name := range []string{"question", "plan_enter", "plan_exit"} {
			rules = append(rules, lathe.Rule{Permission: name, Pattern: "*", Action: lathe.Deny})
		}
		return e.Create(ctx, cli.Place(a), lathe.NewSession{Title: f.title, Rules: append(rules, sessionRules(f.rules)...)})
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
	cut, err := session.InterruptedOnes(ctx, e)
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

func runPrompt(a *cli.App, f runFlags, text string) (lathe.Prompt, error) {
	p := lathe.Prompt{Agent: f.agent, Variant: f.variant}
	if f.schema != "" {
		p.Format = formatOf(f.schema)
	}
	if f.model != "" {
		vendor, name, err := catalog.Split(f.model)
		if err != nil {
			return p, cli.Usagef("-m %s: %v", termtext.Plain(f.model), err)
		}
		p.Model = &lathe.ModelRef{Provider: vendor, Model: name}
	}
	for _, name := range f.files {
		part, err := attachment(a, name)
		if err != nil {
			return p, err
		}
		p.Parts = append(p.Parts, part)
	}
	if f.command == "" { // a command makes its own words
		p.Parts = append(p.Parts, lathe.Part{Body: &lathe.Text{Text: text}})
	}
	return p, nil
}

// attachment is a file of this machine as part of a prompt.
func attachment(a *cli.App, name string) (lathe.Part, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, name)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return lathe.Part{}, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return lathe.Part{}, lathe.Errorf(lathe.NotFound, "File not found: %s", termtext.Plain(name))
	}
	if err != nil {
		return lathe.Part{}, err
	}
	mime := "text/plain"
	switch {
	case info.IsDir():
		mime = "application/x-directory"
	case !info.Mode().IsRegular(): // <(…) of a shell, which can be read once and has no name later
		return lathe.Part{}, lathe.Errorf(lathe.Invalid, "%s is no file that stays: write it to one, or pipe it in: `… | lathe run WORDS`", termtext.Plain(name))
	default:
		if m, ok := media[strings.ToLower(filepath.Ext(path))]; ok {
			mime = m
		}
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if !strings.HasPrefix(u.Path, "/") { // a drive
		u.Path = "/" + u.Path
	}
	return lathe.Part{Body: &lathe.File{Mime: mime, URL: u.String(), Filename: filepath.Base(path)}}, nil
}

// media are the files that a model sees as they are; all others are texts.
var media = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".pdf": "application/pdf",
}

// longInstruction is from how many tokens on an instruction file is worth a word to its author.
const longInstruction = 2000

// noteLong tells the user of instruction files that are long: every request carries them, and
// models follow long ones less well.
func noteLong(a *cli.App, dir string) {
	l, err := a.In(dir).Config()
	if err != nil {
		return // whoever needs them says so
	}
	for _, i := range l.Instructions {
		if n := len(harness.ReadInstruction(i.Path)) * 10 / 36; i.Path != "" && n > longInstruction {
			a.Remark("Note: %s has about %s tokens, which every request carries. What a model can see for itself need not be in it.", termtext.Plain(i.Path), termtext.Count(n))
		}
	}
}
