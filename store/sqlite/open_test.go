package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/lathe-agent/lathe/store"
)

// OpenStore opens the database and the store on it, with large values beside the file.
func OpenStore(ctx context.Context, o Options, so store.Options) (*store.Store, error) {
	if so.Log == nil {
		so.Log = slog.New(slog.DiscardHandler)
	}
	if o.Log == nil {
		o.Log = so.Log
	}
	d, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if so.Blobs == "" {
		so.Blobs = filepath.Join(filepath.Dir(d.path), "blobs")
	}
	s, err := store.Open(ctx, d, so)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}
