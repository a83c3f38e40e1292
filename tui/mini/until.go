package mini

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/editor"
)

// setUntil notes the command that decides when the work of the next prompt is done.
func (p sender) setUntil(command string) {
	if p.until = strings.TrimSpace(command); p.until == "off" {
		p.until = ""
		p.face.note("Your next prompt is sent once")
		return
	}
	p.face.note("Your next prompt is repeated with the output of this command until it passes: " + p.until)
}

// submitUntil sends a prompt, and after each turn the output of the command until it passes. Interrupting a turn ends
// the run.
func (p sender) submitUntil(in lathe.Prompt, d editor.Draft) {
	command := p.until
	p.until = ""
	in.Delivery = lathe.Queue
	conversation(p).inSession("repeat the prompt", func(ctx context.Context, e Engine, id lathe.SessionID) (func(), error) {
		u, ok := e.(api.Untils)
		if !ok {
			return nil, lathe.Errorf(lathe.Unavailable, "/until is not available here")
		}
		last, err := u.RunUntil(ctx, id, api.UntilSpec{Command: command}, in, func(api.UntilRound) {})
		switch {
		case lathe.CodeOf(err) == lathe.Invalid: // nothing was sent
			return nil, err
		case err != nil:
			return func() { p.face.note("The run until " + command + " passes has ended: " + errorText(err)) }, nil
		}
		return func() { p.face.note(last.Outcome()) }, nil
	}, p.restore(d))
}
