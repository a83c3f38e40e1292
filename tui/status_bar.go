package tui

import (
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/status"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/waiting"
)

// statusBar is the area below the prompt, or in its place.
type statusBar struct {
	*services
	choice *choice
	drafts *drafts
	look   *look
	turns  *turns
}

// percent is the used part of the context window; -1 if the window is not known.
func percent(tokens, window int64) int {
	if window <= 0 {
		return -1
	}
	return int(tokens * 100 / window)
}

// values collects the content of the row above the prompt and the line below it.
func (sb *statusBar) values() status.Values {
	v := status.Values{
		Agent: style.Capitalize(sb.choice.agent), AgentColor: sb.look.agentColor(sb.choice.agent), Shell: sb.drafts.edit.InShell(),
		Frame: sb.look.animationFrame(), Percent: -1, Mode: sb.state.Info.Mode, Edits: sb.state.AcceptsEdits != "" && sb.state.AcceptsEdits == sb.state.Root(sb.state.Current).ID, Confined: sb.state.Info.Confined, Auto: sb.o.Start.Auto, Lost: sb.state.ConnectionError != nil, Interrupt: sb.keys.Label(key.SessionInterrupt),
		Hints: []status.Hint{
			{Key: sb.keys.Label(key.CommandList), Label: "commands"}, {Key: sb.keys.Label(key.AgentCycle), Label: "agents"},
		},
	}
	if mode, pending := sb.drafts.edit.VimMode(); mode != "" {
		v.Editor = strings.TrimSpace(string(mode) + " " + pending)
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
		for _, m := range sb.state.Queued() {
			if sb.state.Delivery(m.ID) == lathe.Steer {
				v.Steering++
			} else {
				v.Queued++
			}
		}
		if s := sb.state.Status(sb.state.Current); s.Type != lathe.Idle {
			v.Busy, v.Interrupting = true, sb.now().Sub(sb.turns.escapedAt) <= escapeTime
			v.Silence = sb.silence(o)
			if s.Type == lathe.Retrying {
				v.Retry = &status.Retry{Attempt: s.Attempt, Of: sb.state.Info.Limits.Retries, Message: s.Message, At: time.UnixMilli(int64(s.Next))}
			}
		}
	}
	return v
}

// silence says that the model sends nothing, if the session waits for nothing else.
func (sb *statusBar) silence(o *state.Open) string {
	if len(sb.state.Asks(o.ID)) > 0 || !waiting.ForModel(o.Transcript) {
		return ""
	}
	provider := ""
	if m, ok := sb.choice.model(); ok {
		provider = m.Ref.Provider
	}
	return waiting.Text(sb.clock.Silence(o.ID, sb.now()), sb.state.Info.Limits.Silence(provider))
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
	}
	if leave := sb.keys.Label(key.SessionInterrupt); leave != "" {
		c.ParentKey = leave
	}
	for i, x := range sb.state.Children(s.Parent) {
		c.Of++
		if x.ID == s.ID {
			c.Number = i + 1
		}
	}
	return c
}
