package main

import (
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
)

// checked tells that the turn goes on because checks have found something. An answer before it is
// none: it goes where notes do.
func (r *runner) checked(p lathe.Part) {
	said := check.Firings([]lathe.Message{{Parts: []lathe.Part{p}}})
	var names []string
	for _, c := range check.All() {
		if said[c] > 0 {
			names = append(names, string(c))
		}
	}
	if len(names) > 0 {
		if said[check.CutOff] > 0 { // what follows goes on with it
			r.release()
		}
		if r.held != "" {
			r.note("%s", strings.TrimSuffix(r.held, "\n"))
			r.held = ""
		}
		r.note("> checked: %s", strings.Join(names, ", "))
	}
}
