package events

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/internal/metric"
)

// Relay carries deltas and hints between the nodes on one database. Numbered events are read from the store alone, so
// what a relay loses, repeats or makes up costs time and changes nothing that is stored. Its methods do not block.
type Relay interface {
	// Start connects a node. It does not wait for a connection.
	Start(n bus.Node) error
	// Grew tells other nodes of a delta.
	Grew(d bus.Delta)
	// Announce tells other nodes to look, because this one has committed changes up to a number, or others if
	// that is 0.
	Announce(upTo int64)
	// Wake tells one node to look.
	Wake(node string)
	// Follow asks for the deltas of a session, for a minute after the last sign of it.
	Follow(session lathe.SessionID)
	// Release applies the deltas of a part that waited for its text to grow.
	Release(part lathe.PartID)
	Measure(p *metric.Page)
	Close()
}
