package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// choice is who is to answer: an agent, a model and how hard it thinks.
type choice struct {
	agent  string
	models map[string]lathe.ModelRef // chosen in this run, by agent
	vary   map[string]string         // the variant of a model, by its key; "" is the model's own
}

// settleChoice makes the choice valid for what there is.
func (p *program) settleChoice() {
	c := &p.choice
	if c.models == nil {
		c.models, c.vary = map[string]lathe.ModelRef{}, map[string]string{}
		c.agent = p.o.Start.Agent
	}
	if !slices.ContainsFunc(p.state.Agents, func(a lathe.Agent) bool { return a.Name == c.agent && state.IsOffered(a) }) {
		for _, a := range p.state.Agents {
			if state.IsOffered(a) {
				c.agent = a.Name
				break
			}
		}
	}
}

// followChoice takes over who answered last in a session.
func (p *program) followChoice(t *lathe.Transcript) {
	p.settleChoice()
	c := &p.choice
	for i := t.Count() - 1; i >= 0; i-- {
		u, ok := t.Held(i).Said().(*lathe.User)
		if !ok {
			continue
		}
		if a := p.state.Agent(u.Agent); a != nil && state.IsOffered(*a) {
			c.agent = u.Agent
		}
		if _, known := p.state.FindModel(u.Model); known && u.Model.Model != "" {
			ref := u.Model
			ref.Variant = ""
			c.models[c.agent] = ref
			c.vary[state.ModelKey(ref)] = u.Model.Variant
		}
		return
	}
}

// parseModel reads provider/model.
func parseModel(s string) (ref lathe.ModelRef, ok bool) {
	ref.Provider, ref.Model, ok = strings.Cut(s, "/")
	return ref, ok && ref.Model != ""
}

// model is who answers the next prompt: what was chosen for the agent in this run, the agent's own, the one of
// the command line, of the settings, the last used, or the best there is.
func (p *program) model() (host.Model, bool) {
	var try []lathe.ModelRef
	if ref, ok := p.choice.models[p.choice.agent]; ok {
		try = append(try, ref)
	}
	if a := p.state.Agent(p.choice.agent); a != nil && a.Model != nil {
		try = append(try, *a.Model)
	}
	if ref, ok := parseModel(p.o.Start.Model); ok {
		try = append(try, ref)
	}
	if ref := p.state.Providers.Model; ref != nil {
		try = append(try, *ref)
	}
	try = append(try, p.recentModels()...)
	for _, ref := range try {
		if m, ok := p.state.FindModel(ref); ok {
			return m, true
		}
	}
	for _, pr := range p.state.Providers.Connected {
		if m, ok := p.state.FindModel(lathe.ModelRef{Provider: pr.ID, Model: p.state.Providers.Default[pr.ID]}); ok {
			return m, true
		}
	}
	for _, pr := range p.state.Providers.Connected {
		if len(pr.Models) > 0 {
			return pr.Models[0], true
		}
	}
	return host.Model{}, false
}

// ref is the model as prompts name it, nil when there is none.
func (p *program) ref() *lathe.ModelRef {
	m, ok := p.model()
	if !ok {
		return nil
	}
	ref := m.Ref
	return &ref
}

// variant is how hard the model thinks, "" for as it does by itself.
func (p *program) variant() string {
	m, ok := p.model()
	if !ok {
		return ""
	}
	v, chosen := p.choice.vary[state.ModelKey(m.Ref)]
	if !chosen {
		v = p.keptVariant(state.ModelKey(m.Ref))
	}
	if !slices.Contains(m.Variants, v) {
		return ""
	}
	return v
}

// cycleAgent goes to the next agent that people may talk to.
func (p *program) cycleAgent(step int) tea.Cmd {
	var names []string
	for _, a := range p.state.Agents {
		if state.IsOffered(a) {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	i := slices.Index(names, p.choice.agent)
	p.choice.agent = names[(i+step+len(names))%len(names)]
	return nil
}

// cycleModel goes to the next of the models used lately.
func (p *program) cycleModel(among []lathe.ModelRef, step int) tea.Cmd {
	among = slices.DeleteFunc(slices.Clone(among), func(r lathe.ModelRef) bool { _, ok := p.state.FindModel(r); return !ok })
	if len(among) == 0 {
		return p.say(toast.Info, "No models to go through yet: choose one with "+p.keys.Label("model_list"))
	}
	now, _ := p.model()
	i := slices.IndexFunc(among, func(r lathe.ModelRef) bool { return state.ModelKey(r) == state.ModelKey(now.Ref) })
	p.choice.models[p.choice.agent] = among[(i+step+len(among))%len(among)]
	return nil
}

// cycleVariant goes to the next way to think of the model, its own included.
func (p *program) cycleVariant() tea.Cmd {
	m, ok := p.model()
	if !ok || len(m.Variants) == 0 {
		return p.say(toast.Info, "This model has no variants")
	}
	all := append([]string{""}, m.Variants...)
	i := slices.Index(all, p.variant())
	return p.chooseVariant(m.Ref, all[(i+1)%len(all)])
}

func (p *program) chooseVariant(ref lathe.ModelRef, v string) tea.Cmd {
	p.choice.vary[state.ModelKey(ref)] = v
	return p.keepVariant(ref, v)
}
