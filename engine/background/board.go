package background

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
)

// boardBranches is how many directories the board looks at for their branch: those of the newest sessions.
const boardBranches = 200

// Board returns what sessions of all projects are doing, by their last change, newest first.
func (b *Registry) Board(ctx context.Context, q lathe.BoardQuery) ([]lathe.BoardEntry, error) {
	out, err := store.Board(ctx, b.o.Store, q)
	if err != nil {
		return nil, err
	}
	b.markAway(ctx, out)
	branches := map[string]string{}
	for i, e := range out {
		name, known := branches[e.Directory]
		if !known && len(branches) < boardBranches && ctx.Err() == nil {
			if at, ok := workspace.CheckoutOf(e.Directory); ok {
				name = git.Branch(at)
			}
			branches[e.Directory] = name
		}
		out[i].Branch = name
	}
	return out, nil
}

// markAway changes the state of sessions whose work waits for a node with their directory.
func (b *Registry) markAway(ctx context.Context, all []lathe.BoardEntry) {
	for i, e := range all {
		if e.State != lathe.BoardQueued && e.State != lathe.BoardInterrupted {
			continue
		}
		if why := b.o.Away(ctx, e.Directory); why != "" {
			all[i].State, all[i].Last = lathe.BoardAway, why
		}
	}
}
