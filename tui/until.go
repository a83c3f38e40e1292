package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/toast"
)

// setUntil notes the command that decides when the work of the next prompt is done.
func (p *prompt) setUntil(command string) tea.Cmd {
	switch command = strings.TrimSpace(command); command {
	case "":
		return p.notify(toast.Info, "Usage: /until COMMAND, such as /until make test; /until off")
	case "off":
		p.until = ""
		return p.notify(toast.Info, "Your next prompt is sent once")
	}
	p.until = command
	return p.notify(toast.Info, "Your next prompt is repeated with the output of this command until it passes: "+command)
}

// submitUntil sends a prompt, and after each turn the output of the command until it passes. The turns appear as those
// of any prompt. Interrupting one ends the run.
func (p *prompt) submitUntil(d editor.Draft, in lathe.Prompt) tea.Cmd {
	command := p.until
	p.until = ""
	in.Delivery = lathe.Queue
	var last api.UntilRound
	ended := func(err error) tea.Cmd {
		switch {
		case err != nil:
			return p.notify(toast.Warning, "The run until "+command+" passes has ended: "+errorText(err))
		case last.Verdict == api.UntilPassed:
			return p.notify(toast.Success, last.Outcome())
		default:
			return p.notify(toast.Warning, last.Outcome())
		}
	}
	id, agent := p.state.Current, p.choice.agent
	p.drafts.carryOver = id == ""
	return p.longCall("repeat the prompt", func(ctx context.Context, e Engine) (then, error) {
		u, ok := e.(api.Untils)
		if !ok {
			return p.drafts.restoreOnError(d), lathe.Errorf(lathe.Unavailable, "/until is not available here: this engine cannot run commands that decide")
		}
		if id == "" {
			s, err := e.Create(ctx, p.dir(), lathe.NewSession{Agent: agent})
			if err != nil {
				return p.drafts.restoreOnError(d), err
			}
			id = s.ID
			p.feed.put(lathe.Event{Session: s.ID, Fact: &lathe.TUISessionSelect{Session: s.ID}}, nil)
		}
		var err error
		last, err = u.RunUntil(ctx, id, api.UntilSpec{Command: command}, in, func(api.UntilRound) {})
		if lathe.CodeOf(err) == lathe.Invalid { // nothing was sent
			return p.drafts.restoreOnError(d), err
		}
		return func() tea.Cmd { return ended(err) }, nil
	})
}
