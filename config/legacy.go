package config

import (
	"path/filepath"
	"strings"
)

// normalize gives one source the form in which sources merge: rules spread out, paths that
// are relative to the file complete, agents as they are written today.
func (s *source) normalize(home string) {
	if s.table == settings() {
		renameKey(s.root, "survey", "overview")
	}
	if rules := s.root.get("permission"); rules != nil {
		s.root.put("permission", spread(rules))
	}
	for _, p := range s.root.itemsOf("plugin") {
		s.placePlugin(p, home)
	}
	for _, ref := range s.references() {
		s.placeReference(ref, home)
	}
	if s.table == tuiTable() {
		s.placeSounds(s.root, home)
	} else {
		s.placeSounds(s.root.get("tui"), home)
	}
	s.placeSandbox(s.root, home)
	for _, h := range hookNodes(s.root) {
		if dir := h.get("dir"); dir != nil {
			dir.text = s.complete(dir.text, home)
		}
	}
	for _, m := range s.root.membersOf("mcp") {
		s.placeSandbox(m.val, home)
	}
	for _, key := range []string{"agent", "mode"} {
		for _, m := range s.root.membersOf(key) {
			s.placeSandbox(m.val, home)
			normalizeAgent(m.val)
		}
	}
}

// placePlugin completes the path of a plugin, which is relative to the file that names it.
func (s *source) placePlugin(p *node, home string) {
	if p.kind == isArray && len(p.items) > 0 {
		p = p.items[0]
	}
	path := expandHome(p.text, home)
	if strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") {
		path = filepath.Join(s.dir, path)
	}
	if filepath.IsAbs(path) {
		p.text = "file://" + filepath.ToSlash(path)
	}
}

// references are the named folders and repositories of a source, under both names of the key.
func (s *source) references() (out []*node) {
	if s.table != settings() {
		return nil
	}
	for _, key := range []string{"references", "reference"} {
		for _, m := range s.root.membersOf(key) {
			out = append(out, m.val)
		}
	}
	return out
}

// localReference is the path of a reference to a folder, nil for a repository.
func localReference(ref *node) *node {
	if ref.kind == isObject {
		return ref.get("path")
	}
	if isPath(ref.text) {
		return ref
	}
	return nil
}

// placeReference completes the path of a folder. Of two references with one name the later
// replaces the other, since one that is a folder and a repository is neither.
func (s *source) placeReference(ref *node, home string) {
	ref.barrier = true
	if path := localReference(ref); path != nil {
		path.text = s.complete(path.text, home)
	}
}

// placeSounds completes the paths of sounds.
func (s *source) placeSounds(ui *node, home string) {
	for _, m := range ui.get("attention").membersOf("sounds") {
		if !strings.Contains(m.val.text, "://") {
			m.val.text = s.complete(m.val.text, home)
		}
	}
}

// placeSandbox spells a mode out as an object, or it would replace all that others say of the
// sandbox, and completes the paths of folders.
func (s *source) placeSandbox(n *node, home string) {
	box := n.get("sandbox")
	switch {
	case box == nil || s.table == tuiTable():
		return
	case box.kind == isString:
		mode := &node{kind: isObject, at: box.at}
		mode.add(member{"mode", box.at, box})
		n.put("sandbox", mode)
		return
	}
	for _, key := range []string{"write", "read"} {
		for _, path := range box.itemsOf(key) {
			path.text = s.complete(path.text, home)
		}
	}
}

// complete makes a path absolute that is relative to the file it stands in.
func (s *source) complete(path, home string) string {
	path = expandHome(path, home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	return path
}

// renameKey moves a value to the new name of its key, where it does not replace one.
func renameKey(n *node, from, to string) {
	if v := n.get(from); v != nil {
		if n.get(to) == nil {
			n.put(to, v)
		}
		n.drop(from)
	}
}

// normalizeAgent renames old keys, and moves unknown keys of an agent to the options for its
// provider.
func normalizeAgent(agent *node) {
	renameKey(agent, "maxSteps", "steps")
	agent.drop("name")
	if rules := agent.get("permission"); rules != nil {
		agent.put("permission", spread(rules))
	}
	toolsToRules(agent)
	known := agentTable()
	for _, m := range agent.members {
		if !known.has(m.key) {
			agent.child("options").put(m.key, m.val)
		}
	}
	agent.keep(func(m member) bool { return known.has(m.key) })
}

// rewriteOldKeys rewrites, in all sources together, what had another form before.
func rewriteOldKeys(root *node) {
	if v := root.get("autoshare"); v != nil {
		if v.text == "true" && root.get("share") == nil {
			root.put("share", stringNode("auto", v.at))
		}
		root.drop("autoshare")
	}
	if v := root.get("reference"); v != nil {
		refs := root.child("references")
		for _, m := range v.members {
			if refs.get(m.key) == nil {
				refs.put(m.key, m.val)
			}
		}
		root.drop("reference")
	}
	if v := root.get("mode"); v != nil {
		agents := root.child("agent")
		for _, m := range v.members {
			m.val.put("mode", stringNode("primary", m.val.at))
		}
		overlay(agents, v, nil)
		root.drop("mode")
	}
	toolsToRules(root)
	for _, moved := range []string{"theme", "keybinds", "editor", "tui", "layout"} {
		root.drop(moved)
	}
}

// toolsToRules puts the old switches of tools before the rules, which say more.
func toolsToRules(n *node) {
	tools := n.get("tools")
	if tools == nil {
		return
	}
	rules := toolRules(tools)
	if has := n.get("permission"); has != nil {
		overlay(rules, has, nil)
	}
	n.put("permission", rules)
	n.drop("tools")
}

// oldTUI returns the keys of the terminal UI that an old config file sets.
func oldTUI(root *node) *node {
	out := objectNode(root.at)
	for _, key := range []string{"theme", "keybinds", "editor"} {
		if v := root.get(key); v != nil {
			out.put(key, v)
		}
	}
	if v := root.get("tui"); v != nil {
		overlay(out, v, concatenated)
	}
	return out
}
