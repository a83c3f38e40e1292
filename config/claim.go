package config

import "slices"

// claims are the names of agents and commands that the user's own settings have made. What
// such an agent is told, when it is used and what such a command says is the user's: an
// agent may have rights that no project may lend itself by giving it other words, or by
// making it the first choice.
type claims struct {
	agents, commands map[string]bool
	networks         map[string][]*node // what is said of sandbox.network; see claimNetworks
}

var (
	// agentRights make an agent the user's, as its words do; its model does not.
	agentRights = []string{"permission", "tools"}
	// agentWords are the keys of a user's agent that a project must be trusted to change.
	agentWords = []string{"prompt", "description", "mode", "steps", "maxSteps", "disable"}
	// commandWords are those of a user's command.
	commandWords = []string{"template", "agent", "subtask"}
)

// claimed collects the names that sources other than the project's have.
func claimed(sources []*source) claims {
	c := claims{map[string]bool{}, map[string]bool{}, map[string][]*node{}}
	for _, s := range sources {
		if s.layer == Project {
			continue
		}
		for _, key := range []string{"agent", "mode"} {
			claim(s.root.membersOf(key), slices.Concat(agentRights, agentWords), c.agents)
		}
		claim(s.root.membersOf("command"), commandWords, c.commands)
		c.claimNetworks(s.root)
	}
	return c
}

// claim notes the names under which one of the keys is said.
func claim(named []member, keys []string, to map[string]bool) {
	for _, m := range named {
		if slices.ContainsFunc(m.val.keys(), func(key string) bool { return slices.Contains(keys, key) }) {
			to[m.key] = true
		}
	}
}

// takes reports whether a value of a project, at a path, lays hands on something of the
// user's. To switch an agent off is a project's right.
func (c claims) takes(path []string, n *node) bool {
	switch {
	case c.widens(path, n):
		return true
	case len(path) == 1:
		return path[0] == "default_agent" && c.agents[n.text]
	case len(path) != 3:
		return false
	}
	switch name, key := path[1], path[2]; path[0] {
	case "agent", "mode":
		off := key == "disable" && n.text == "true"
		return c.agents[name] && slices.Contains(agentWords, key) && !off
	case "command":
		return c.commands[name] && slices.Contains(commandWords, key) || key == "agent" && c.agents[n.text]
	}
	return false
}
