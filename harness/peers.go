package harness

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus/nats"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/place"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgres"
	"github.com/lathe-agent/lathe/store/s3"
)

// peers knows which nodes of the cluster have a directory. It is safe for use by many goroutines.
type peers struct {
	driver *postgres.Driver
	relay  *nats.Relay // nil without a bus
	bucket *s3.Bucket  // nil without one

	mu    sync.Mutex // guards the fields below
	known []postgres.Peer
	read  time.Time
}

// peersTime is how long the rows of nodes are used. A node that died is found dead only after seconds anyway.
const peersTime = 500 * time.Millisecond

// list returns the serving nodes, the oldest first.
func (p *peers) list(ctx context.Context) ([]postgres.Peer, error) {
	p.mu.Lock()
	known, fresh := p.known, !p.read.IsZero() && time.Since(p.read) < peersTime
	p.mu.Unlock()
	if fresh {
		return known, nil
	}
	began := time.Now()
	known, err := p.driver.Peers(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.known, p.read = known, began
	p.mu.Unlock()
	return known, nil
}

// find returns the node that answers requests about a directory: the one that runs longest, so that all nodes find the
// same.
func (p *peers) find(ctx context.Context, dir string) (postgres.Peer, error) {
	all, err := p.list(ctx)
	if err != nil {
		return postgres.Peer{}, err
	}
	for _, one := range all {
		if one.Alive && one.Addr != "" && place.Covers(one.Places, dir) {
			return one, nil
		}
	}
	if why := whyAway(all, dir); why != "" {
		return postgres.Peer{}, lathe.Errorf(lathe.Unavailable, "%s", why)
	}
	return postgres.Peer{}, lathe.Errorf(lathe.Unavailable, "The node with %s cannot be reached from this one. Start it with --node-addr URL.", dir)
}

// away tells why no node runs the sessions of a directory, "" if one does or if that is unknown.
func (p *peers) away(ctx context.Context, dir string) string {
	all, err := p.list(ctx)
	if err != nil {
		return "" // the caller has the same trouble with the database
	}
	return whyAway(all, dir)
}

// whyAway is away for known nodes. A place has the name that the last node with it gave it.
func whyAway(all []postgres.Peer, dir string) string {
	if len(all) == 0 { // programs use the database without servers
		return ""
	}
	name := ""
	for _, one := range all {
		if one.Alive && place.Covers(one.Places, dir) {
			return ""
		}
		for _, at := range one.Places {
			at.Missing = false
			if place.Covers([]store.Place{at}, dir) {
				name = at.Name
			}
		}
	}
	if name == "" {
		return fmt.Sprintf("No node has %s. Start one with --place NAME=PATH.", dir)
	}
	return fmt.Sprintf("The place %q is away: no running node has %s. The session continues when one does.", name, dir)
}

// warnings say what is wrong with a node that works all the same.
func (p *peers) warnings(m *engine.Member) (out []string) {
	for _, at := range m.MissingPlaces() {
		out = append(out, fmt.Sprintf("The place %q is away: %s is missing or no directory on this node.", at.Name, at.Path))
	}
	if p.relay != nil && !p.relay.Connected() {
		out = append(out, "The bus cannot be reached. Readers on other nodes see text about once a second.")
	}
	if p.bucket != nil {
		for _, err := range p.bucket.Faults() {
			out = append(out, "Large values: "+err.Error())
		}
	}
	if skew := p.driver.Skew(); skew != 0 {
		out = append(out, fmt.Sprintf("The clock on this machine is %s ahead of the clock of the database. Correct it.", skew.Round(time.Second)))
	}
	return out
}
