package config

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/lathe-agent/lathe"
)

// own is what the user and the administrator say where no project may say otherwise.
type own struct {
	Permission Permission `json:"permission"`
	Agents     map[string]struct {
		Permission Permission `json:"permission"`
	} `json:"agent"`
	Share             string   `json:"share"`
	DisabledProviders []string `json:"disabled_providers"`
	EnabledProviders  []string `json:"enabled_providers"`
	Skills            struct {
		Paths []string `json:"paths"`
	} `json:"skills"`
	Experimental struct {
		PrimaryTools []string `json:"primary_tools"`
		Policies     []Policy `json:"policies"`
	} `json:"experimental"`
}

// finish merges what is left and gives it types.
func (l *loading) finish() error {
	at := place{&source{}, 0}
	all, user, oldUI, ui := objectNode(at), objectNode(at), objectNode(at), objectNode(at)
	raw := all // as long as all keys are known
	size := 0
	for _, s := range l.sources {
		size += len(s.text)
		l.out.Sources = append(l.out.Sources, Source{Name: s.name, Layer: s.layer, Keys: s.root.keys()})
		s.normalise(l.Home)
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
	modernise(user)
	modernise(all)
	l.environment(all)
	if raw != all {
		modernise(raw)
		l.environment(raw)
	}
	overlay(oldUI, ui, concatenated)
	text := all.appendJSON(make([]byte, 0, size))
	if err := errors.Join(json.Unmarshal(text, &l.out.Config), decode(user, &l.out.user), decode(oldUI, &l.out.TUI)); err != nil {
		return lathe.Errorf(lathe.Internal, "the settings passed the check and could still not be read: %w", err)
	}
	l.out.Config.Raw = text
	if raw != all {
		l.out.Config.Raw = raw.appendJSON(nil)
	}
	l.expandRules()
	l.hold()
	l.findSkills()
	l.findInstructions()
	l.out.Warnings = append(l.out.Warnings, l.disk.trouble...)
	return nil
}

// onlyKnown returns a value without the members that its table has no place for, itself if
// there are none. They were not judged, and a decoder would still take them: it forgives
// the case of letters, and does not know which of several forms was meant.
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

// hold keeps what the user rules out from being let in by a project, whose lists replace
// the user's.
func (l *loading) hold() {
	c, own := &l.out.Config, &l.out.user
	c.DisabledProviders = union(c.DisabledProviders, own.DisabledProviders)
	c.Experimental.PrimaryTools = union(c.Experimental.PrimaryTools, own.Experimental.PrimaryTools)
	if own.EnabledProviders != nil {
		c.EnabledProviders = slices.DeleteFunc(c.EnabledProviders, func(id string) bool {
			return !slices.Contains(own.EnabledProviders, id)
		})
		if len(c.EnabledProviders) == 0 { // which could be read as all of them
			c.EnabledProviders = own.EnabledProviders
		}
	}
	if own.Share == "disabled" {
		c.Share = own.Share
	}
	for _, p := range own.Experimental.Policies { // the last that matches counts
		if !slices.Contains(c.Experimental.Policies, p) {
			c.Experimental.Policies = append(c.Experimental.Policies, p)
		}
	}
}

// union appends what is not there yet.
func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// environment applies the variables that force a setting.
func (l *loading) environment(root *node) {
	if l.on("DISABLE_AUTOCOMPACT") {
		root.child("compaction").put("auto", boolNode(false, root.at))
	}
	if l.on("DISABLE_PRUNE") {
		root.child("compaction").put("prune", boolNode(false, root.at))
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
