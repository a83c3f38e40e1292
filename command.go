package lathe

// Command is a slash command: a prompt with places for arguments.
type Command struct {
	Name, Description string
	Agent             string
	Model             string // as provider/model
	Source            CommandSource
	Template          string
	Subtask           Flag     // run by a subagent
	Hints             []string // the places of its arguments, in the order of their numbers
	Extra             Extra
}

// CommandSource says where a command comes from.
type CommandSource string

// The sources of commands.
const (
	CommandOwn   CommandSource = "command" // the program, settings, or a file
	CommandMCP   CommandSource = "mcp"
	CommandSkill CommandSource = "skill"
)

func (m *Command) fields(c *codec) {
	str(c, "name", &m.Name)
	optStr(c, "description", &m.Description)
	optStr(c, "agent", &m.Agent)
	optStr(c, "model", &m.Model)
	optStr(c, "source", &m.Source)
	str(c, "template", &m.Template)
	flag(c, "subtask", &m.Subtask)
	strList(c, "hints", &m.Hints)
	c.rest(&m.Extra)
}

// Skill is a text of instructions that a model fetches when it needs them.
type Skill struct {
	Name, Description string
	Location          string // of its SKILL.md, or "<built-in>"
	Content           string
	Extra             Extra
}

func (s *Skill) fields(c *codec) {
	str(c, "name", &s.Name)
	optStr(c, "description", &s.Description)
	str(c, "location", &s.Location)
	str(c, "content", &s.Content)
	c.rest(&s.Extra)
}
