package confine

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
)

// Limits of age and size for the changes that commands make to caches.
const (
	overlayAge   = 30 * 24 * time.Hour // of an unused project
	overlayBytes = 20 << 30            // of all projects; the oldest go first
	overlayBusy  = 24 * time.Hour      // a project that was used since then is left alone
	overlaySweep = 24 * time.Hour      // between two looks
)

// overlayStore looks after the folders of overlays. Its zero value can be used.
type overlayStore struct {
	once      sync.Once
	can       bool
	sweepOnce sync.Once
	work      sync.WaitGroup
	end       context.CancelFunc

	mu   sync.Mutex
	used map[string]bool // folders that are marked as used
}

// overlays reports whether the kernel makes overlays in our data folder. It asks when the first
// command runs, since that takes a process.
func (f *Policy) overlays(at datadir.Folders) bool {
	s := &f.store
	s.once.Do(func() {
		err := sandbox.CanOverlay(at.Overlays())
		if s.can = err == nil; !s.can {
			f.host.Log.Info("caches of tools are read-only for commands", "why", err)
		}
	})
	return s.can
}

// keepUsed marks the folder of a project as used, and starts to look for unused ones.
func (f *Policy) keepUsed(at datadir.Folders, dir string) {
	s := &f.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[dir] {
		return
	}
	if s.used == nil {
		s.used = map[string]bool{}
	}
	s.used[dir] = true
	now := f.host.Now()
	if os.MkdirAll(dir, 0o700) != nil || os.Chtimes(dir, now, now) != nil {
		return // it is not made then, and no cache can be written
	}
	s.sweepOnce.Do(func() {
		ctx, end := context.WithCancel(context.Background())
		s.end = end
		s.work.Go(func() { sweepOverlays(ctx, at.Overlays(), now, overlayBytes) })
	})
}

// Close ends what looks for old folders and what answers git.
func (f *Policy) Close() {
	f.gitPasswords.close()
	f.git.close()
	f.store.mu.Lock()
	if f.store.end != nil {
		f.store.end()
	}
	f.store.mu.Unlock()
	f.store.work.Wait()
}

// sweepOverlays removes the folders of projects unused for long, and then the oldest while
// their total size is too large. It looks once a day.
func sweepOverlays(ctx context.Context, dir string, now time.Time, most int64) {
	mark := filepath.Join(dir, ".swept")
	if info, err := os.Stat(mark); err == nil && now.Sub(info.ModTime()) < overlaySweep {
		return
	}
	if os.WriteFile(mark, nil, 0o600) != nil || os.Chtimes(mark, now, now) != nil {
		return
	}
	type project struct {
		path string
		used time.Time
		size int64
	}
	var all []project
	entries, _ := os.ReadDir(dir) // an unreadable folder stays
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() {
			continue
		}
		all = append(all, project{filepath.Join(dir, e.Name()), info.ModTime(), 0})
	}
	slices.SortFunc(all, func(a, b project) int { return b.used.Compare(a.used) }) // the newest first
	var total int64
	for _, p := range all {
		if ctx.Err() != nil {
			return
		}
		if age := now.Sub(p.used); age < overlayAge {
			total += folderBytes(ctx, p.path)
			if total <= most || age < overlayBusy {
				continue
			}
		}
		_ = sandbox.RemoveTree(p.path) // the rest goes another day
	}
}

// folderBytes is the size of all files in a folder.
func folderBytes(ctx context.Context, dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil || e.IsDir() {
			return nil // a folder that cannot be read counts for nothing
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
