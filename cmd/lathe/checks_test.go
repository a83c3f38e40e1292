package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
)

// The settings know each check by the name the engine has for it, and no other.
func TestChecks_Names(t *testing.T) {
	all := map[string]bool{}
	for _, c := range engine.AllChecks() {
		all[string(c)] = false
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var c config.Checks
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if got := c.Switches(); len(got) != len(all) || reflect.TypeFor[config.Checks]().NumField() != len(all) {
		t.Errorf("the settings read %v of %v", got, all)
	}
	for name, mode := range engine.DefaultChecks(true).With(c.Switches()) {
		if mode != engine.CheckOff {
			t.Errorf("%s cannot be switched off", name)
		}
	}
}
