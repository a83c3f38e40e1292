package config

import "slices"

// ownedNames are the agents and commands that the user's own config defines. Their prompts and
// templates belong to the user: such an agent may have permissions, which no project may borrow by
// changing its prompt or by making it the default.
type ownedNames struct {
	agents, commands map[string]bool
	networks         map[string][]*node // values of sandbox.network; see claimNetworks
}

var (
	// agentRights make an agent the user's, as agentWords do. Its model does not.
	agentRights = []string{"permission", "tools"}
	// agentWords are the keys of a user's agent that a project must be trusted to change.
	agentWords = []string{"prompt", "description", "mode", "steps", "maxSteps", "disable"}
	// commandWords are those of a user's command.
	commandWords = []string{"template", "agent", "subtask"}
)

// collectOwned collects the names that sources other than the project's have.
func collectOwned(sources []*source) ownedNames {
	c := ownedNames{map[string]bool{}, map[string]bool{}, map[string][]*node{}}
	for _, s := range sources {
		if s.layer == Project {
			continue
		}
		for _, key := range []string{"agent", "mode"} {
			addOwned(s.root.membersOf(key), slices.Concat(agentRights, agentWords), c.agents)
		}
		addOwned(s.root.membersOf("command"), commandWords, c.commands)
		c.addNetworks(s.root)
	}
	return c
}

// addOwned records the names under which one of the keys is set.
func addOwned(named []member, keys []string, to map[string]bool) {
	for _, m := range named {
		if slices.ContainsFunc(m.val.keys(), func(key string) bool { return slices.Contains(keys, key) }) {
			to[m.key] = true
		}
	}
}

// overrides reports whether a value of a project, at a path, lays hands on something of the
// user's. To switch an agent off is a project's right.
func (c ownedNames) overrides(path []string, n *node) bool {
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
