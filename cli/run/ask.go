package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// asker is an output that can ask the user.
type asker interface {
	Ask(ctx context.Context, about []string, choices string) (string, error)
}

// permit answers a permission request by flag or by asking the user. Without a user it refuses, and the turn continues.
func (r *runner) permit(ctx context.Context, q lathe.PermissionRequest) {
	if r.answered[q.ID] { // with another request of its call
		return
	}
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
		r.turn.Report(r.ask(ctx, person, r.group(ctx, q)))
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

// group returns a request with the others of the same call, which one answer answers. The command comes first.
func (r *runner) group(ctx context.Context, q lathe.PermissionRequest) []lathe.PermissionRequest {
	open, err := r.turn.Engine.Asks(ctx, lathe.Scope{Session: q.Session})
	at := slices.IndexFunc(open, func(f lathe.Fact) bool { return lathe.AskOf(f) == q.ID })
	if err != nil || at < 0 {
		return []lathe.PermissionRequest{q}
	}
	var out []lathe.PermissionRequest
	for _, f := range grant.Group(open[at:]) {
		x := f.(*lathe.PermissionAsked).PermissionRequest
		if rule := r.evaluate(ctx, x); rule == lathe.Allow || rule == lathe.Deny {
			continue // a rule of this run answers it
		}
		if out = append(out, x); r.answered == nil {
			r.answered = map[lathe.AskID]bool{}
		}
		r.answered[x.ID] = true
	}
	return out
}

// ask asks the user and sends the answer. Any other text is a refusal, sent to the model as the reason.
func (r *runner) ask(ctx context.Context, person asker, all []lathe.PermissionRequest) error {
	var about []string
	for _, q := range slices.Backward(all) { // the command stands last, before the choices
		about = append(about, aboutRequest(q)...)
	}
	session, always := savedBy(all, grant.ForSession), savedBy(all, usualPatterns)
	choices := askChoices(session, always)
	for {
		line, err := person.Ask(ctx, about, choices)
		if err != nil {
			return r.reject(ctx, all[0].ID, "")
		}
		// Only a single letter grants permission. For "yes" or "always" lathe asks again.
		switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
		case "y":
			return r.allow(ctx, all, "", nil)
		case "s":
			if session != nil {
				return r.allow(ctx, all, grant.Session, grant.ForSession)
			}
		case "a":
			if always != nil {
				return r.allow(ctx, all, grant.Project, usualPatterns)
			}
		case "", "n", "no":
			return r.reject(ctx, all[0].ID, "")
		case "yes", "always", "session":
		default:
			return r.reject(ctx, all[0].ID, answer)
		}
		choices = "answer with one letter: " + askChoices(session, always)
	}
}

// aboutRequest describes a request, the permission in its last line.
func aboutRequest(q lathe.PermissionRequest) (about []string) {
	if line := turn.ParseSandboxRequest(q).Line(); line != "" {
		about = append(about, line)
	}
	for _, line := range unknownOf(q) {
		about = append(about, "  unknown: "+termtext.Plain(line))
	}
	return append(about, "? "+termtext.Plain(q.Permission)+" "+termtext.Plain(q.Summary()))
}

// usualPatterns are those that "always" saves.
func usualPatterns(q lathe.PermissionRequest) []string {
	if all := grant.Proposals(q); len(all) > 0 {
		return all[0]
	}
	return nil
}

// savedBy are the patterns that an answer to all requests saves.
func savedBy(all []lathe.PermissionRequest, of func(lathe.PermissionRequest) []string) (out []string) {
	for _, q := range all {
		out = append(out, of(q)...)
	}
	return out
}

// allow allows requests once, or saves the patterns of those that can be saved.
func (r *runner) allow(ctx context.Context, all []lathe.PermissionRequest, scope grant.Scope, of func(lathe.PermissionRequest) []string) error {
	for _, q := range all {
		var err error
		if scope != "" && of(q) != nil {
			err = r.turn.Engine.Grant(ctx, q.ID, scope, of(q))
		} else {
			err = r.turn.Engine.Reply(ctx, q.ID, lathe.Once, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reject rejects a request. Without a reason the turn ends.
func (r *runner) reject(ctx context.Context, id lathe.AskID, reason string) error {
	r.turn.Record.Refused = r.turn.Record.Refused || reason == ""
	return r.turn.Engine.Reply(ctx, id, lathe.Reject, reason)
}

// askChoices are the answers, with the patterns that they save.
func askChoices(session, always []string) string {
	text := "y once, "
	if session != nil {
		text += "s session (" + termtext.Plain(strings.Join(session, " ")) + "), "
	}
	if always != nil {
		text += "a always (" + termtext.Plain(strings.Join(always, " ")) + "), "
	}
	return text + "n no, or type a reason:"
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
