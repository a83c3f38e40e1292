package harness

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgres"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// Cluster says what several nodes share, and what this one has. The zero value is a machine with a database file.
type Cluster struct {
	Store  string        // URL of a PostgreSQL database; "" is the file, or LATHE_STORE
	Places []store.Place // directories whose sessions this node runs; none means all
	Serves bool          // this process stays, so it continues sessions that no node works on
	Addr   string        // URL at which the other nodes reach this one
}

// ParsePlace reads NAME=PATH. The path must be the same on all nodes that have the place: sessions store it.
func ParsePlace(s string) (store.Place, error) {
	name, path, ok := strings.Cut(s, "=")
	valid := ok && name != "" && filepath.IsAbs(path)
	for _, r := range name {
		valid = valid && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if !valid {
		return store.Place{}, lathe.Errorf(lathe.Invalid, "--place wants NAME=PATH with an absolute path, such as shop=/srv/shop")
	}
	return store.Place{Name: name, Path: filepath.Clean(path)}, nil
}

// openDriver opens the database. The node is nil for a file.
func openDriver(ctx context.Context, a *Host, at datadir.Folders, c Cluster) (store.Driver, *postgres.Driver, error) {
	dsn := c.Store
	if dsn == "" {
		dsn = at.Store
	}
	if dsn == "" {
		d, err := sqlite.Open(ctx, sqlite.Options{Path: at.Database(), State: at.Owners})
		if err != nil {
			return nil, nil, err
		}
		return d, nil, nil
	}
	d, err := postgres.Open(ctx, postgres.Options{DSN: dsn, Node: postgres.Node{Addr: c.Addr, Places: c.Places, Serves: c.Serves}, Log: a.Log})
	if err != nil {
		return nil, nil, err
	}
	return d, d, nil
}

// join makes this program a node: its commands end with its lease.
func join(s *Harness, p *peers) {
	s.nodes = p
	s.Runner.UseFence(p.driver.Fence())
}

// nodeOf is this program as a node for its server. A program that shares its sessions with no other is always well.
func nodeOf(s *Harness) server.Node {
	if s.nodes == nil {
		return server.Node{}
	}
	driver, member := s.nodes.driver, s.Engine.Member
	return server.Node{
		Live: driver.Live,
		Ready: func() error {
			if member.IsLeaving() {
				return lathe.Errorf(lathe.Unavailable, "this node is going away")
			}
			return driver.Ready()
		},
		Warnings: func() []string { return s.nodes.warnings(member) },
		Find: func(ctx context.Context, dir string, one bool) (string, error) {
			return s.nodes.locate(ctx, member, dir, one)
		},
	}
}

// locate returns the URL of the node that answers requests about a directory, "" for this one.
func (p *peers) locate(ctx context.Context, m *engine.Member, dir string, one bool) (string, error) {
	here := m.Has(dir)
	if here && !one {
		return "", nil
	}
	found, err := p.find(ctx, dir)
	switch {
	case err == nil && found.Name != p.driver.Owner():
		return found.Addr, nil
	case here: // of all nodes, only this one can be reached, or none
		return "", nil
	}
	return "", err
}
