package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/toast"
)

// choice is who is to answer: an agent, a model and how hard it thinks.
type choice struct {
	agent  string
	models map[string]lathe.ModelRef // chosen in this run, by agent
	vary   map[string]string         // the variant of a model, by its key; "" is the model's own
}

// settle makes the choice valid for what there is.
func (c *choice) settle(p *program) {
	if c.models == nil {
		c.models, c.vary = map[string]lathe.ModelRef{}, map[string]string{}
		c.agent = p.o.Start.Agent
	}
	if !slices.ContainsFunc(p.state.Agents, func(a lathe.Agent) bool { return a.Name == c.agent && isOffered(a) }) {
		for _, a := range p.state.Agents {
			if isOffered(a) {
				c.agent = a.Name
				break
			}
		}
	}
}

// follow takes over who answered last in a session.
func (c *choice) follow(p *program, t *lathe.Transcript) {
	c.settle(p)
	for i := t.Count() - 1; i >= 0; i-- {
		u, ok := t.Held(i).Said().(*lathe.User)
		if !ok {
			continue
		}
		if a := p.agent(u.Agent); a != nil && isOffered(*a) {
			c.agent = u.Agent
		}
		if _, known := p.findModel(u.Model); known && u.Model.Model != "" {
			ref := u.Model
			ref.Variant = ""
			c.models[c.agent] = ref
			c.vary[modelKey(ref)] = u.Model.Variant
		}
		return
	}
}

func (p *program) agent(name string) *lathe.Agent {
	for i := range p.state.Agents {
		if p.state.Agents[i].Name == name {
			return &p.state.Agents[i]
		}
	}
	return nil
}

func modelKey(ref lathe.ModelRef) string { return ref.Provider + "/" + ref.Model }

// parseModel reads provider/model.
func parseModel(s string) (ref lathe.ModelRef, ok bool) {
	ref.Provider, ref.Model, ok = strings.Cut(s, "/")
	return ref, ok && ref.Model != ""
}

// findModel looks a model up among those that can be used.
func (p *program) findModel(ref lathe.ModelRef) (host.Model, bool) {
	for _, pr := range p.state.Providers.Connected {
		if pr.ID != ref.Provider {
			continue
		}
		for _, m := range pr.Models {
			if m.Ref.Model == ref.Model {
				return m, true
			}
		}
	}
	return host.Model{}, false
}

// model is who answers the next prompt: what was chosen for the agent in this run, the agent's own, the one of
// the command line, of the settings, the last used, or the best there is.
func (p *program) model() (host.Model, bool) {
	var try []lathe.ModelRef
	if ref, ok := p.choice.models[p.choice.agent]; ok {
		try = append(try, ref)
	}
	if a := p.agent(p.choice.agent); a != nil && a.Model != nil {
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
		if m, ok := p.findModel(ref); ok {
			return m, true
		}
	}
	for _, pr := range p.state.Providers.Connected {
		if m, ok := p.findModel(lathe.ModelRef{Provider: pr.ID, Model: p.state.Providers.Default[pr.ID]}); ok {
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
	v, chosen := p.choice.vary[modelKey(m.Ref)]
	if !chosen {
		v = p.keptVariant(modelKey(m.Ref))
	}
	if !slices.Contains(m.Variants, v) {
		return ""
	}
	return v
}

func (p *program) modelName(ref lathe.ModelRef) string {
	if m, ok := p.findModel(ref); ok {
		return m.Name
	}
	return ref.Model
}

// cycleAgent goes to the next agent that people may talk to.
func (p *program) cycleAgent(step int) tea.Cmd {
	var names []string
	for _, a := range p.state.Agents {
		if isOffered(a) {
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
	among = slices.DeleteFunc(slices.Clone(among), func(r lathe.ModelRef) bool { _, ok := p.findModel(r); return !ok })
	if len(among) == 0 {
		return p.say(toast.Info, "No models to go through yet: choose one with "+p.keys.Label("model_list"))
	}
	now, _ := p.model()
	i := slices.IndexFunc(among, func(r lathe.ModelRef) bool { return modelKey(r) == modelKey(now.Ref) })
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
	p.choice.vary[modelKey(ref)] = v
	return p.keepVariant(ref, v)
}
