package main

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/harness"
)

// The time of a turn is without what a person was waited for, by one call or by several at once.
func TestRunner_Worked(t *testing.T) {
	began := time.UnixMilli(10_000)
	r := &runner{App: &cli.App{Host: harness.Host{Now: func() time.Time { return began.Add(time.Minute) }}}, began: began, stood: map[lathe.PartID][]lathe.Wait{
		"prt_1": {{20_000, 60_000}}, "prt_2": {{30_000, 65_000}},
	}}
	if got := r.worked(); got != 15*time.Second {
		t.Errorf("%s", got)
	}
}
