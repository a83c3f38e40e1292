// Package bustest is the suite every bus passes: the one of a single process now, one
// across nodes later.
//
// Each sentence of the feed's contract that has a number under "Live" and "Deltas" has a
// test of that name; what a bus promises beyond them follows under names of its own. No
// test looks inside: it publishes, reads, and compares what a reader puts together with
// [lathe.Transcript]. Whether something did not arrive is seen by sending a mark behind
// it, so nothing depends on how fast a bus is.
//
// Start reading at Run; world.go is the model of store, runners and readers that the
// property in property.go compares a bus with.
package bustest

import (
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// Bus is what the suite asks of a bus.
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

// Run tests the buses that open makes. Each has handed out nothing yet and its queues
// have the default limit.
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
