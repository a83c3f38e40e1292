package serve

import (
	"context"
	"net"
	"net/url"
	"time"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/place"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgres"
)

// nodeFlags are the flags of a server that shares its sessions with others.
type nodeFlags struct {
	store, addr string
	places      []string
}

// cluster reads the flags of a node.
func (f nodeFlags) cluster() (harness.Cluster, error) {
	c := harness.Cluster{Store: f.store, Addr: f.addr, Serves: true}
	if f.store != "" && !postgres.IsURL(f.store) {
		return c, cli.Usagef("--store wants the URL of a PostgreSQL database: postgres://user@host/database")
	}
	if u, err := url.Parse(f.addr); f.addr != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return c, cli.Usagef("--node-addr wants the URL at which other nodes reach this one: http://10.0.0.3:4096")
	}
	seen := map[string]store.Place{}
	for _, s := range f.places {
		p, err := harness.ParsePlace(s)
		if err != nil {
			return c, cli.Usagef("%s", err)
		}
		if _, twice := seen[p.Name]; twice {
			return c, cli.Usagef("--place %s is given twice", p.Name)
		}
		seen[p.Name] = p
		c.Places = append(c.Places, p)
	}
	return c, nil
}

// checkNode refuses flags that would start a server of its own where someone wants a node: those that got an empty
// variable, and places and addresses without the database that nodes share.
func (f *serveFlags) checkNode(given func(string) bool, stored string) error {
	if _, err := f.node.cluster(); err != nil {
		return err
	}
	for name, value := range map[string]string{"store": f.node.store, "bus": f.shared.Bus, "blobs": f.shared.Blobs} {
		if given(name) && value == "" {
			return cli.Usagef("--%s is empty; give it a value, or leave it out", name)
		}
	}
	for _, name := range []string{"place", "node-addr"} {
		if given(name) && f.node.store == "" && stored == "" {
			return cli.Usagef("--%s is for a node of a cluster; name its database with --store or LATHE_STORE", name)
		}
	}
	return nil
}

// directory is where requests without a directory work: this one, or the first place if this one is in none and nobody
// asked for it.
func (f nodeFlags) directory(dir string, asked bool) string {
	c, err := f.cluster()
	if err != nil || asked || place.Covers(c.Places, dir) {
		return dir
	}
	return c.Places[0].Path
}

// warnOfPlaces tells people at the terminal which places are missing. The log, readiness and metrics say it at any time.
func warnOfPlaces(a *cli.App, missing []store.Place) {
	for _, p := range missing {
		a.Notify("Warning: the place %q is away: %s does not exist or is not a directory. Its sessions wait, or run on a node that has it.", p.Name, termtext.Plain(p.Path))
	}
}

// leaveTime is how long turns of a node have to end their step when it is asked to end.
const leaveTime = 60 * time.Second

// leaveFirst returns a context that ends after ctx, once other nodes have the sessions of this one.
func leaveFirst(ctx context.Context, e *engine.Engine) (context.Context, func()) {
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		defer end()
		left, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
		defer cancel()
		_ = e.Member.Leave(left) // turns that have not ended by then are interrupted
	})
	return serving, func() { stop(); end() }
}

// reachable fills in the address at which other nodes reach this one, if it listens at only one address that other
// machines can have, too.
func reachable(c harness.Cluster, where string) harness.Cluster {
	u, err := url.Parse(where)
	if c.Addr != "" || err != nil {
		return c
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && !ip.IsLoopback() && !ip.IsUnspecified() && !ip.IsLinkLocalUnicast() {
		c.Addr = where
	}
	return c
}
