package harness

import (
	"time"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/workspace"
)

// configVersion identifies one state of a directory's config and credentials.
type configVersion struct {
	loaded *config.Loaded // the same pointer until a file changes
	broken string         // the error if the config cannot be read
	keys   time.Time
}

// Changed reports whether config and credentials changed since the last call. The first call compares with the config
// last read, because a client may have seen that one.
func (b *backend) Changed(at workspace.Place) (settings, credentials bool) {
	held, was := b.setup.lastVersion(at)
	now := b.setup.currentVersion(at)
	b.mu.Lock()
	defer b.mu.Unlock()
	if last, ok := b.lastSeen[at.Directory]; ok {
		held, was = last, true
	}
	if now.broken != "" { // the credentials are unknown then
		now.keys = held.keys
	}
	b.lastSeen[at.Directory] = now
	if !was {
		return false, false
	}
	return held.loaded != now.loaded || held.broken != now.broken, !held.keys.Equal(now.keys)
}

// lastVersion returns the version of a directory's config that was last read, if any was.
func (s *Harness) lastVersion(at workspace.Place) (configVersion, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.dirs[at.Directory]
	if k == nil {
		return configVersion{}, false
	}
	return configVersion{loaded: k.loaded, keys: k.keys}, true
}

// currentVersion reads the config of a directory and returns its version.
func (s *Harness) currentVersion(at workspace.Place) configVersion {
	k, err := s.ConfigFor(at)
	if err != nil {
		return configVersion{broken: err.Error()}
	}
	return configVersion{loaded: k.loaded, keys: k.keys}
}
