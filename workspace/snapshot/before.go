package snapshot

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Former is a file as it was before some steps.
type Former struct {
	Path string      // absolute, where it was
	Mode fs.FileMode // type and permissions; 0 if there was no file
	Data []byte      // content, or the target of a link
}

// Before reads the files that steps changed as they were before the first of them; steps are given oldest first. It
// changes nothing. Files whose content is not stored, or that are outside of the worktree, are in unknown.
func (w *Worktree) Before(ctx context.Context, steps []StepRef) (files []Former, unknown []string, err error) {
	all, unknown, err := w.t.histories(ctx, steps)
	if err != nil {
		return nil, nil, err
	}
	for _, rel := range slices.Sorted(maps.Keys(all)) {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		f := Former{Path: filepath.Join(w.t.root, filepath.FromSlash(rel))}
		h := all[rel]
		if len(h.changes) == 0 || !readFormer(w.t, h.changes[0].Before, &f) {
			unknown = append(unknown, f.Path)
			continue
		}
		files = append(files, f)
	}
	slices.Sort(unknown)
	return files, slices.Compact(unknown), nil
}

// readFormer reads the content of a state.
func readFormer(t *sharedTree, s state, f *Former) bool {
	if s.Lost || s.absent() {
		return !s.Lost
	}
	id, ok := parseOID(s.ID)
	if !ok {
		return false
	}
	data, err := t.objects.blob(id)
	if err != nil {
		if lathe.CodeOf(err) != lathe.NotFound {
			t.store.o.Log.Warn("read a former file", "path", f.Path, "error", err)
		}
		return false
	}
	f.Data = data
	switch {
	case s.Mode == 0o120000:
		f.Mode = os.ModeSymlink | 0o777
	case s.Mode == 0o100755:
		f.Mode = 0o755
	default:
		f.Mode = 0o644
	}
	return true
}
