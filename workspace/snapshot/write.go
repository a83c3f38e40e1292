package snapshot

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gitobj"
)

// NewContent is a file to write with [Worktree.Apply].
type NewContent struct {
	Path string // absolute
	Was  string // the blob that is there now; "" for none
	Mode uint32 // of git; 0 deletes the file
	Data []byte
}

// Write plans to give files new contents. A file that is not as Was says is a conflict.
func (w *Worktree) Write(ctx context.Context, files []NewContent) (Plan, error) {
	t := w.t
	t.load()
	var p Plan
	for _, f := range files {
		if ctx.Err() != nil {
			return Plan{}, context.Cause(ctx)
		}
		rel, ok := t.rel(f.Path)
		if !ok {
			p.Changes = append(p.Changes, Change{Path: f.Path, Conflict: whyOutside})
			continue
		}
		to := state{}
		if f.Mode != 0 {
			id := hashObject(gitobj.BlobKind, f.Data)
			if err := t.objects.keep(id, gitobj.BlobKind, f.Data); err != nil {
				return Plan{}, lathe.Errorf(lathe.Unavailable, "store %s: %w", f.Path, err)
			}
			to = treeEntry{mode: f.Mode}.state()
			to.ID = id.String()
		}
		c, err := t.change(rel, to)
		if err != nil {
			return Plan{}, err
		}
		if c.Conflict == "" && c.From.ID != f.Was {
			c.Conflict = errChanged.Error()
		}
		p.Changes = append(p.Changes, c)
	}
	p.sort()
	return p, nil
}
