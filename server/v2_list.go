package server

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// The lists of OpenCode's next API: the data of the classic routes in newer shapes. They
// use the same backends, so that both always agree.

func (a v2API) lists() []row {
	return []row{
		listed("agent", "List the agents, the default one first", a.listAgents),
		listed("command", "List the slash commands", a.listCommands),
		listed("skill", "List the skills, and which of them are slash commands", a.listSkills),
		listed("provider", "List the usable providers", a.listProviders),
		listed("model", "List the usable models, newest first", a.listModels),
		listed("integration", "List all providers with their login methods and connections", a.integrations),
		listed("reference", "List the folders in references of the config, without repositories", a.references),
	}
}

// locatedReply is a list and where it holds.
type locatedReply[T any] struct {
	Location location `json:"location"`
	Data     []T      `json:"data"`
}

// listed is the route of a list.
func listed[T any](name, summary string, list func(c *call, at workspace.Place) ([]T, error)) row {
	return answer(route("GET /api/"+name, "v2."+name+".list", "api", mayRead, summary, []failure{failsBad}), func(c *call, _, _ none) (locatedReply[T], error) {
		at, _, err := c.place()
		if err != nil {
			return locatedReply[T]{}, err
		}
		all, err := list(c, at)
		return locatedReply[T]{Location: locationOf(at), Data: append([]T{}, all...)}, err
	})
}

type (
	v2Agent struct {
		ID          string      `json:"id"`
		Model       *v2ModelRef `json:"model,omitempty"`
		Request     v2Request   `json:"request"`
		System      string      `json:"system,omitempty"`
		Description string      `json:"description,omitempty"`
		Mode        string      `json:"mode" enum:"subagent,primary,all"`
		Hidden      bool        `json:"hidden"`
		Color       string      `json:"color,omitempty"`
		Steps       int         `json:"steps,omitempty"`
		Permissions []v2Rule    `json:"permissions"`
	}
	v2ModelRef struct {
		ID       string `json:"id"`
		Provider string `json:"providerID"`
		Variant  string `json:"variant,omitempty"`
	}
	// v2Request are the additions to a model's requests, without headers that carry keys.
	v2Request struct {
		Headers map[string]string          `json:"headers"`
		Body    map[string]json.RawMessage `json:"body"`
	}
	v2Rule struct {
		Action   string `json:"action"`
		Resource string `json:"resource"`
		Effect   string `json:"effect" enum:"allow,deny,ask"`
	}
)

func (v2Agent) schemaName() string    { return "AgentV2Info" }
func (v2ModelRef) schemaName() string { return "ModelRef" }
func (v2Request) schemaName() string  { return "ProviderRequest" }
func (v2Rule) schemaName() string     { return "PermissionV2Rule" }

func (a v2API) listAgents(c *call, at workspace.Place) ([]v2Agent, error) {
	all, err := a.settings.Agents(c.Context(), at.Directory)
	out := make([]v2Agent, len(all))
	for i, one := range all {
		out[i] = v2AgentOf(one)
	}
	return out, err
}

// isColor reports whether the next API takes it for one: six hexadecimal digits, or a word.
func isColor(s string) bool {
	if digits, ok := strings.CutPrefix(s, "#"); ok {
		_, err := hex.DecodeString(digits)
		return err == nil && len(digits) == 6
	}
	return slices.Contains([]string{"primary", "secondary", "accent", "success", "warning", "error", "info"}, s)
}

func v2AgentOf(a lathe.Agent) v2Agent {
	out := v2Agent{
		ID: a.Name, Request: v2RequestOf(a), System: a.Prompt, Description: a.Description, Mode: string(a.Mode),
		Hidden: a.Hidden == lathe.Yes, Steps: max(a.Steps, 0), Permissions: make([]v2Rule, len(a.Rules)),
	}
	if a.Model != nil {
		out.Model = &v2ModelRef{ID: a.Model.Model, Provider: a.Model.Provider, Variant: a.Variant}
	}
	if isColor(a.Color) {
		out.Color = a.Color
	}
	for i, r := range a.Rules {
		out.Permissions[i] = v2Rule{Action: r.Permission, Resource: r.Pattern, Effect: string(r.Action)}
	}
	return out
}

// v2RequestOf has the options of an agent, and how its models are sampled.
func v2RequestOf(a lathe.Agent) v2Request {
	body := map[string]json.RawMessage{}
	if len(a.Options) > 0 {
		_ = json.Unmarshal(a.Options, &body) // an object, or the agent could not be read
	}
	for name, value := range map[string]*float64{"temperature": a.Temperature, "topP": a.TopP} {
		if value != nil {
			body[name], _ = json.Marshal(*value) // settings have no infinities
		}
	}
	return v2Request{Headers: map[string]string{}, Body: withoutKeys(body)}
}

// withoutKeys drops secret members.
func withoutKeys(m map[string]json.RawMessage) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(m))
	for name, value := range m {
		if len(value) == 0 || secretMember(name, value) {
			continue
		}
		if clean, err := scrubbed(value); err == nil {
			out[name] = clean
		}
	}
	return out
}

type (
	v2Command struct {
		Name        string      `json:"name"`
		Template    string      `json:"template"`
		Description string      `json:"description,omitempty"`
		Agent       string      `json:"agent,omitempty"`
		Model       *v2ModelRef `json:"model,omitempty"`
		Subtask     bool        `json:"subtask,omitempty"`
	}
	v2Skill struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Slash       bool   `json:"slash,omitempty"`
		Location    string `json:"location"`
		Content     string `json:"content"`
	}
)

func (v2Command) schemaName() string { return "CommandV2Info" }
func (v2Skill) schemaName() string   { return "SkillV2Info" }

func (a v2API) listCommands(c *call, at workspace.Place) ([]v2Command, error) {
	all, err := a.engine.Commands(c.Context(), at.Directory)
	out := make([]v2Command, len(all))
	for i, m := range all {
		out[i] = v2Command{Name: m.Name, Template: m.Template, Description: m.Description, Agent: m.Agent, Subtask: m.Subtask == lathe.Yes}
		if provider, model, ok := strings.Cut(m.Model, "/"); ok {
			out[i].Model = &v2ModelRef{ID: model, Provider: provider}
		}
	}
	return out, err
}

// v2Skills says of each skill whether people can call it: a command of their own with its name
// takes its place.
func (a v2API) listSkills(c *call, at workspace.Place) ([]v2Skill, error) {
	commands, err := a.engine.Commands(c.Context(), at.Directory)
	if err != nil {
		return nil, err
	}
	slash := map[string]bool{}
	for _, m := range commands {
		slash[m.Name] = m.Source == lathe.CommandSkill
	}
	all, err := a.engine.Skills(c.Context(), at.Directory)
	out := make([]v2Skill, len(all))
	for i, k := range all {
		out[i] = v2Skill{Name: k.Name, Description: k.Description, Slash: slash[k.Name], Location: k.Location, Content: k.Content}
	}
	return out, err
}

type (
	reference struct {
		Name        string          `json:"name"`
		Path        string          `json:"path"`
		Description string          `json:"description,omitempty"`
		Hidden      bool            `json:"hidden,omitempty"`
		Source      referenceSource `json:"source"`
	}
	referenceSource struct {
		Type        string `json:"type" enum:"local"`
		Path        string `json:"path"`
		Description string `json:"description,omitempty"`
		Hidden      bool   `json:"hidden,omitempty"`
	}
)

func (reference) schemaName() string       { return "ReferenceInfo" }
func (referenceSource) schemaName() string { return "ReferenceLocalSource" }

// references are the named folders of the config. Repositories are never fetched, so they have no
// folder.
func (a v2API) references(c *call, at workspace.Place) (out []reference, err error) {
	l, err := a.settings.Config(c.Context(), at)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(l.Config.References)) {
		r := l.Config.References[name]
		if r.Path == "" {
			continue
		}
		out = append(out, reference{
			Name: name, Path: r.Path, Description: r.Description, Hidden: r.Hidden,
			Source: referenceSource{Type: "local", Path: r.Path, Description: r.Description, Hidden: r.Hidden},
		})
	}
	return out, nil
}
