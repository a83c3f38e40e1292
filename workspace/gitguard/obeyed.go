package gitguard

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe/workspace/guarded"
)

// In the folder of a session and above it, the sandbox keeps commands from writing files that editors,
// package managers and other programs obey. In folders inside of the project it does not: mounts there
// would keep a command from removing the folder, and taking such files away would leave clones and
// linked work trees that git takes for changed. So these are named, for the user to look at.

// GuardedChanges returns those that were made or changed since the last time, or since no command ran. It is
// called after Check, and looks at what that found on the disk.
func (w *Watch) GuardedChanges() (out []Finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.obeyedNow()
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if was, ok := w.obeyed[path]; !ok || was != now[path] {
			why, _, _ := guarded.Lookup(path)
			out = append(out, Finding{Path: path, Why: why})
		}
	}
	w.obeyed = now
	return out
}

// mostObeyed is how many are looked at, and how many files in a folder that is one.
const mostObeyed = 500

func (w *Watch) obeyedNow() map[string]stamp {
	out := map[string]stamp{}
	for dir, f := range w.known {
		for _, name := range f.obeyed {
			if dir == w.root || len(out) == mostObeyed {
				continue
			}
			path := filepath.Join(dir, name)
			switch _, hold, _ := guarded.Lookup(path); {
			case !exists(path):
			case hold == guarded.Busy: // others change it all the time
				out[path] = stamp{}
			default:
				out[path] = newest(path)
			}
		}
	}
	return out
}

// newest is the stamp of what was last changed of a file, or in a folder.
func newest(path string) (last stamp) {
	n := 0
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if n++; err != nil || n > mostObeyed {
			return fs.SkipAll
		}
		if info, err := e.Info(); err == nil {
			if at := stampOf(info); at.time.After(last.time) {
				last = at
			}
		}
		return nil
	})
	return last
}
