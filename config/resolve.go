package config

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/lathe-agent/lathe"
)

// userConfig has the values of the user and the administrator that no project may change.
type userConfig struct {
	PermissionMode string     `json:"permission_mode"`
	Permission     Permission `json:"permission"`
	Agents         map[string]struct {
		Permission Permission `json:"permission"`
	} `json:"agent"`
	Skills struct {
		Paths []string `json:"paths"`
	} `json:"skills"`
	Commands map[string]struct {
		Template string `json:"template"`
	} `json:"command"`
}

// finish merges the remaining sources and decodes them.
func (l *loading) finish() error {
	at := location{&source{}, 0}
	all, user, oldUI, ui := objectNode(at), objectNode(at), objectNode(at), objectNode(at)
	raw := all // as long as all keys are known
	size := 0
	l.limitHooks()
	for _, s := range l.sources {
		size += len(s.text)
		l.out.Sources = append(l.out.Sources, Source{Name: s.name, Layer: s.layer, Keys: s.root.keys()})
		s.normalize(l.Home)
		known := onlyKnown(s.table, s.root)
		if s.table == tuiTable() {
			overlay(ui, known, concatenated)
			continue
		}
		if raw == all && known != s.root {
			raw = all.clone()
		}
		if raw != all {
			overlay(raw, s.root, concatenated)
		}
		overlay(oldUI, oldTUI(known), concatenated)
		overlay(all, known, concatenated)
		if s.layer != Project {
			overlay(user, known, concatenated)
		}
	}
	rewriteOldKeys(user)
	for _, root := range slices.Compact([]*node{all, raw}) {
		rewriteOldKeys(root)
		l.environment(root)
		enforceUserLimits(root, user)
	}
	l.warnNoTemplate(all)
	overlay(oldUI, ui, concatenated)
	if l.on("DISABLE_MOUSE") {
		oldUI.put("mouse", boolNode(false, at))
	}
	if l.on("ACCESSIBLE") {
		oldUI.put("accessible", boolNode(true, at))
	}
	if l.on("REDUCED_MOTION") {
		oldUI.put("reduced_motion", boolNode(true, at))
	}
	text := all.appendJSON(make([]byte, 0, size))
	if err := errors.Join(json.Unmarshal(text, &l.out.Config), decode(user, &l.out.user), decode(oldUI, &l.out.TUI)); err != nil {
		return lathe.Errorf(lathe.Internal, "bug in lathe: the config is valid but cannot be decoded: %w", err)
	}
	l.out.Config.Raw = text
	if raw != all {
		l.out.Config.Raw = raw.appendJSON(nil)
	}
	l.expandRules()
	l.findSkills()
	l.findInstructions()
	l.out.Warnings = append(l.out.Warnings, l.disk.trouble...)
	return nil
}

// onlyKnown returns a value without the members that its table has no place for, itself if
// there are none. They were not validated, and a decoder would still take them: it ignores the
// case of letters, and does not know the intended form.
func onlyKnown(s *spec, n *node) *node {
	if s == nil {
		return n
	}
	fit := s.pick(n)
	if fit == nil || fit.kind == "" {
		return n
	}
	out := *n
	out.members, out.index, out.items = nil, nil, nil
	same := true
	for _, m := range n.members {
		e, ok := fit.find(m.key)
		if !ok {
			same = false
			continue
		}
		val := onlyKnown(e.spec, m.val)
		same = same && val == m.val
		out.add(member{m.key, m.at, val})
	}
	for i, it := range n.items {
		item := fit.items
		if i == 0 && fit.first != nil {
			item = fit.first
		}
		val := onlyKnown(item, it)
		same = same && val == it
		out.items = append(out.items, val)
	}
	if same {
		return n
	}
	return &out
}

// warnNoTemplate warns about commands without a template.
func (l *loading) warnNoTemplate(all *node) {
	for _, m := range all.membersOf("command") {
		if m.val.get("template") == nil {
			l.warn(problemAt(m.val.at, []string{"command", m.key}, `has no "template", so it has an effect only if a built-in command has this name`))
		}
	}
}

// decode gives a checked value its types.
func decode(n *node, to any) error { return json.Unmarshal(n.appendJSON(nil), to) }

// expandRules puts the home folder into the patterns of all rules.
func (l *loading) expandRules() {
	l.out.Config.Permission.expand(l.Home)
	for _, a := range l.out.Config.Agents {
		a.Permission.expand(l.Home)
	}
	l.out.user.Permission.expand(l.Home)
	for _, a := range l.out.user.Agents {
		a.Permission.expand(l.Home)
	}
}

// enforceUserLimits keeps what the user rules out from being let in by a project, whose values replace
// the user's.
func enforceUserLimits(all, user *node) {
	if own := user.get("share"); own != nil && own.text == "disabled" {
		all.put("share", own.clone())
	}
	modes := []string{"sandbox", "ask", "read-only"} // the strictest last
	if own, now := user.get("permission_mode"), all.get("permission_mode"); own != nil && slices.Index(modes, own.text) > slices.Index(modes, now.text) {
		all.put("permission_mode", own.clone())
	}
	if own := user.get("subagent_depth"); own != nil && own.text == "0" {
		all.put("subagent_depth", own.clone())
	}
	enforceUserList(all, user, "disabled_providers", union)
	enforceUserList(all, user, "enabled_providers", onlyOf)
	if own := user.get("experimental"); own != nil {
		enforceUserList(all.child("experimental"), own, "primary_tools", union)
		enforceUserList(all.child("experimental"), own, "policies", behind)
	}
}

// enforceUserList joins a list of the user's with what became of it.
func enforceUserList(all, user *node, key string, join joiner) {
	own, now := user.get(key), all.get(key)
	if own != nil && now != nil {
		all.put(key, join(now, own))
	}
}

// union appends missing values.
func union(list, more *node) *node {
	out := list.clone()
	for _, it := range more.items {
		if !hasItem(out, it) {
			out.items = append(out.items, it.clone())
		}
	}
	return out
}

// after puts the other list last, as of policies the last that matches counts.
func behind(list, other *node) *node {
	out := list.clone()
	out.items = slices.DeleteFunc(out.items, func(it *node) bool { return hasItem(other, it) })
	return union(out, other)
}

// onlyOf keeps what another list has too. Nothing could be read as all of them, and is the
// whole of the other.
func onlyOf(list, other *node) *node {
	out := list.clone()
	out.items = slices.DeleteFunc(out.items, func(it *node) bool { return !hasItem(other, it) })
	if len(out.items) == 0 {
		return other.clone()
	}
	return out
}

func hasItem(list, item *node) bool {
	text := string(item.appendJSON(nil))
	return slices.ContainsFunc(list.items, func(it *node) bool { return string(it.appendJSON(nil)) == text })
}

// environment applies the variables that force a setting.
func (l *loading) environment(root *node) {
	if l.on("DISABLE_AUTOCOMPACT") {
		root.child("compaction").put("auto", boolNode(false, root.at))
	}
	if l.on("DISABLE_PRUNE") {
		root.child("compaction").put("prune", boolNode(false, root.at))
	}
	if l.on("DISABLE_AUTOUPDATE") {
		root.put("autoupdate", boolNode(false, root.at))
	}
	if share := root.get("share"); l.on("AUTO_SHARE") && (share == nil || share.text != "disabled") {
		root.put("share", stringNode("auto", root.at))
	}
	if l.on("DISABLE_SHARE") {
		root.put("share", stringNode("disabled", root.at))
	}
	if root.get("username") != nil || l.Env == nil {
		return
	}
	for _, name := range []string{"USER", "USERNAME"} {
		if v, _ := l.Env(name); v != "" {
			root.put("username", stringNode(v, root.at))
			return
		}
	}
}
