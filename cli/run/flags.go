package run

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// streamJSON is the value of --format that prints every event.
const streamJSON = "stream-json"

type runFlags struct {
	model, agent, variant string
	treeFlags
	command            string
	session, title     string
	next, fork, resume bool
	files              []string
	format             string
	record, replay     string
	thinking, auto     bool
	accessible         bool
	limits             lathe.Spending
	maxCost            float64
	rules              lathe.Ruleset      // --allow and --deny
	environment        engine.Environment // knows the deny rules of the config; nil with --attach
	schema             string             // --output-schema
	shareFlags
	interactive bool // -i
	port        int
}

// shareFlags publish the session on a server.
type shareFlags struct {
	share   bool
	expires string
}

// treeFlags choose where the session works: in worktrees, or in the checkout if none is set.
type treeFlags struct {
	models   []string   // of -m, for --tries
	until    string     // command that decides when the work is done
	repeats  api.Untils // runs it
	tries    triesFlags
	worktree string // name; see newTree
	treeDir  string // directory of the session in the worktree
}

// define adds the flags of `lathe run`, including OpenCode's names as hidden aliases.
func (f *runFlags) define(a *cli.App, cmd *cobra.Command) {
	s := cmd.Flags()
	s.StringArrayVarP(&f.models, "model", "m", nil, "`MODEL` to use: provider/model, or a part of its name such as sonnet")
	s.StringVar(&f.agent, "agent", "", "`AGENT` to use")
	s.StringVar(&f.command, "command", "", "slash command `NAME` to run; the prompt becomes its arguments")
	s.StringVar(&f.variant, "variant", "", "reasoning `LEVEL` of the model")
	s.BoolVarP(&f.next, "continue", "c", false, "continue the most recent session in this project")
	s.StringVarP(&f.session, "session", "s", "", "continue the session with this `ID`")
	s.BoolVar(&f.resume, "resume", false, "resume an interrupted turn: the latest in this project, or that of -s")
	s.BoolVar(&f.fork, "fork", false, "continue in a copy of the session")
	s.StringVar(&f.title, "title", "", "`TITLE` of a new session")
	s.StringArrayVarP(&f.files, "file", "f", nil, "`FILE` or folder to attach; repeatable")
	s.StringVar(&f.format, "format", "default", "output `FORMAT`: default (or text), json or stream-json")
	s.StringVar(&f.schema, "output-schema", "", "JSON `SCHEMA` of the answer: a file, or the schema itself")
	s.StringVar(&f.record, "record", "", "`FILE` to save the model traffic to")
	s.StringVar(&f.replay, "replay", "", "recorded `FILE` to answer from, without network")
	s.BoolVar(&f.thinking, "thinking", false, "show the model's reasoning")
	s.BoolVar(&f.accessible, "accessible", false, "print plain lines for screen readers on a terminal")
	s.StringVar(&f.worktree, "worktree", "", "work in a new worktree with this `NAME` (default: a free name)")
	s.Lookup("worktree").NoOptDefVal = chosenName
	s.IntVar(&f.tries.count, "tries", 0, "run the prompt `N` times in parallel, each in its own worktree; with --until, run its command at most N times")
	s.StringVar(&f.until, "until", "", "`COMMAND` that decides when the work is done: send its output back until it passes")
	s.StringVar(&f.tries.check, "check", "", "`COMMAND` that decides which of --tries wins")
	s.BoolVar(&f.tries.merge, "merge", false, "merge the winner of --tries into this checkout")
	s.BoolVar(&f.tries.json, "json", false, "print the results of --tries as JSON")
	a.AttachFlag(cmd)
	s.StringVarP(&a.Username, "username", "u", "", "`NAME` for the server of --attach (default LATHE_SERVER_USERNAME, or opencode)")
	s.StringVarP(&a.Password, "password", "p", "", "`PASSWORD` for the server, visible to other local users (default LATHE_SERVER_PASSWORD)")
	s.IntVar(&f.port, "port", 0, "local `PORT` on which other clients can follow the turn")
	s.BoolVarP(&f.interactive, "interactive", "i", false, "use lathe --mini instead")
	_ = s.MarkHidden("interactive") // it was defined just now
	s.BoolVar(&f.auto, "auto", false, "approve every permission request in this run")
	s.BoolVar(&f.auto, "yes", false, "alias for --auto")
	for _, old := range []string{"yolo", "dangerously-skip-permissions"} { // names that OpenCode users know
		s.BoolVar(&f.auto, old, false, "alias for --auto")
		_ = s.MarkHidden(old) // it was defined just now
	}
	s.Var(ruleFlag{&f.rules, lathe.Allow}, "allow", "`RULE` to allow, such as edit or 'bash:git *'; repeatable")
	s.Var(ruleFlag{&f.rules, lathe.Deny}, "deny", "`RULE` to deny, such as edit or 'bash:git *'; repeatable")
	s.StringVar(&f.expires, "expires", "", "`TIME` until the link of --share expires, such as 12h or 7d (default never)")
	s.BoolVar(&f.share, "share", false, "publish the session on the server of --attach and print the link")
	s.Float64Var(&f.maxCost, "max-cost", 0, "cost limit of the session and its subagents, in `DOLLARS`")
	s.Float64Var(&f.maxCost, "budget", 0, "alias for --max-cost (`DOLLARS`)")
	s.Int64Var(&f.limits.Tokens, "max-tokens", 0, "limit of `TOKENS` for the session and its subagents")
	s.Int64Var(&f.limits.Steps, "max-steps", 0, "limit of `STEPS` for the session and its subagents")
	s.DurationVar(&f.limits.Time, "max-time", 0, "working `TIME` limit of the session, such as 90s or 1h30m")
}

// check rejects contradictory flags before anything is opened.
func (f *runFlags) check(a *cli.App) error {
	if f.format == "text" {
		f.format = "default"
	}
	if n := len(f.models); n > 0 {
		f.model = f.models[n-1]
	}
	if err := f.checkTrees(a); err != nil {
		return err
	}
	switch {
	case f.record != "" && f.replay != "":
		return cli.Usagef("--record and --replay cannot be combined")
	case f.next && f.session != "":
		return cli.Usagef("-c and -s cannot be combined")
	case f.resume && (f.next || f.fork || len(f.files) > 0 || f.title != "" || f.model != "" || f.agent != "" || f.variant != ""):
		return cli.Usagef("--resume can be combined only with -s: the turn continues with its own model and agent")
	case f.resume && f.command != "":
		return cli.Usagef("--resume continues an interrupted turn and cannot be combined with --command")
	case f.fork && !f.next && f.session == "":
		return cli.Usagef("--fork needs -c or -s to select the session to copy")
	case f.format != "default" && f.format != "json" && f.format != streamJSON:
		return cli.Usagef("--format must be default, json or stream-json, not %s", termtext.Plain(f.format))
	case f.expires != "" && !f.share:
		return cli.Usagef("--expires needs --share")
	case f.share && a.Attach == "":
		return cli.Usagef("--share needs a server: start one with `lathe serve` and add --attach URL")
	}
	if err := f.checkReach(a); err != nil {
		return err
	}
	return f.checkSchema()
}

// rejectEmptyFlags refuses flags with an empty value. A script with an unset variable would otherwise run without a
// limit, in another session, or locally.
func rejectEmptyFlags(s *pflag.FlagSet) error {
	for _, name := range []string{"max-cost", "budget", "max-tokens", "max-steps", "max-time"} {
		var n float64
		switch {
		case !s.Changed(name):
			continue
		case name == "max-time":
			d, _ := s.GetDuration(name)
			n = d.Seconds()
		default: // pflag has parsed it as a number
			n, _ = strconv.ParseFloat(s.Lookup(name).Value.String(), 64)
		}
		if !(n > 0) || math.IsInf(n, 1) {
			return cli.Usagef("--%s %s: a limit must be greater than 0, such as --max-cost 1.50 or --max-time 10m; leave it out for no limit", name, s.Lookup(name).Value)
		}
	}
	if n, _ := s.GetInt("tries"); s.Changed("tries") && n < 1 {
		return cli.Usagef("--tries %d: want 1 or more; leave it out for the default", n)
	}
	return cli.RejectEmpty(s, "session", "attach", "command", "output-schema", "record", "replay", "until")
}

// checkReach refuses invalid combinations of the server flags.
func (f *runFlags) checkReach(a *cli.App) error {
	switch {
	case f.interactive:
		return cli.Usagef("-i is not a flag of run; `lathe --mini --prompt \"…\"` sends a prompt and then takes more")
	case a.Attach == "" && (a.Username != "" || a.Password != ""):
		return cli.Usagef("-u and -p need a server: add --attach URL")
	case a.Attach != "" && f.port != 0:
		return cli.Usagef("--port starts a local server and --attach uses a running one; choose one")
	case f.port < 0 || f.port > 65535:
		return cli.Usagef("--port %d: want 1 to 65535", f.port)
	}
	return nil
}
