package main

import (
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// checked tells that the turn goes on because checks have found something: without it the
// answer seems to come twice.
func (r *runner) checked(p lathe.Part) {
	said := engine.Firings([]lathe.Message{{Parts: []lathe.Part{p}}})
	var names []string
	for _, c := range engine.AllChecks() {
		if said[c] > 0 {
			names = append(names, string(c))
		}
	}
	if len(names) > 0 {
		r.note("> checked: %s", strings.Join(names, ", "))
	}
}
