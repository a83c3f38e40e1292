package lsp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/sandbox"
)

// Options configure the servers of a process.
type Options struct {
	Runner *sandbox.Runner
	Env    []string
	// Confine returns the sandbox of a server.
	Confine func(Launch, Project) (sandbox.Profile, error)
	// Installed is the folder for servers that lathe installs.
	Installed string
	// Updated hears that the state of a server of a directory changed, Diagnosed that the errors of files did.
	Updated   func(dir string)
	Diagnosed func(dir, server string, paths []string)
	// Notice shows a message to the user.
	Notice func(title, text string)
	Log    *slog.Logger
	Idle   time.Duration // after which an unused server ends; 0 is 10 minutes
	Start  time.Duration // for the start of a server; 0 is 45 seconds
}

// defaultIdle is how long an unused server runs on.
const defaultIdle = 10 * time.Minute

// DefaultMemory is the limit of memory in bytes for each process of a server.
const DefaultMemory = 2 << 30

// memory is the limit that counts. RLIMIT_DATA applies it to each process, where a system has it.
func (c Config) memory() int64 {
	if c.Memory > 0 {
		return c.Memory
	}
	return DefaultMemory
}

// Servers are the language servers of a process: one for each root and kind.
type Servers struct {
	o      Options
	events *eventQueue
	group  sync.WaitGroup
	stop   context.CancelFunc
	alive  context.Context

	mu      sync.Mutex // guards the fields below
	all     map[string]*server
	missing map[string]time.Time // servers that could not be found, and when
	told    map[string]bool      // failures that a session knows of
	closed  bool
}

// Open returns an empty set. Nothing is looked for or started until a file changes.
func Open(o Options) *Servers {
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	if o.Start <= 0 {
		o.Start = startTime
	}
	if o.Updated == nil {
		o.Updated = func(string) {}
	}
	if o.Diagnosed == nil {
		o.Diagnosed = func(string, string, []string) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	v := &Servers{o: o, all: map[string]*server{}, missing: map[string]time.Time{}, told: map[string]bool{}}
	v.alive, v.stop = context.WithCancel(context.Background())
	v.events = &eventQueue{publish: o.Diagnosed}
	return v
}

// Close ends all servers and waits for them.
func (v *Servers) Close() error {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.stop()
	v.events.close()
	v.group.Wait()
	return nil
}

// notice shows a message to the user, where there is one.
func (v *Servers) notice(title, text string) {
	if v.o.Notice != nil {
		v.o.Notice(title, text)
	}
}

// retryMissing is how long a program that was not found is not looked for again.
const retryMissing = time.Minute

// serversFor returns the servers of a file, and creates those that do not exist. No program is started here.
func (v *Servers) serversFor(p Project, path string) (out []*server) {
	for _, d := range p.Config.Definitions() {
		if !d.Handles(path) {
			continue
		}
		root, ok := d.rootOf(p, path)
		if !ok {
			continue
		}
		if s := v.server(p, d, root); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// server returns the server of a root; nil if it cannot be started.
func (v *Servers) server(p Project, d Definition, root string) *server {
	key := fmt.Sprintf("%s\x00%s\x00%v\x00%q\x00%v", d.ID, root, p.Trusted, d.Command, p.Config.Memory)
	v.mu.Lock()
	s, at := v.all[key], v.missing[key]
	closed := v.closed
	v.mu.Unlock()
	if s != nil || closed || time.Since(at) < retryMissing {
		return s
	}
	l, err := d.launch(p, root, v.o.Env, v.o.Installed)
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.missing[key] = time.Now()
		if err != errNotFound {
			v.o.Log.Info("language server not used", "server", d.ID, "root", root, "reason", err)
		} else if p.Config.Install && d.Install != "" {
			v.install(d, key)
		}
		return nil
	}
	if s := v.all[key]; s != nil || v.closed {
		return s
	}
	s = &server{
		set: v, launch: l, project: p, work: make(chan func(context.Context), 256), lifetime: v.alive, state: Idle,
		docs: map[string]*document{}, told: map[string][]Diagnostic{}, owners: map[string]string{},
	}
	v.all[key] = s
	v.group.Go(s.run)
	return s
}

// running returns the servers of a project that exist.
func (v *Servers) running(p Project) (out []*server) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(v.all)) {
		if s := v.all[key]; p.contains(s.launch.Root) {
			out = append(out, s)
		}
	}
	return out
}

// Change tells the servers of the files about changes by a session, and starts those that do not run yet. It does
// not wait: see [Servers.Results].
func (v *Servers) Change(p Project, session string, changes []Change) {
	const most = 200 // a checkout of another branch changes more, and is not an edit
	if len(changes) > most {
		changes = changes[:most]
	}
	affected := map[*server]bool{}
	for _, ch := range changes {
		if !ch.Deleted {
			for _, s := range v.serversFor(p, ch.Path) {
				affected[s] = true
			}
		}
	}
	for _, s := range v.running(p) { // which want to hear of other files too, such as go.mod
		if s.current() != nil {
			affected[s] = true
		}
	}
	for s := range affected {
		var own []Change
		for _, ch := range changes {
			if rel, err := filepath.Rel(s.launch.Root, ch.Path); err == nil && !strings.HasPrefix(rel, "..") {
				own = append(own, ch)
			}
		}
		if len(own) > 0 {
			s.add(session, own)
		}
	}
}

// add queues changes.
func (s *server) add(session string, changes []Change) {
	b := &batch{session: session, changes: changes, began: time.Now(), sent: make(chan struct{})}
	s.mu.Lock()
	s.open = append(s.open, b)
	if len(s.open) > 100 { // a server that never answers
		s.open = slices.Delete(s.open, 0, 1)
	}
	s.mu.Unlock()
	if !s.post(func(ctx context.Context) { s.apply(ctx, b) }) {
		s.mu.Lock()
		b.err = fmt.Errorf("does not keep up with the changes")
		s.mu.Unlock()
		close(b.sent)
	}
}

// HasOpen reports whether a session has changes whose results were not reported.
func (v *Servers) HasOpen(session string) bool { return len(v.waiting(session)) > 0 }

// waiting returns the servers that owe a session results.
func (v *Servers) waiting(session string) (out []*server) {
	v.mu.Lock()
	all := slices.Collect(maps.Values(v.all))
	v.mu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		if slices.ContainsFunc(s.open, func(b *batch) bool { return b.session == session }) {
			out = append(out, s)
		}
		s.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b *server) int { return strings.Compare(a.launch.ID+a.launch.Root, b.launch.ID+b.launch.Root) })
	return out
}

// Forget drops what is known about a session.
func (v *Servers) Forget(session string) {
	for _, s := range v.waiting(session) {
		s.mu.Lock()
		s.open = slices.DeleteFunc(s.open, func(b *batch) bool { return b.session == session })
		s.mu.Unlock()
	}
}

// Status describes a server.
type Status struct {
	ID     string
	Root   string
	State  string
	Reason string // why it is off
	Memory int64  // bytes; 0 is unknown
	Errors int
}

// Status returns the servers of a project that were started.
func (v *Servers) Status(p Project) (out []Status) {
	for _, s := range v.running(p) {
		s.mu.Lock()
		one := Status{ID: s.launch.ID, Root: s.launch.Root, State: s.state, Reason: s.why}
		c := s.client
		s.mu.Unlock()
		if c != nil {
			one.Memory = c.service.Memory()
			for _, list := range c.errors() {
				one.Errors += len(list)
			}
		}
		out = append(out, one)
	}
	return out
}

// Fits reports whether a server is installed for the language of a project: one whose root marker is in its directory
// or at the top of its checkout. It looks at a few names and starts nothing.
func (v *Servers) Fits(p Project) bool {
	if len(v.running(p)) > 0 {
		return true
	}
	dirs := slices.Compact([]string{p.Directory, p.top()})
	for _, d := range p.Config.Definitions() {
		for _, dir := range dirs {
			if slices.ContainsFunc(d.Markers, func(group []string) bool { return hasAny(dir, group) }) && !hasAny(dir, d.Avoid) && len(d.find(p, dir, v.o.Env, v.o.Installed)) > 0 {
				if _, err := d.launch(p, dir, v.o.Env, v.o.Installed); err == nil {
					return true
				}
			}
		}
	}
	return false
}

// Available describes a server of the registry in a project, for `lathe debug lsp`.
type Available struct {
	ID         string
	Extensions []string
	Program    string // path; "" if it is not installed
	Reason     string // why it does not start here; "" if it does
	Executes   string
}

// Available lists all servers of the config, with their programs.
func (v *Servers) Available(p Project) (out []Available) {
	for _, d := range p.Config.Definitions() {
		one := Available{ID: d.ID, Extensions: d.Extensions, Executes: d.Executes}
		l, err := d.launch(p, p.Directory, v.o.Env, v.o.Installed)
		if err != nil {
			one.Reason = err.Error()
		}
		if len(l.Command) > 0 {
			one.Program = l.Command[0]
		} else if len(d.Command) > 0 {
			one.Program = environ.Find(v.o.Env, "/", d.Command[0])
		}
		out = append(out, one)
	}
	return out
}
