package mini

import (
	"fmt"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
)

// choice is the selected agent, model and variant.
type choice struct {
	state    *state.State              // has the agents and models to choose from
	start    Start                     // of the command line, which wins over the session
	agent    string                    // of the next prompt
	models   map[string]lathe.ModelRef // chosen in this run, by agent
	variants map[string]string         // by the key of the model
	used     memory.Models             // in earlier runs, shared with the terminal UI
}

// ensureValid replaces an agent or a model of the command line that does not exist, and says so.
func (c *choice) ensureValid() (wrong []string) {
	if c.agent == "" {
		c.agent = c.start.Agent
	}
	if a := c.state.Agent(c.agent); a == nil || !state.IsSelectable(*a) {
		if c.agent != "" {
			wrong = append(wrong, fmt.Sprintf("Agent %q not found: /agents lists the agents", c.agent))
		}
		if i := slices.IndexFunc(c.state.Agents, state.IsSelectable); i >= 0 {
			c.agent = c.state.Agents[i].Name
		}
	}
	if _, known := c.state.FindModel(dialog.ParseModelID(c.start.Model)); c.start.Model != "" && !known {
		wrong = append(wrong, fmt.Sprintf("Model %q not found: /models lists the models", c.start.Model))
		c.start.Model = ""
	}
	return wrong
}

// follow takes over the agent and model of the last prompt of a session, unless the command line names others.
func (c *choice) follow(t *lathe.Transcript) {
	for i := t.Count() - 1; i >= 0; i-- {
		u, ok := t.View(i).Data().(*lathe.User)
		if !ok {
			continue
		}
		if c.start.Agent == "" && u.Agent != "" {
			c.agent = u.Agent
		}
		if c.start.Model == "" && u.Model.Model != "" {
			ref := u.Model
			ref.Variant = "" // kept apart, since it belongs to the model and not to the agent
			c.models[c.agent] = ref
			c.variants[state.ModelKey(ref)] = u.Model.Variant
		}
		return
	}
}

// model is the model of the next prompt: the one chosen for the agent in this run, the one of the command line, the
// agent's own, the one of the config, the last used, or the provider's default.
func (c *choice) model() (lathe.Model, bool) {
	var try []lathe.ModelRef
	if ref, ok := c.models[c.agent]; ok {
		try = append(try, ref)
	}
	try = append(try, dialog.ParseModelID(c.start.Model))
	if a := c.state.Agent(c.agent); a != nil && a.Model != nil {
		try = append(try, *a.Model)
	}
	if ref := c.state.Providers.Model; ref != nil {
		try = append(try, *ref)
	}
	try = append(try, c.used.Recent...)
	for _, pr := range c.state.Providers.Connected {
		try = append(try, lathe.ModelRef{Provider: pr.ID, Model: c.state.Providers.Default[pr.ID]})
	}
	for _, ref := range try {
		if m, ok := c.state.FindModel(ref); ok {
			return m, true
		}
	}
	for _, pr := range c.state.Providers.Connected {
		if len(pr.Models) > 0 {
			return pr.Models[0], true
		}
	}
	return lathe.Model{}, false
}

// ref is the reference of the model, nil without one.
func (c *choice) ref() *lathe.ModelRef {
	m, ok := c.model()
	if !ok {
		return nil
	}
	return &m.Ref
}

// variant is the reasoning level, "" for the default of the model.
func (c *choice) variant() string {
	m, ok := c.model()
	if !ok {
		return ""
	}
	v, chosen := c.variants[state.ModelKey(m.Ref)]
	if !chosen {
		v = c.used.Variant[state.ModelKey(m.Ref)]
	}
	if !slices.Contains(m.Variants, v) { // saved for a model that has changed
		return ""
	}
	return v
}
