package tui

import (
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/status"
	"github.com/lathe-agent/lathe/tui/style"
)

func percent(tokens, window int64) int {
	if window <= 0 {
		return -1
	}
	return int(tokens * 100 / window)
}

// statusLines are what stands below the prompt.
func (p *program) statusLines(th *style.Theme, width int) []style.Line {
	v := status.Values{
		Agent: style.Capital(p.choice.agent), AgentColor: p.agentColor(p.choice.agent), Shell: p.edit.InShell(),
		Frame: p.motion(), Percent: -1, Mode: p.state.Info.Mode, Confined: p.state.Info.Confined, Auto: p.o.Start.Auto, Lost: p.state.Lost != nil, Interrupt: p.keys.Label(key.SessionInterrupt),
		Hints: []status.Hint{
			{Key: p.keys.Label(key.CommandList), Does: "commands"}, {Key: p.keys.Label(key.AgentCycle), Does: "agents"},
		},
	}
	if m, ok := p.model(); ok {
		v.Model, v.Provider, v.Variant = m.Name, m.Ref.Provider, p.variant()
		if len(m.Variants) > 0 {
			v.Hints = append(v.Hints, status.Hint{Key: p.keys.Label(key.VariantCycle), Does: "variants"})
		}
	} else if !p.state.Loaded {
		v.Model = "…"
	}
	if o := p.state.Shown(); o != nil {
		tokens, window, cost := p.state.Usage(o.Transcript)
		v.Tokens, v.Percent, v.Cost = tokens, percent(tokens, window), cost
		v.Queued = len(p.state.Queued())
		if s := p.state.Status(p.state.Current); s.Type != lathe.Idle {
			v.Busy, v.Interrupting = true, p.now().Sub(p.interrupt) <= escapeTime
			if s.Type == lathe.Retrying {
				v.Retry = &status.Retry{Attempt: s.Attempt, Message: s.Message, At: time.UnixMilli(int64(s.Next))}
			}
		}
	}
	return status.View(th, v, width, p.now())
}

// retryReason says above the prompt why an answer is tried again, where the lines below it had no room for that.
func (p *program) retryReason(th *style.Theme, width int, below []style.Line) style.Line {
	s := p.state.Status(p.state.Current)
	if s.Type != lathe.Retrying || p.state.Lost != nil || s.Message == "" {
		return nil
	}
	reason := style.Of(style.FirstLine(s.Message), style.Fg(th.Error))
	if strings.Contains(style.Text(below), reason.Text()) {
		return nil
	}
	return append(style.Plain("  "), reason...).Truncate(width)
}

// motion is the frame of what moves, below 0 where nothing is to.
func (p *program) motion() int {
	if !p.kv.Animations {
		return -1
	}
	return p.beat
}

// childFooter stands in the place of the prompt in a session that works for another.
func (p *program) childFooter(th *style.Theme, width int) []style.Line {
	return status.Footer(th, p.childValues(), width)
}

func (p *program) childValues() status.Child {
	t := p.state.Shown().Transcript
	s := t.Session()
	tokens, window, cost := p.state.Usage(t)
	c := status.Child{
		Agent: style.Capital(s.Agent), Title: s.Title, Color: p.agentColor(s.Agent), Busy: p.state.Busy(s.ID), Frame: p.motion(),
		Tokens: tokens, Percent: percent(tokens, window), Cost: cost,
		ParentKey: p.keys.Label(key.SessionParent), PrevKey: p.keys.Label(key.SessionChildCycleReverse), NextKey: p.keys.Label(key.SessionChildCycle),
		Interrupt: p.keys.Label(key.SessionInterrupt), Interrupting: p.now().Sub(p.interrupt) <= escapeTime,
	}
	for i, x := range p.state.Children(s.Parent) {
		c.Of++
		if x.ID == s.ID {
			c.Number = i + 1
		}
	}
	return c
}
