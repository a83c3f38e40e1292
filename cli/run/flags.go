package run

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// streamJSON is the format that prints every event.
const streamJSON = "stream-json"

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
	rules                 lathe.Ruleset      // --allow and --deny
	judge                 engine.Environment // knows what the settings deny; nil with --attach
	schema                string             // --output-schema
	share                 bool
	expires               string
	interactive           bool // -i
	port                  int
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
	s.IntVar(&f.port, "port", 0, "local `PORT` where other clients can follow the run")
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
		return cli.Usagef("--resume continues an interrupted turn and cannot be combined with --command")
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

// checkReach refuses what does not go together of the flags for servers.
func (f *runFlags) checkReach(a *cli.App) error {
	switch {
	case f.interactive:
		return cli.Usagef("-i comes with the small screen of lines (--mini), which comes later; until then `lathe run` asks what it needs, and `lathe run -c` goes on")
	case a.Attach == "" && (a.Username != "" || a.Password != ""):
		return cli.Usagef("-u and -p are for a server: add --attach URL")
	case a.Attach != "" && f.port != 0:
		return cli.Usagef("--port is for a server here, and --attach uses one that runs; choose one of them")
	case f.port < 0 || f.port > 65535:
		return cli.Usagef("--port %d: want 1 to 65535", f.port)
	}
	return nil
}
