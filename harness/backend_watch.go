package harness

import (
	"time"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/workspace"
)

// configVersion is by what settings and credentials of a directory are known from others.
type configVersion struct {
	loaded *config.Loaded // one value for as long as no file of it changes
	broken string         // why they cannot be read
	keys   time.Time
}

// Changed reports what differs from when this was last asked. The first time it is held against what
// was read of the directory before: a client may have been told that.
func (b *backend) Changed(at workspace.Place) (settings, credentials bool) {
	held, was := b.setup.lastVersion(at)
	now := b.setup.currentVersion(at)
	b.mu.Lock()
	defer b.mu.Unlock()
	if last, ok := b.lastSeen[at.Directory]; ok {
		held, was = last, true
	}
	if now.broken != "" { // what the credentials are nobody knows
		now.keys = held.keys
	}
	b.lastSeen[at.Directory] = now
	if !was {
		return false, false
	}
	return held.loaded != now.loaded || held.broken != now.broken, !held.keys.Equal(now.keys)
}

// lastVersion is the stamp of what was last read of a directory, if anything was.
func (s *Harness) lastVersion(at workspace.Place) (configVersion, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.dirs[at.Directory]
	if k == nil {
		return configVersion{}, false
	}
	return configVersion{loaded: k.loaded, keys: k.keys}, true
}

// currentVersion is that of the files as they are now.
func (s *Harness) currentVersion(at workspace.Place) configVersion {
	k, err := s.ConfigFor(at)
	if err != nil {
		return configVersion{broken: err.Error()}
	}
	return configVersion{loaded: k.loaded, keys: k.keys}
}
