package engine

import (
	"context"
	_ "embed"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/workspace"
)

// systemPrompt holds the parts of the system prompt.
func (c *stepConfig) systemPrompt(session lathe.Session, at workspace.Place) prompt.System {
	set := c.settings
	return prompt.System{
		Session: session, Place: at, Agent: c.agent.Agent, Rules: c.agent.permissions(), Confined: c.agent.Confined,
		Model: c.model.Ref, ModelName: c.model.Name, Summary: c.summary,
		Settings: prompt.Settings{
			Instructions: set.Instructions, Skills: set.Skills, Tools: set.Tools,
			ShellName: set.ShellName, Temporary: set.Temporary, Headless: set.Headless,
		},
	}
}

// isFor reports whether a system prompt was made for what asks now.
func isFor(p *lathe.SystemPrompt, other lathe.SystemPrompt) bool {
	return p != nil && p.Agent == other.Agent && p.Model.Provider == other.Model.Provider && p.Model.Model == other.Model.Model &&
		p.Directory == other.Directory && p.Summary == other.Summary
}

// lastSummary is the newest message that summarizes those before it.
func lastSummary(messages []*history.Message) lathe.MessageID {
	for _, h := range slices.Backward(messages) {
		if a, ok := h.Data.(*lathe.Assistant); ok && a.Summary.On() && a.Error == nil && a.Completed != 0 {
			return h.ID
		}
	}
	return ""
}

// savedSystemPrompt is the system prompt that is stored with a session. It is read once: only the
// holder of the lease writes it.
type savedSystemPrompt struct {
	config *turnConfig
	saved  *lathe.SystemPrompt
	isRead bool
}

// load is the saved system prompt; nil if the session has none yet.
func (p *savedSystemPrompt) load(ctx context.Context) (*lathe.SystemPrompt, error) {
	if !p.isRead {
		saved, err := p.config.engine.store.SystemPrompt(ctx, p.config.log.lease.Session)
		if err != nil {
			return nil, writeError{err}
		}
		p.saved, p.isRead = saved, true
	}
	return p.saved, nil
}

// ensure makes sure that a session has a system prompt: a prompt that was never promoted has brought
// none, nor has one of an older version of the program. A model of the fallback leaves it as it is.
func (p *savedSystemPrompt) ensure(ctx context.Context, session lathe.Session, c *stepConfig, isFallback bool) (*lathe.SystemPrompt, error) {
	saved, err := p.load(ctx)
	if err != nil || saved != nil && isFallback || isFor(saved, c.systemPrompt(session, p.config.place).Key()) {
		return saved, err
	}
	fresh := c.systemPrompt(session, p.config.place).Build(p.config.engine.now())
	if err := p.config.log.write(ctx, &lathe.SystemPromptSaved{Session: session.ID, SystemPrompt: fresh}); err != nil {
		return nil, err
	}
	p.replace(fresh)
	return p.saved, nil
}

// replace notes what was written, and counts a change for which all that a provider has cached is lost.
func (p *savedSystemPrompt) replace(fresh lathe.SystemPrompt) {
	old := p.saved
	if p.saved = &fresh; old == nil || isFor(old, fresh) {
		return
	}
	cause := "directory"
	switch {
	case old.Agent != fresh.Agent:
		cause = "agent"
	case old.Model.Provider != fresh.Model.Provider || old.Model.Model != fresh.Model.Model:
		cause = "model"
	case old.Summary != fresh.Summary:
		cause = "compaction"
	}
	n := p.config.engine.telemetry.PrefixBreak()
	p.config.engine.log.Info("system prompt changed", "session", p.config.log.lease.Session, "cause", cause, "prefix_breaks", n)
}
