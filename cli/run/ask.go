package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// asker is an output with a person in front of it.
type asker interface {
	Ask(ctx context.Context, about []string, choices string) (string, error)
}

// permit answers a request: by the flag, by the person at the terminal, else with a refusal
// that lets the turn continue.
func (r *runner) permit(ctx context.Context, q lathe.PermissionRequest) {
	rule := r.ruled(ctx, q)
	person, canAsk := r.out.(asker)
	switch {
	case rule == lathe.Deny:
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Reject, "A rule of the user's settings forbids this."))
	case rule == lathe.Allow:
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Once, ""))
	case r.flags.auto && q.Permission == "sandbox": // whoever does not look relies on it
		r.turn.Record.Refused = true
		asked := turn.ParseSandboxRequest(q)
		r.note("! %s: refused, --auto does not give that; a rule for the permission sandbox does", asked.Subject(q))
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Unattended, asked.ModelMessage()))
	case r.flags.auto:
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Once, ""))
	case canAsk && cli.IsTerminal(r.Stdin) && cli.IsTerminal(r.Stderr):
		reply, words := r.ask(ctx, person, q)
		r.turn.Record.Refused = r.turn.Record.Refused || reply == lathe.Reject && words == ""
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, reply, words))
	default:
		r.turn.Record.Refused = r.turn.Record.Refused || q.Permission != "doom_loop"
		r.note("! %s %s needs a permission; refused%s", termtext.Plain(q.Permission), termtext.Plain(q.Summary()), r.wayOf(q))
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Unattended, turn.ParseSandboxRequest(q).ModelMessage()))
	}
}

// wayOf says how a headless run is given a permission.
func (r *runner) wayOf(q lathe.PermissionRequest) string {
	switch q.Permission {
	case "sandbox":
		return " (a rule for the permission sandbox allows it)"
	case "doom_loop":
		return "; the call repeats itself"
	case "bash":
		if s, ok := r.flags.judge.(*harness.Harness); ok && s.Confine.Kernel().Available(false) != nil {
			rule := "bash"
			if len(q.Always) > 0 {
				rule += ":" + q.Always[0]
			}
			return fmt.Sprintf(": this kernel has no sandbox for commands. Pass --yes, allow it with a rule (--allow %q), or see `lathe debug sandbox`", termtext.Plain(rule))
		}
	}
	return " (--yes allows it)"
}

// ask lets the person at the terminal decide. Other words are told to the model with a no.
func (r *runner) ask(ctx context.Context, person asker, q lathe.PermissionRequest) (lathe.Reply, string) {
	var about []string
	if line := turn.ParseSandboxRequest(q).Line(); line != "" {
		about = append(about, line)
	}
	for _, line := range unknownOf(q) {
		about = append(about, "  not known: "+termtext.Plain(line))
	}
	about = append(about, "? "+termtext.Plain(q.Permission)+" "+termtext.Plain(q.Summary()))
	choices := "y once, a always (" + termtext.Plain(strings.Join(q.Always, " ")) + "), n no, or say why not:"
	for {
		line, err := person.Ask(ctx, about, choices)
		if err != nil {
			return lathe.Reject, ""
		}
		// Only a line of one letter gives a permission. A word that means the same is asked about again.
		switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
		case "y":
			return lathe.Once, ""
		case "a":
			return lathe.Always, ""
		case "", "n", "no":
			return lathe.Reject, ""
		case "yes", "always":
			choices = "answer with one letter: y once, a always, n no, or say why not:"
		default:
			return lathe.Reject, answer
		}
	}
}

// unknownOf is what the text of a command does not tell, and why, one line each.
func unknownOf(q lathe.PermissionRequest) []string {
	var meta struct {
		Unknown []struct{ Text, Why string }
	}
	if json.Unmarshal(q.Metadata, &meta) != nil {
		return nil
	}
	var out []string
	for _, u := range meta.Unknown {
		out = append(out, u.Text+": "+u.Why)
	}
	return out
}
