package config

import (
	"reflect"
	"slices"
	"sync"
)

// Loader keeps the settings of directories and reads them anew when a file has changed.
type Loader struct {
	mu   sync.Mutex // guards held
	held map[string]held
}

type held struct {
	basis  *basis
	loaded *Loaded
	err    error
}

// NewLoader returns a loader that holds nothing.
func NewLoader() *Loader { return &Loader{held: map[string]held{}} }

// Load returns the settings as they are now. Call it at the start of each step: looking
// whether a file has changed costs a few dozen stats, reading them some milliseconds.
// fresh reports whether they were read anew.
func (l *Loader) Load(o Options) (loaded *Loaded, fresh bool, err error) {
	l.mu.Lock()
	h, ok := l.held[o.Directory]
	l.mu.Unlock()
	if ok && h.basis.holds(o) {
		return h.loaded, false, h.err
	}
	loaded, basis, err := load(o)
	if ok && err == nil && h.err == nil && reflect.DeepEqual(loaded, h.loaded) {
		loaded = h.loaded // one value for as long as it says the same: others hold what they made of it
	}
	l.mu.Lock()
	l.held[o.Directory] = held{basis, loaded, err}
	l.mu.Unlock()
	return loaded, true, err
}

// Forget lets go of a directory.
func (l *Loader) Forget(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, dir)
}

// basis is all that settings were made of: where to look, and every file, variable and
// decision that was looked at.
type basis struct {
	options Options
	disk    *disk
	env     map[string]answer
	trust   []verdict
}

type answer struct {
	value string
	set   bool
}

type verdict struct {
	root, digest string
	trusted      bool
}

// watched are the options, with what is asked of them written down.
func (b *basis) watched() Options {
	o := b.options
	if env := o.Env; env != nil {
		o.Env = func(name string) (string, bool) {
			value, set := env(name)
			b.env[name] = answer{value, set}
			return value, set
		}
	}
	if trusted := o.Trusted; trusted != nil {
		o.Trusted = func(root, digest string) bool {
			v := verdict{root, digest, trusted(root, digest)}
			b.trust = append(b.trust, v)
			return v.trusted
		}
	}
	return o
}

// holds reports whether settings for these options would be the same. It only reads the
// basis, so that many may ask at once.
func (b *basis) holds(o Options) bool {
	was := b.options
	if o.Directory != was.Directory || o.Worktree != was.Worktree || o.Home != was.Home || o.UserDir != was.UserDir ||
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
