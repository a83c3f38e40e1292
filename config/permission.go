package config

import (
	"strings"

	"github.com/tailscale/hujson"

	"github.com/lathe-agent/lathe"
)

// Permission is a set of rules in the order the user wrote them.
type Permission lathe.Ruleset

// UnmarshalJSON keeps the order of the keys, which a map would lose.
func (p *Permission) UnmarshalJSON(data []byte) error {
	v, err := hujson.Parse(data)
	if err != nil {
		return err
	}
	n := fromHuJSON(v, &source{})
	*p = Permission{}
	for _, m := range spread(n).members {
		for _, rule := range m.val.members {
			if rule.val.kind != isString {
				return lathe.Errorf(lathe.Invalid, "permission.%s.%s must be an action, not %s", m.key, rule.key, rule.val.kind)
			}
			*p = append(*p, lathe.Rule{Permission: m.key, Pattern: rule.key, Action: lathe.Action(rule.val.text)})
		}
	}
	return nil
}

// spread gives rules the one form in which they merge: patterns below each permission. An
// action alone stands for the pattern * and for nothing else, so it replaces the patterns
// of sources below, while patterns of a source above add to it.
func spread(n *node) *node {
	if n.kind == isString {
		all := objectNode(n.at)
		all.put("*", n)
		n = all
	}
	for i, m := range n.members {
		if m.val.kind == isString {
			n.members[i].val = bareRule(m.val)
		}
	}
	return n
}

func bareRule(action *node) *node {
	rule := objectNode(action.at)
	rule.bare, rule.barrier = true, true
	rule.put("*", action)
	return rule
}

// toolRules turns the old switches of tools into rules. All that edit share one permission.
func toolRules(tools *node) *node {
	out := objectNode(tools.at)
	for _, m := range tools.members {
		name := m.key
		switch name {
		case "write", "edit", "patch", "multiedit":
			name = "edit"
		}
		action := lathe.Deny
		if m.val.text == "true" {
			action = lathe.Allow
		}
		out.put(name, bareRule(stringNode(string(action), m.val.at)))
	}
	return out
}

// expand puts the home folder into patterns that begin with ~ or $HOME.
func (p Permission) expand(home string) {
	if home == "" {
		return
	}
	for i := range p {
		pattern := p[i].Pattern
		switch {
		case pattern == "~":
			p[i].Pattern = home
		case strings.HasPrefix(pattern, "~/"):
			p[i].Pattern = home + pattern[1:]
		case strings.HasPrefix(pattern, "$HOME"):
			p[i].Pattern = home + pattern[len("$HOME"):]
		}
	}
}
