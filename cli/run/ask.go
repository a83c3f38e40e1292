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

// asker is an output that can ask the user.
type asker interface {
	Ask(ctx context.Context, about []string, choices string) (string, error)
}

// permit answers a permission request by flag or by asking the user. Without a user it refuses, and the turn continues.
func (r *runner) permit(ctx context.Context, q lathe.PermissionRequest) {
	rule := r.evaluate(ctx, q)
	person, canAsk := r.out.(asker)
	switch {
	case rule == lathe.Deny:
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Reject, "A rule in the user's config denies this."))
	case rule == lathe.Allow:
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Once, ""))
	case r.flags.auto && q.Permission == "sandbox": // unattended runs rely on the sandbox
		r.turn.Record.Refused = true
		asked := turn.ParseSandboxRequest(q)
		r.note("! %s: refused, because --auto does not cover it; allow it with a rule for the permission sandbox", asked.Subject(q))
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Unattended, asked.ModelMessage()))
	case r.flags.auto:
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Once, ""))
	case canAsk && cli.IsTerminal(r.Stdin) && cli.IsTerminal(r.Stderr):
		reply, words := r.ask(ctx, person, q)
		r.turn.Record.Refused = r.turn.Record.Refused || reply == lathe.Reject && words == ""
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, reply, words))
	default:
		r.turn.Record.Refused = r.turn.Record.Refused || q.Permission != "doom_loop"
		r.note("! %s %s needs permission: refused%s", termtext.Plain(q.Permission), termtext.Plain(q.Summary()), r.allowHint(q))
		r.turn.Report(r.turn.Engine.Reply(ctx, q.ID, lathe.Unattended, turn.ParseSandboxRequest(q).ModelMessage()))
	}
}

// allowHint explains how to allow the request in an unattended run.
func (r *runner) allowHint(q lathe.PermissionRequest) string {
	switch q.Permission {
	case "sandbox":
		return " (allow it with a rule for the permission sandbox)"
	case "doom_loop":
		return ", because the call repeats itself"
	case "bash":
		if s, ok := r.flags.environment.(*harness.Harness); ok && s.Confine.Kernel().Available(false) != nil {
			rule := "bash"
			if len(q.Always) > 0 {
				rule += ":" + q.Always[0]
			}
			return fmt.Sprintf(", because this kernel has no sandbox for commands. Pass --yes, allow it with a rule (--allow %q), or see `lathe debug sandbox`", termtext.Plain(rule))
		}
	}
	return " (--yes allows it)"
}

// ask asks the user. Any other text is a refusal, sent to the model as the reason.
func (r *runner) ask(ctx context.Context, person asker, q lathe.PermissionRequest) (lathe.Reply, string) {
	var about []string
	if line := turn.ParseSandboxRequest(q).Line(); line != "" {
		about = append(about, line)
	}
	for _, line := range unknownOf(q) {
		about = append(about, "  unknown: "+termtext.Plain(line))
	}
	about = append(about, "? "+termtext.Plain(q.Permission)+" "+termtext.Plain(q.Summary()))
	choices := "y once, a always (" + termtext.Plain(strings.Join(q.Always, " ")) + "), n no, or type a reason:"
	for {
		line, err := person.Ask(ctx, about, choices)
		if err != nil {
			return lathe.Reject, ""
		}
		// Only a single letter grants permission. For "yes" or "always" lathe asks again.
		switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
		case "y":
			return lathe.Once, ""
		case "a":
			return lathe.Always, ""
		case "", "n", "no":
			return lathe.Reject, ""
		case "yes", "always":
			choices = "answer with one letter: y once, a always, n no, or type a reason:"
		default:
			return lathe.Reject, answer
		}
	}
}

// unknownOf lists the parts of a command that cannot be known in advance, with the reason, one per line.
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
