package main

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
)

// permission answers a request: by the flag, by the person at the terminal, else with a refusal
// that lets the turn continue.
func (r *runner) permission(ctx context.Context, q lathe.PermissionRequest) {
	rule := r.ruled(ctx, q)
	switch {
	case rule == lathe.Deny:
		r.tell(r.engine.Reply(ctx, q.ID, lathe.Reject, "A rule of the user's settings forbids this."))
	case rule == lathe.Allow:
		r.tell(r.engine.Reply(ctx, q.ID, lathe.Once, ""))
	case r.flags.auto && q.Permission == "sandbox": // whoever does not look relies on it
		r.refused = true
		asked := sandboxAskOf(q)
		r.note("! %s: refused, --auto does not give that; a rule for the permission sandbox does", asked.what(q))
		r.tell(r.engine.Reply(ctx, q.ID, lathe.Unattended, asked.words()))
	case r.flags.auto:
		r.tell(r.engine.Reply(ctx, q.ID, lathe.Once, ""))
	case isTerminal(r.stdin) && isTerminal(r.stderr) && !r.isJSON():
		reply, words := r.ask(ctx, q)
		r.refused = r.refused || reply == lathe.Reject && words == ""
		r.tell(r.engine.Reply(ctx, q.ID, reply, words))
	default:
		r.refused = r.refused || q.Permission != "doom_loop"
		r.note("! %s %s needs a permission; refused%s", plain(q.Permission), plain(strings.Join(q.Patterns, " ")), wayOf(q.Permission))
		r.tell(r.engine.Reply(ctx, q.ID, lathe.Unattended, sandboxAskOf(q).words()))
	}
}

// wayOf says how a headless run is given a permission.
func wayOf(permission string) string {
	switch permission {
	case "sandbox":
		return " (a rule for the permission sandbox allows it)"
	case "doom_loop":
		return "; the call repeats itself"
	}
	return " (--auto allows it)"
}

// ask lets the person at the terminal decide. Other words are told to the model with a no.
func (r *runner) ask(ctx context.Context, q lathe.PermissionRequest) (lathe.Reply, string) {
	var about []string
	if line := sandboxAskOf(q).about(); line != "" {
		about = append(about, line)
	}
	for _, line := range unknownOf(q) {
		about = append(about, "  not known: "+plain(line))
	}
	about = append(about, "? "+plain(q.Permission)+" "+plain(strings.Join(q.Patterns, " ")))
	line, err := r.asked(ctx, about, "y once, a always ("+plain(strings.Join(q.Always, " "))+"), n no, or say why not:")
	if err != nil {
		return lathe.Reject, ""
	}
	switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
	case "y", "yes":
		return lathe.Once, ""
	case "a", "always":
		return lathe.Always, ""
	case "", "n", "no":
		return lathe.Reject, ""
	default:
		return lathe.Reject, answer
	}
}
