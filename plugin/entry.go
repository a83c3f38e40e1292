package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// kind is the runtime of a plugin.
type kind string

const (
	kindModule  kind = "module"  // a file or folder of JavaScript
	kindPackage kind = "package" // of the npm registry
	kindProgram kind = "program" // speaks the protocol itself
	kindTools   kind = "tools"   // a file of custom tools
)

// State is how a plugin is doing.
type State string

// The states of a plugin.
const (
	Waiting State = "waiting" // not used yet
	Loading State = "loading"
	Ready   State = "ready"
	Failed  State = "failed" // it could not be loaded
	Off     State = "off"    // it failed too often and is no longer called
)

// plugin is one plugin, or one file of tools.
type plugin struct {
	hub     *Hub
	index   int
	name    string // for people
	kind    kind
	spec    string // a path, a package, or the text as given
	command []string
	options json.RawMessage

	mu         sync.Mutex
	supervisor *supervisor // where it runs
	state      State
	reason     string // of Failed and Off
	offers     offer
	faults     int // in a row

	unsupported sync.Once // reported hooks that are not used
}

// newPlugin classifies an entry of the config by its runtime.
func newPlugin(c *Hub, index int, p Plugin, tools string) *plugin {
	m := &plugin{hub: c, index: index, name: p.Spec, spec: p.Spec, options: p.Options, state: Waiting, kind: kindPackage}
	switch {
	case tools != "":
		m.kind, m.name = kindTools, path.Base(filepath.ToSlash(tools))
	case len(p.Command) > 0:
		m.kind, m.command = kindProgram, p.Command
		m.name = cmp.Or(p.Spec, strings.Join(p.Command, " "))
	case isPath(p.Spec):
		m.spec = pathOf(c.opt.Dir, p.Spec)
		m.name = path.Base(filepath.ToSlash(m.spec))
		m.kind = kindProgram
		if info, err := os.Stat(m.spec); isScript(m.spec) || err == nil && info.IsDir() {
			m.kind = kindModule
		}
	}
	return m
}

func isPath(spec string) bool {
	return filepath.IsAbs(spec) || slices.ContainsFunc([]string{"/", "./", "../", `.\`, `..\`, "file:"}, func(p string) bool {
		return strings.HasPrefix(spec, p)
	})
}

func pathOf(dir, spec string) string {
	if u, err := url.Parse(spec); err == nil && u.Scheme == "file" {
		spec = filepath.FromSlash(u.Path)
		if len(spec) > 2 && spec[0] == '\\' && spec[2] == ':' { // file:///C:/x
			spec = spec[1:]
		}
	}
	if !filepath.IsAbs(spec) {
		spec = filepath.Join(dir, spec)
	}
	return filepath.Clean(spec)
}

// isScript reports whether a path is a file for the JavaScript host. A folder is one too, as a package
// that was not published.
func isScript(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		return true
	}
	return false
}

// has reports whether it would be called for a hook. One that could not be loaded would not.
func (m *plugin) has(hook string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state != Off && m.state != Failed && slices.Contains(m.offers.Hooks, hook)
}

// set changes its state where it may: what is off stays off.
func (m *plugin) set(s State, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != Off {
		m.state, m.reason = s, reason
	}
}

func (m *plugin) stateNow() (State, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, m.reason
}

// isOut reports whether it is not called any more: it could not be loaded, or is off.
func (m *plugin) isOut() bool {
	s, _ := m.stateNow()
	return s == Off || s == Failed
}

// process is where it runs now.
func (m *plugin) process() *supervisor {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.supervisor
}

// ready returns its process, started if need be.
func (m *plugin) ready(ctx context.Context) (*process, error) {
	for {
		l, err := m.process().ready(ctx)
		if !errors.Is(err, errSplit) || pause(ctx, time.Millisecond) != nil { // which is when it has its new one
			return l, err
		}
	}
}

// Status is how a plugin is doing, for people.
type Status struct {
	Name     string   `json:"name"`
	Spec     string   `json:"spec"`
	Kind     string   `json:"kind"` // module, package, program or tools
	State    State    `json:"state"`
	Reason   string   `json:"reason,omitempty"`
	Hooks    []string `json:"hooks,omitempty"`
	Tools    []string `json:"tools,omitempty"`
	Auth     string   `json:"auth,omitempty"`     // the provider it offers logins for
	Provider string   `json:"provider,omitempty"` // the provider it offers models for
	Faults   int      `json:"faults,omitempty"`   // in a row: timeouts, crashes, invalid answers
	Restarts int      `json:"restarts,omitempty"` // of its process
	Process  string   `json:"process"`            // which it may share with others
	Stderr   string   `json:"stderr,omitempty"`   // the end of its output there
	Skipped  int      `json:"skipped,omitempty"`  // lines of its process that were no message
	Dropped  int      `json:"dropped,omitempty"`  // events and log lines beyond the limit
}

// Status returns the state of all plugins, in load order. It starts nothing.
func (c *Hub) Status() []Status {
	out := make([]Status, 0, len(c.members))
	for _, m := range c.members {
		s := Status{Name: m.name, Spec: m.spec, Kind: string(m.kind)}
		m.mu.Lock()
		s.State, s.Reason, s.Auth, s.Provider, s.Faults = m.state, m.reason, m.offers.Auth, m.offers.Provider, m.faults
		s.Hooks = slices.Clone(m.offers.Hooks)
		for _, t := range m.offers.Tools {
			s.Tools = append(s.Tools, t.ID)
		}
		m.mu.Unlock()
		m.process().describe(&s)
		out = append(out, s)
	}
	return out
}
