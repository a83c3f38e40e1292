package harness

import (
	"cmp"
	"context"

	"github.com/lathe-agent/lathe/bus/nats"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
)

// Shared names the servers that a node shares with others, beside the database.
type Shared struct {
	Blobs string // s3://BUCKET/PREFIX for large values; "" means LATHE_BLOBS, or files
	Bus   string // nats://HOST for deltas between nodes; "" means none
}

// connect lets an engine use them.
func (c Shared) connect(ctx context.Context, a *Host, at datadir.Folders, o *engine.Options) error {
	if c.Bus != "" {
		relay, err := nats.Open(nats.Options{URL: c.Bus, Credentials: a.Env("NATS_CREDS"), CA: a.Env("NATS_CA"), Log: a.Log})
		if err != nil {
			return err
		}
		o.Relay = relay
	}
	bucket := cmp.Or(c.Blobs, a.Env("LATHE_BLOBS"))
	if bucket == "" {
		return nil
	}
	b, err := a.openBlobs(at, bucket)
	if err != nil {
		return err
	}
	o.Large = b
	if c.Blobs == "" { // a command that reads sessions
		return nil
	}
	return a.checkBlobs(ctx, b)
}
