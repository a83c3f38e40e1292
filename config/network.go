package config

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// networkSpec finds most mistakes in host patterns early, with their line. sandbox/egress parses them.
func networkSpec() *spec {
	host := text("")
	host.match = regexp.MustCompile(`^(\*|(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9.]+(/[0-9]+)?|[0-9A-Fa-f:.]+(/[0-9]+)?|\[[0-9A-Fa-f:./]+\])(:[0-9]+)?$`)
	host.form = `a host like "example.com", "*.example.com:443", "10.0.0.0/8" or "localhost:5432"`
	return either("Network access of commands: true, false, or allowed hosts such as \"example.com\", \"*.example.com:443\", \"10.0.0.0/8\", \"localhost:5432\"; default: true",
		toggle("").riskyIf(equals("true")), list("", host))
}

// UnmarshalJSON reads true, false or a list of hosts.
func (n *Network) UnmarshalJSON(b []byte) error {
	if n.Hosts = nil; json.Unmarshal(b, &n.All) == nil {
		return nil
	}
	n.All = false
	return json.Unmarshal(b, &n.Hosts)
}

// MarshalJSON writes it as it is read.
func (n Network) MarshalJSON() ([]byte, error) {
	if len(n.Hosts) > 0 {
		return json.Marshal(n.Hosts)
	}
	return json.Marshal(n.All)
}

// widens reports whether the hosts that a project lists, at a path, are more than the user lets
// commands reach. That an agent's own count in place of all others is the user's word as well.
func (c ownedNames) widens(path []string, n *node) bool {
	i := len(path) - 2
	if i < 0 || n.kind != isArray || path[i] != "sandbox" || path[i+1] != "network" {
		return false
	}
	own := c.networks[""]
	if i == 2 && (path[0] == "agent" || path[0] == "mode") && c.networks[path[1]] != nil {
		own = c.networks[path[1]]
	}
	return slices.ContainsFunc(own, func(user *node) bool {
		if user.kind == isBool {
			return user.text == "false" && len(n.items) > 0
		}
		return slices.ContainsFunc(n.items, func(host *node) bool {
			return !slices.ContainsFunc(user.items, func(h *node) bool { return strings.EqualFold(h.text, host.text) })
		})
	})
}

// addNetworks records the user's network rules: under "" for all agents, else under the name of
// an agent.
func (c ownedNames) addNetworks(root *node) {
	add := func(name string, from *node) {
		if n := from.get("sandbox").get("network"); n != nil {
			c.networks[name] = append(c.networks[name], n)
		}
	}
	add("", root)
	for _, key := range []string{"agent", "mode"} {
		for _, m := range root.membersOf(key) {
			add(m.key, m.val)
		}
	}
}
