package tui

import (
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/status"
	"github.com/lathe-agent/lathe/tui/style"
)

// statusBar is the area below the prompt, or in its place.
type statusBar struct {
	*services
	choice *choice
	drafts *drafts
	look   *look
	turns  *turns
}

func percent(tokens, window int64) int {
	if window <= 0 {
		return -1
	}
	return int(tokens * 100 / window)
}

// lines renders the status lines below the prompt.
func (sb *statusBar) lines(th *style.Theme, width int) []style.Line {
	v := status.Values{
		Agent: style.Capitalize(sb.choice.agent), AgentColor: sb.look.agentColor(sb.choice.agent), Shell: sb.drafts.edit.InShell(),
		Frame: sb.look.animationFrame(), Percent: -1, Mode: sb.state.Info.Mode, Confined: sb.state.Info.Confined, Auto: sb.o.Start.Auto, Lost: sb.state.ConnectionError != nil, Interrupt: sb.keys.Label(key.SessionInterrupt),
		Hints: []status.Hint{
			{Key: sb.keys.Label(key.CommandList), Label: "commands"}, {Key: sb.keys.Label(key.AgentCycle), Label: "agents"},
		},
	}
	if m, ok := sb.choice.model(); ok {
		v.Model, v.Provider, v.Variant = m.Name, m.Ref.Provider, sb.choice.variant()
		if len(m.Variants) > 0 {
			v.Hints = append(v.Hints, status.Hint{Key: sb.keys.Label(key.VariantCycle), Label: "variants"})
		}
	} else if !sb.state.Loaded {
		v.Model = "…"
	}
	if o := sb.state.Shown(); o != nil {
		tokens, window, cost := sb.state.Usage(o.Transcript)
		v.Tokens, v.Percent, v.Cost = tokens, percent(tokens, window), cost
		v.Queued = len(sb.state.Queued())
		if s := sb.state.Status(sb.state.Current); s.Type != lathe.Idle {
			v.Busy, v.Interrupting = true, sb.now().Sub(sb.turns.escapedAt) <= escapeTime
			if s.Type == lathe.Retrying {
				v.Retry = &status.Retry{Attempt: s.Attempt, Message: s.Message, At: time.UnixMilli(int64(s.Next))}
			}
		}
	}
	return status.View(th, v, width, sb.now())
}

// retryReason says above the prompt why a request is retried, if the status lines do not show it.
func (sb *statusBar) retryReason(th *style.Theme, width int, below []style.Line) style.Line {
	s := sb.state.Status(sb.state.Current)
	if s.Type != lathe.Retrying || sb.state.ConnectionError != nil || s.Message == "" {
		return nil
	}
	reason := style.Of(style.FirstLine(s.Message), style.Fg(th.Error))
	if strings.Contains(style.Text(below), reason.Text()) {
		return nil
	}
	return append(style.Plain("  "), reason...).Truncate(width)
}

// childValues collects the content of the subagent footer.
func (sb *statusBar) childValues() status.Child {
	t := sb.state.Shown().Transcript
	s := t.Session()
	tokens, window, cost := sb.state.Usage(t)
	c := status.Child{
		Agent: style.Capitalize(s.Agent), Title: s.Title, Color: sb.look.agentColor(s.Agent), Busy: sb.state.Busy(s.ID), Frame: sb.look.animationFrame(),
		Tokens: tokens, Percent: percent(tokens, window), Cost: cost,
		ParentKey: sb.keys.Label(key.SessionParent), PrevKey: sb.keys.Label(key.SessionChildCycleReverse), NextKey: sb.keys.Label(key.SessionChildCycle),
		Interrupt: sb.keys.Label(key.SessionInterrupt), Interrupting: sb.now().Sub(sb.turns.escapedAt) <= escapeTime,
	}
	for i, x := range sb.state.Children(s.Parent) {
		c.Of++
		if x.ID == s.ID {
			c.Number = i + 1
		}
	}
	return c
}
