package config

import (
	"reflect"
	"slices"
	"sync"
)

// Loader caches the config of directories and reads it again after a change.
type Loader struct {
	mu   sync.Mutex // guards held
	held map[string]held
}

type held struct {
	basis  *basis
	loaded *Loaded
	err    error
}

// NewLoader returns an empty loader.
func NewLoader() *Loader { return &Loader{held: map[string]held{}} }

// Load returns the current config. Call it at the start of each step: checking for changes
// costs a few dozen stats, reading takes some milliseconds. fresh reports whether it was read.
func (l *Loader) Load(o Options) (loaded *Loaded, fresh bool, err error) {
	l.mu.Lock()
	h, ok := l.held[o.Directory]
	l.mu.Unlock()
	if ok && h.basis.holds(o) {
		return h.loaded, false, h.err
	}
	loaded, basis, err := load(o)
	if ok && err == nil && h.err == nil && reflect.DeepEqual(loaded, h.loaded) {
		loaded = h.loaded // the same pointer while nothing changes, since callers cache derived values
	}
	l.mu.Lock()
	l.held[o.Directory] = held{basis, loaded, err}
	l.mu.Unlock()
	return loaded, true, err
}

// Forget drops a directory from the cache.
func (l *Loader) Forget(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, dir)
}

// basis records the inputs of a loaded config: the options, and every file, variable and
// trust decision that was read.
type basis struct {
	options Options
	disk    *fileReader
	env     map[string]envValue
	trust   []trustDecision
}

type envValue struct {
	value string
	set   bool
}

type trustDecision struct {
	root, digest string
	trusted      bool
}

// watched returns the options with recording of every lookup.
func (b *basis) watched() Options {
	o := b.options
	if env := o.Env; env != nil {
		o.Env = func(name string) (string, bool) {
			value, set := env(name)
			b.env[name] = envValue{value, set}
			return value, set
		}
	}
	if trusted := o.Trusted; trusted != nil {
		o.Trusted = func(root, digest string) bool {
			v := trustDecision{root, digest, trusted(root, digest)}
			b.trust = append(b.trust, v)
			return v.trusted
		}
	}
	return o
}

// holds reports whether loading with these options would give the same result. It only reads
// the basis, so that concurrent calls are safe.
func (b *basis) holds(o Options) bool {
	was := b.options
	if o.Directory != was.Directory || o.Worktree != was.Worktree || o.TrustAs != was.TrustAs || o.Home != was.Home || o.UserDir != was.UserDir ||
		!slices.Equal(o.Managed, was.Managed) || !slices.Equal(o.Skills, was.Skills) || o.FromPlugins != was.FromPlugins || (o.Managed == nil) != (was.Managed == nil) ||
		(o.Env == nil) != (was.Env == nil) || (o.Trusted == nil) != (was.Trusted == nil) {
		return false
	}
	for name, was := range b.env {
		if value, set := o.Env(name); value != was.value || set != was.set {
			return false
		}
	}
	for _, v := range b.trust {
		if o.Trusted(v.root, v.digest) != v.trusted {
			return false
		}
	}
	return b.disk.unchanged()
}
