package harness

import (
	"time"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/workspace"
)

// stamp is by what settings and credentials of a directory are known from others.
type stamp struct {
	loaded *config.Loaded // one value for as long as no file of it changes
	broken string         // why they cannot be read
	keys   time.Time
}

// Changed reports what differs from when this was last asked. The first time it is held against what
// was read of the directory before: a client may have been told that.
func (b *served) Changed(at workspace.Place) (settings, credentials bool) {
	held, was := b.setup.held(at)
	now := b.setup.stamp(at)
	b.mu.Lock()
	defer b.mu.Unlock()
	if last, ok := b.told[at.Directory]; ok {
		held, was = last, true
	}
	if now.broken != "" { // what the credentials are nobody knows
		now.keys = held.keys
	}
	b.told[at.Directory] = now
	if !was {
		return false, false
	}
	return held.loaded != now.loaded || held.broken != now.broken, !held.keys.Equal(now.keys)
}

// held is the stamp of what was last read of a directory, if anything was.
func (s *Harness) held(at workspace.Place) (stamp, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.dirs[at.Directory]
	if k == nil {
		return stamp{}, false
	}
	return stamp{loaded: k.loaded, keys: k.keys}, true
}

// stamp is that of the files as they are now.
func (s *Harness) stamp(at workspace.Place) stamp {
	k, err := s.ConfigFor(at)
	if err != nil {
		return stamp{broken: err.Error()}
	}
	return stamp{loaded: k.loaded, keys: k.keys}
}
