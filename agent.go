package lathe

import "encoding/json"

// Agent is a way to work: its prompt, its permissions, and the model and settings it runs with.
type Agent struct {
	Name, Description string
	Mode              AgentMode
	Native            Flag // built in
	Hidden            Flag // not offered to people
	TopP, Temperature *float64
	Color             string
	Rules             Ruleset // of settings and agent together, in their order
	Model             *ModelRef
	Variant           string
	Prompt            string
	Options           json.RawMessage // of the provider
	Steps             int             // at most so many a turn; 0 has no limit
	Extra             Extra
}

// AgentMode says who may call an agent.
type AgentMode string

// The modes of an agent.
const (
	Primary  AgentMode = "primary"  // people
	Subagent AgentMode = "subagent" // other agents
	AnyMode  AgentMode = "all"
)

func (a *Agent) fields(c *codec) {
	str(c, "name", &a.Name)
	optStr(c, "description", &a.Description)
	str(c, "mode", &a.Mode)
	flag(c, "native", &a.Native)
	flag(c, "hidden", &a.Hidden)
	optional(c, "topP", &a.TopP, number)
	optional(c, "temperature", &a.Temperature, number)
	optStr(c, "color", &a.Color)
	list(c, "permission", (*[]Rule)(&a.Rules))
	optObject(c, "model", &a.Model)
	optStr(c, "variant", &a.Variant)
	optStr(c, "prompt", &a.Prompt)
	rawObject(c, "options", &a.Options)
	optInt(c, "steps", &a.Steps)
	c.rest(&a.Extra)
}
