// Package bustest is the test suite for every bus: today's for a single process, later one
// across nodes.
//
// Each numbered sentence of the feed's contract under "Live" and "Deltas" has a test of
// that name. Further guarantees of a bus have tests with their own names. The tests do not
// depend on the implementation: they publish, read, and compare the reader's
// [lathe.Transcript]. A mark after an event shows whether the event did not arrive, so no
// test depends on the speed of a bus.
//
// Start reading at Run; simulation.go is the model of store, runners and readers that the
// property in property.go compares a bus with.
package bustest

import (
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// Bus is the interface that the suite tests.
type Bus interface {
	Publish(events ...lathe.Event)
	Last() int64
	Advance(seq int64)
	HasSubscriber(s lathe.Scope) bool
	Subscribers() int
	Open(e lathe.Event) *bus.Text
	Text(id lathe.PartID) *bus.Text
	Subscribe(s lathe.Scope) *bus.Subscription
	Close()
}

// Run tests the buses that open returns. Each must be new, and its queues must have the
// default limit.
func Run(t *testing.T, open func(t *testing.T) Bus) {
	groups := []struct {
		name  string
		tests []test
	}{
		{"Live", live},
		{"Deltas", deltas},
		{"Join", joins},
		{"Life", life},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, tt := range g.tests {
				t.Run(tt.name, func(t *testing.T) { tt.run(t, func() Bus { return open(t) }) })
			}
		})
	}
}

// test is one test of the suite; some need many buses.
type test struct {
	name string
	run  func(t *testing.T, open func() Bus)
}

// on is a test that needs one bus.
func on(f func(t *testing.T, w *writer)) func(*testing.T, func() Bus) {
	return func(t *testing.T, open func() Bus) {
		b := open()
		defer b.Close()
		f(t, &writer{Bus: b})
	}
}
