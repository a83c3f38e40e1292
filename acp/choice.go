package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

// The IDs of config options.
const (
	optionModel      = "model"
	optionVariant    = "variant"
	optionAgent      = "agent"
	optionPermission = "permission_mode"
)

// permissionPrefix begins the modes that are permission modes. All other modes are agents.
const permissionPrefix = "permission:"

// defaultVariant is the value for no variant.
const defaultVariant = "default"

// permissionModes are the permission modes with their names and descriptions.
var permissionModes = []wire.SessionMode{
	{ID: wire.SessionModeID(lathe.AskMode), Name: "Ask", Description: "Ask before edits, commands and tools of others"},
	{ID: wire.SessionModeID(lathe.SandboxMode), Name: "Sandbox", Description: "Allow everything inside the project; commands are confined"},
	{ID: wire.SessionModeID(lathe.ReadOnlyMode), Name: "Read-only", Description: "Edit nothing; commands are confined to reading"},
}

// catalog has the agents, models and commands of a directory.
type catalog struct {
	agents    []lathe.Agent // those that people may choose, the default first
	providers []lathe.Provider
	fallback  *lathe.ModelRef // the model that is used without a choice, as far as it is known
	commands  []lathe.Command
	mode      lathe.Mode
}

// readCatalog reads the catalog of a directory. A directory without models still has sessions.
func (l *loop) readCatalog(ctx context.Context, dir string) (c catalog, err error) {
	agents, err := l.backend.Agents(ctx, dir)
	if err != nil {
		return c, err
	}
	for _, a := range agents {
		if a.Mode != lathe.Subagent && !a.Hidden.On() {
			c.agents = append(c.agents, a)
		}
	}
	if c.commands, err = l.backend.Commands(ctx, dir); err != nil {
		return c, err
	}
	info, err := l.backend.Info(ctx, dir)
	if err != nil {
		return c, err
	}
	c.mode = cmp.Or(info.Mode, lathe.SandboxMode)
	all, err := l.backend.Providers(ctx, dir)
	if err != nil {
		return c, err
	}
	c.providers = all.Connected
	if c.fallback = all.Model; c.fallback == nil && len(all.Connected) > 0 {
		p := all.Connected[0]
		if name := all.Default[p.ID]; name != "" {
			c.fallback = &lathe.ModelRef{Provider: p.ID, Model: name}
		}
	}
	return c, nil
}

// find returns a model that can be used; nil if there is none of that name.
func (c catalog) find(ref lathe.ModelRef) *lathe.Model {
	for _, p := range c.providers {
		for i := range p.Models {
			if m := &p.Models[i]; m.Ref.Provider == ref.Provider && m.Ref.Model == ref.Model {
				return m
			}
		}
	}
	return nil
}

// window is the size of a model's context in tokens, 0 if it is not known.
func (c catalog) window(ref lathe.ModelRef) int {
	if m := c.find(ref); m != nil {
		return m.Context
	}
	return 0
}

// agent returns an agent that people may choose; nil if there is none of that name.
func (c catalog) agent(name string) *lathe.Agent {
	i := slices.IndexFunc(c.agents, func(a lathe.Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &c.agents[i]
}

// choice is what the next prompt runs with.
type choice struct {
	agent  string
	model  lathe.ModelRef
	chosen bool // the user chose the model; otherwise the engine does
}

// initial is the choice of a session: what it used last, or the defaults.
func (c catalog) initial(rec lathe.Session) choice {
	out := choice{agent: rec.Agent}
	if c.agent(out.agent) == nil && len(c.agents) > 0 {
		out.agent = c.agents[0].Name
	}
	switch a := c.agent(out.agent); {
	case rec.Model != nil:
		out.model = lathe.ModelRef{Provider: rec.Model.Provider, Model: rec.Model.ID, Variant: strings.TrimPrefix(rec.Model.Variant, defaultVariant)}
	case a != nil && a.Model != nil:
		out.model = lathe.ModelRef{Provider: a.Model.Provider, Model: a.Model.Model, Variant: a.Variant}
	case c.fallback != nil:
		out.model = *c.fallback
	}
	return out
}

// modes are the agents, and the permission modes behind them.
func (s *session) modes() *wire.SessionModeState {
	out := &wire.SessionModeState{CurrentModeID: wire.SessionModeID(s.choice.agent), AvailableModes: []wire.SessionMode{}}
	for _, a := range s.catalog.agents {
		out.AvailableModes = append(out.AvailableModes, wire.SessionMode{ID: wire.SessionModeID(a.Name), Name: title(a.Name), Description: a.Description})
	}
	for _, m := range permissionModes {
		out.AvailableModes = append(out.AvailableModes, wire.SessionMode{ID: permissionPrefix + m.ID, Name: "Permissions: " + m.Name, Description: m.Description})
	}
	return out
}

// title writes the name of an agent or level as a label. Names are in lower case and have no spaces.
func title(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// configOptions are the options of the session with their present values.
func (s *session) configOptions() []wire.SessionConfigOption {
	out := []wire.SessionConfigOption{}
	if ref := s.choice.model; ref.Model != "" {
		out = append(out, option(optionModel, "Model", "", wire.SessionConfigOptionCategoryModel, modelID(ref), s.modelGroups()))
		if variants := s.variants(); len(variants) > 0 {
			out = append(out, option(optionVariant, "Reasoning", "How much the model thinks before it answers", wire.SessionConfigOptionCategoryThoughtLevel,
				cmp.Or(ref.Variant, defaultVariant), variants))
		}
	}
	var agents []wire.SessionConfigSelectOption
	for _, a := range s.catalog.agents {
		agents = append(agents, wire.SessionConfigSelectOption{Value: wire.SessionConfigValueID(a.Name), Name: title(a.Name), Description: a.Description})
	}
	if len(agents) > 0 {
		out = append(out, option(optionAgent, "Agent", "", wire.SessionConfigOptionCategoryMode, s.choice.agent, agents))
	}
	var modes []wire.SessionConfigSelectOption
	for _, m := range permissionModes {
		modes = append(modes, wire.SessionConfigSelectOption{Value: wire.SessionConfigValueID(m.ID), Name: m.Name, Description: m.Description})
	}
	return append(out, option(optionPermission, "Permissions", "Applies to all of your sessions", "_permission", string(s.catalog.mode), modes))
}

// option is a list to choose from. The values are options or groups of them.
func option(id, name, about string, category wire.SessionConfigOptionCategory, current string, values any) wire.SessionConfigOption {
	data, _ := json.Marshal(values) // structs of strings
	return wire.SessionConfigOption{
		ID: wire.SessionConfigID(id), Name: name, Description: about, Category: category,
		Select: &wire.SessionConfigSelect{CurrentValue: wire.SessionConfigValueID(current), Options: data},
	}
}

// modelID names a model as the config does, without its variant, which is an option of its own.
func modelID(ref lathe.ModelRef) string { return ref.Provider + "/" + ref.Model }

// modelGroups are the models by provider. A model that is no longer offered but in use is among them.
func (s *session) modelGroups() []wire.SessionConfigSelectGroup {
	groups := []wire.SessionConfigSelectGroup{}
	for _, p := range s.catalog.providers {
		g := wire.SessionConfigSelectGroup{Group: wire.SessionConfigGroupID(p.ID), Name: cmp.Or(p.Name, p.ID), Options: []wire.SessionConfigSelectOption{}}
		for _, m := range p.Models {
			g.Options = append(g.Options, wire.SessionConfigSelectOption{Value: wire.SessionConfigValueID(modelID(m.Ref)), Name: cmp.Or(m.Name, m.Ref.Model)})
		}
		if len(g.Options) > 0 {
			groups = append(groups, g)
		}
	}
	if ref := s.choice.model; s.catalog.find(ref) == nil {
		groups = append(groups, wire.SessionConfigSelectGroup{
			Group: wire.SessionConfigGroupID("_" + ref.Provider), Name: ref.Provider,
			Options: []wire.SessionConfigSelectOption{{Value: wire.SessionConfigValueID(modelID(ref)), Name: ref.Model}},
		})
	}
	return groups
}

// variants are the reasoning levels of the chosen model.
func (s *session) variants() (out []wire.SessionConfigSelectOption) {
	m := s.catalog.find(s.choice.model)
	if m == nil || len(m.Variants) == 0 {
		return nil
	}
	out = append(out, wire.SessionConfigSelectOption{Value: defaultVariant, Name: "Default"})
	for _, name := range m.Variants {
		if name != defaultVariant {
			out = append(out, wire.SessionConfigSelectOption{Value: wire.SessionConfigValueID(name), Name: title(name)})
		}
	}
	return out
}

// setMode chooses an agent or a permission mode.
func (s *server) setMode(ctx context.Context, p wire.SetSessionModeRequest) (empty, error) {
	l, err := s.open()
	if err != nil {
		return empty{}, err
	}
	if name, ok := strings.CutPrefix(string(p.ModeID), permissionPrefix); ok {
		return empty{}, l.setPermissionMode(ctx, p.SessionID, name)
	}
	return empty{}, l.with(ctx, p.SessionID, func(s *session) error { return s.setAgent(string(p.ModeID)) })
}

// setAgent chooses the agent of the next prompts. An agent with a model of its own brings it, unless the user chose one.
func (s *session) setAgent(name string) error {
	a := s.catalog.agent(name)
	if a == nil {
		return invalidf("unknown mode %q; use one of the available modes", oneLine(name, 60))
	}
	was := s.choice
	s.choice.agent = name
	if a.Model != nil && !s.choice.chosen {
		s.choice.model = lathe.ModelRef{Provider: a.Model.Provider, Model: a.Model.Model, Variant: a.Variant}
	}
	s.tellChoice(was)
	return nil
}

// tellChoice sends what changed in the choice.
func (s *session) tellChoice(was choice) {
	if s.isLoading {
		return
	}
	if s.choice.agent != was.agent {
		s.send(wire.SessionUpdate{CurrentModeUpdate: &wire.CurrentModeUpdate{CurrentModeID: wire.SessionModeID(s.choice.agent)}})
	}
	if s.choice.agent != was.agent || modelID(s.choice.model) != modelID(was.model) || s.choice.model.Variant != was.model.Variant {
		s.send(wire.SessionUpdate{ConfigOptionUpdate: &wire.ConfigOptionUpdate{ConfigOptions: s.configOptions()}})
	}
}

// setPermissionMode changes the permission mode, which all sessions of the user share.
func (l *loop) setPermissionMode(ctx context.Context, id wire.SessionID, name string) error {
	if !slices.ContainsFunc(permissionModes, func(m wire.SessionMode) bool { return string(m.ID) == name }) {
		return invalidf("unknown permission mode %q; use ask, sandbox or read-only", oneLine(name, 60))
	}
	dir := ""
	if err := l.with(ctx, id, func(s *session) error { dir = s.dir; return nil }); err != nil {
		return err
	}
	is, err := l.backend.SetMode(ctx, dir, lathe.Mode(name))
	if err != nil {
		return err
	}
	return l.run(ctx, func() {
		for _, s := range l.sessions {
			if s.dir == dir {
				s.catalog.mode = is
				s.send(wire.SessionUpdate{ConfigOptionUpdate: &wire.ConfigOptionUpdate{ConfigOptions: s.configOptions()}})
			}
		}
	})
}

// setConfigOption changes one option and returns all, since a model decides which variants there are.
func (s *server) setConfigOption(ctx context.Context, p wire.SetSessionConfigOptionRequest) (out wire.SetSessionConfigOptionResponse, err error) {
	l, err := s.open()
	if err != nil {
		return out, err
	}
	var value string
	if err := json.Unmarshal(p.Value, &value); err != nil {
		return out, invalidf("the value of option %q must be a string", oneLine(string(p.ConfigID), 60))
	}
	if p.ConfigID == optionPermission {
		if err := l.setPermissionMode(ctx, p.SessionID, value); err != nil {
			return out, err
		}
		value = ""
	}
	err = l.with(ctx, p.SessionID, func(s *session) error {
		if err := s.setOption(string(p.ConfigID), value); err != nil {
			return err
		}
		out.ConfigOptions = s.configOptions()
		return nil
	})
	return out, err
}

// setOption changes one option. Values that were not offered are refused, since the engine would only notice them with the
// next prompt.
func (s *session) setOption(id, value string) error {
	was := s.choice
	switch id {
	case optionPermission: // is set
	case optionAgent:
		return s.setAgent(value)
	case optionModel:
		provider, name, _ := strings.Cut(value, "/")
		ref := lathe.ModelRef{Provider: provider, Model: name}
		if s.catalog.find(ref) == nil {
			return invalidf("unknown model %q; use one of the values of the option", oneLine(value, 100))
		}
		s.choice.model, s.choice.chosen = ref, true
	case optionVariant:
		if !slices.ContainsFunc(s.variants(), func(o wire.SessionConfigSelectOption) bool { return string(o.Value) == value }) {
			return invalidf("unknown variant %q; use one of the values of the option", oneLine(value, 60))
		}
		if s.choice.model.Variant = value; value == defaultVariant {
			s.choice.model.Variant = ""
		}
		s.choice.chosen = true
	default:
		return invalidf("unknown option %q", oneLine(id, 60))
	}
	s.tellChoice(was)
	return nil
}
