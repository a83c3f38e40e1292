package config

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// AddPlugin names a plugin in a config file, after those it has. Another version of the same is
// a Conflict, or replaced. A file that does not exist is made.
func AddPlugin(path, spec string, replace bool) error {
	text, err := newFileReader().read(linkTarget(path))
	if err != nil && !absent(err) {
		return lathe.Errorf(lathe.Unavailable, "%s cannot be read: %s; nothing was changed", path, errText(err))
	}
	s := &source{name: path, text: text, table: settings()}
	if err := s.parse(substitution{inert: true}); err != nil {
		return err
	}
	own := &node{kind: isString, text: spec}
	list := []json.RawMessage{}
	for _, it := range s.root.itemsOf("plugin") {
		if pluginName(it) == pluginName(own) {
			switch {
			case it.kind == isString && it.text == spec:
				return nil
			case !replace:
				return lathe.Errorf(lathe.Conflict, "%s already has %s; use --force to replace it", path, it.appendJSON(nil))
			}
			continue
		}
		list = append(list, it.appendJSON(nil))
	}
	change, err := json.Marshal(map[string][]json.RawMessage{"plugin": append(list, own.appendJSON(nil))})
	if err != nil {
		return err
	}
	return Edit(path, change)
}
