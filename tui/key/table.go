package key

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// Group is a heading of the help.
type Group string

// Entry is a name with its default, for help, for the list of commands and for New.
type Entry struct {
	Name    Name
	Default string // as a setting would say it; "none" is without a key
	Group   Group
	Does    string // one line, for people
	Idle    bool   // accepted in the config without an effect: its feature does not exist here, or needs no key
	Own     bool   // OpenCode has no such name, so its default yields to the user's keybinds
}

//go:embed keys.txt
var keysText string

// All lists every name, group by group, in the order of the help.
func All() []Entry { return slices.Clone(table()) }

var table = sync.OnceValue(func() (out []Entry) {
	var group Group
	for line := range strings.Lines(keysText) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			group = Group(heading)
		} else if line != "" && line[0] != ';' {
			name, rest, _ := strings.Cut(line, " ")
			keys, does, _ := strings.Cut(strings.TrimSpace(rest), " ")
			name, idle := strings.CutPrefix(name, "*")
			name, own := strings.CutPrefix(name, "+")
			out = append(out, Entry{Name(name), keys, group, strings.TrimSpace(does), idle, own})
		}
	}
	return out
})
