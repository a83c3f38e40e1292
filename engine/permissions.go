package engine

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
)

// loadPermissions asks what the calls of the step may do.
func (s *stepRun) loadPermissions(ctx context.Context) (err error) {
	s.evaluator, err = s.permissions(ctx, s.engine.store, s.session)
	s.asks.evaluator, s.asks.approvals = s.evaluator, s.approvals
	return err
}

// approvalScope says which approvals to read.
type approvalScope int

const (
	allApprovals approvalScope = iota
	treeOnly                   // granted to the session and its subagents
)

// approvals reads what users have approved for the session.
func (s *stepInput) approvals(ctx context.Context, which approvalScope) (lathe.Ruleset, error) {
	if which == treeOnly {
		return s.engine.store.Approvals(ctx, "", "", s.session.ID)
	}
	return s.engine.store.Approvals(ctx, s.session.Project, s.session.Directory, s.session.ID)
}

// permissions gathers all that decides on permissions: the session's rules over its agent's,
// and those of its ancestors, which no child exceeds.
func (c *stepConfig) permissions(ctx context.Context, sessions *store.Store, session lathe.Session) (permission.Evaluator, error) {
	j := permission.Evaluator{Off: map[string]bool{}}
	var switches map[string]bool
	if said := c.user.Data.(*lathe.User); said.Tools != nil {
		_ = json.Unmarshal(said.Tools, &switches) // a malformed value switches nothing
	}
	for name, on := range switches {
		j.Off[name] = !on // a prompt takes away and never gives
	}
	j.Chain = []permission.Scope{{Name: c.agent.Name, Session: session.Rules, Agent: c.agent.permissions(), Listed: c.agent.Rules}}
	for id := session.Parent; id != ""; {
		parent, err := sessions.Session(ctx, id)
		if lathe.CodeOf(err) == lathe.NotFound {
			break
		}
		if err != nil {
			return j, err
		}
		if a, err := c.settings.agent(parent.Agent); err == nil {
			j.Chain = append(j.Chain, permission.Scope{Name: a.Name, Session: parent.Rules, Agent: a.permissions(), Listed: a.Rules})
		}
		id = parent.Parent
	}
	var err error
	j.Approved, err = sessions.Approvals(ctx, session.Project, session.Directory, session.ID)
	return j, err
}

// rulesSource is an [Environment] that reads the agents of a directory without starting anything. A
// rule change then applies from the next call, not only from the next step.
type rulesSource interface {
	Agents(at workspace.Place) ([]Agent, error)
}

// withAgentRules returns the evaluator with the agents' current rules. Switches stay.
func withAgentRules(j permission.Evaluator, agents []Agent) permission.Evaluator {
	j.Chain = slices.Clone(j.Chain)
	for i, b := range j.Chain {
		if at := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == b.Name }); at >= 0 {
			j.Chain[i].Agent, j.Chain[i].Listed = agents[at].permissions(), agents[at].Rules
		}
	}
	return j
}

// refreshRules loads rules and approvals that were changed during the step. An unreadable config changes nothing;
// without approvals lathe asks.
func (h *host) refreshRules(ctx context.Context) {
	h.evaluator.Approved, _ = h.step.approvals(ctx, allApprovals)
	source, ok := h.step.engine.env.(rulesSource)
	if !ok {
		return
	}
	if agents, err := source.Agents(h.step.place); err == nil {
		h.evaluator = withAgentRules(h.evaluator, agents)
	}
}
