package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
)

// Limits of a plugin's offers.
const (
	maxHooks       = 64
	maxTools       = 256
	maxDescription = 64 << 10
	maxSchema      = 256 << 10
)

// toolID matches the tool names that model providers accept.
var toolID = phrase.Regexp(`^[A-Za-z0-9_-]{1,64}$`)

// command is the program to start for a peer.
func (p *supervisor) command() (sandbox.Command, error) {
	o := p.hub.opt
	c := sandbox.Command{Dir: o.Dir, Env: o.Env}
	var err error
	switch m := p.plugins[0]; {
	case m.kind != kindProgram:
		c.Path, c.Args, err = p.hub.hostCommand()
	case len(m.command) > 0:
		c.Path, err = lookPath(o.Dir, o.Env, m.command[0])
		c.Args = m.command[1:]
	default:
		c.Path, err = executable(m.spec)
	}
	if err == nil && o.Confine != nil {
		c.Profile, err = o.Confine()
	}
	return c, err
}

// executable checks that a path can be started, and says what to do where it cannot.
func executable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder without a package.json", path)
	case info.Mode().Perm()&0o111 == 0 && runtime.GOOS != "windows":
		return "", fmt.Errorf("%s is neither JavaScript nor executable: chmod +x it, or give the words of a command", path)
	}
	return path, nil
}

// offer lists the hooks and tools of a plugin.
type offer struct {
	Name     string   `json:"name"` // optional; a wrong one is an error
	Hooks    []string `json:"hooks"`
	Tools    []Tool   `json:"tools"`
	Auth     string   `json:"auth"`     // the provider it has logins for
	Provider string   `json:"provider"` // the provider it has models for
}

// loadProgram brings a program to life, which is a member by itself.
func (l *process) loadProgram(ctx context.Context, m *plugin) (culprit *plugin, err error) {
	m.set(Loading, "")
	data, err := l.within(ctx, "initialize", l.greeting().raw("options", m.options).done())
	if err == nil {
		err = m.take(data)
	}
	if err != nil {
		return m, err
	}
	return nil, nil
}

// load brings the members of a process that has just started to life.
func (l *process) load(ctx context.Context) (culprit *plugin, err error) {
	p := l.supervisor
	if m := p.plugins[0]; m.kind == kindProgram {
		return l.loadProgram(ctx, m)
	}
	support, err := p.hub.provided()
	if err != nil {
		return nil, err
	}
	if _, err := l.within(ctx, "initialize", l.greeting().raw("support", support).done()); err != nil {
		return nil, fmt.Errorf("start the JavaScript host: %w", err)
	}
	packages := p.packages(ctx)
	for _, m := range p.plugins {
		if m.isOut() {
			continue
		}
		m.set(Loading, "")
		if err := l.module(ctx, m, packages[m]); err != nil {
			if name := missing(err); name != "" && p.hub.provide(ctx, name) {
				return nil, errAgain
			}
			if l.alive() {
				p.fail(m, err)
				continue
			}
			return m, err
		}
	}
	if !p.anyLeft() {
		return nil, errPointless
	}
	return nil, nil
}

// fetched is a package in the cache, or why it is not there.
type fetched struct {
	dir string
	err error
}

// packages installs what the members need, all at once.
func (p *supervisor) packages(ctx context.Context) map[*plugin]fetched {
	var mu sync.Mutex
	var all sync.WaitGroup
	out := map[*plugin]fetched{}
	for _, m := range p.plugins {
		if m.kind != kindPackage || m.isOut() {
			continue
		}
		all.Go(func() {
			dir, err := p.hub.install(ctx, m.spec)
			mu.Lock()
			defer mu.Unlock()
			out[m] = fetched{dir, err}
		})
	}
	all.Wait()
	return out
}

// module loads one plugin, or one file of tools, into the JavaScript host.
func (l *process) module(ctx context.Context, m *plugin, pkg fetched) error {
	path := m.spec
	if m.kind == kindPackage {
		if pkg.err != nil {
			return pkg.err
		}
		path = pkg.dir
	}
	o := (&object{}).num("plugin", m.index).str("kind", string(m.kind)).str("path", path)
	data, err := l.within(ctx, "load", o.raw("options", m.options).done())
	if err != nil {
		return err
	}
	return m.take(data)
}

// greeting is the first message to every process.
func (l *process) greeting() *object {
	o := l.supervisor.hub.opt
	project := o.Project
	if len(project) == 0 {
		project = json.RawMessage("{}")
	}
	return (&object{}).num("protocol", Protocol).str("directory", o.Dir).str("worktree", o.Worktree).
		raw("project", project).str("serverUrl", o.ServerURL)
}

// within is a call that must be answered in the time for loading.
func (l *process) within(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	limit := l.supervisor.hub.opt.Timeouts.Load
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was not ready within %s", limit))
	defer cancel()
	return l.conn.Call(ctx, method, params)
}

// alive asks whether the process still answers after something failed in it.
func (l *process) alive() bool {
	ctx, cancel := context.WithTimeout(l.life, l.supervisor.hub.opt.Timeouts.Probe)
	defer cancel()
	_, err := l.conn.Call(ctx, "ping", nil)
	var answer *jsonrpc.Error
	return err == nil || errors.As(err, &answer)
}

// take checks what a plugin says it has, and keeps it.
func (m *plugin) take(data json.RawMessage) error {
	var o offer
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("its answer to initialize is not what the protocol says: %w", err)
	}
	if len(o.Hooks) > maxHooks || len(o.Tools) > maxTools {
		return fmt.Errorf("it offers %d hooks and %d tools; at most %d and %d are taken", len(o.Hooks), len(o.Tools), maxHooks, maxTools)
	}
	for i := range o.Tools {
		t := &o.Tools[i]
		var schema map[string]json.RawMessage
		if len(t.Schema) == 0 {
			t.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		switch {
		case !toolID().MatchString(t.ID):
			return fmt.Errorf("%.80q cannot be the name of a tool: at most 64 letters, digits, _ and -", t.ID)
		case len(t.Description) > maxDescription || len(t.Schema) > maxSchema:
			return fmt.Errorf("the description or the schema of the tool %s is too long", t.ID)
		case json.Unmarshal(t.Schema, &schema) != nil:
			return fmt.Errorf("the schema of the tool %s is not an object", t.ID)
		}
		t.Plugin = m.name
	}
	m.mu.Lock()
	m.offers = o
	if m.state != Off {
		m.state, m.reason = Ready, ""
	}
	m.mu.Unlock()
	m.sayUnsupported(o)
	return nil
}

// sayUnsupported reports once that a plugin brings logins or models: lathe does not use them,
// and users would look for the error elsewhere.
func (m *plugin) sayUnsupported(o offer) {
	var brings []string
	if o.Auth != "" {
		brings = append(brings, "logins for "+o.Auth+" (hook auth)")
	}
	if o.Provider != "" {
		brings = append(brings, "models of "+o.Provider+" (hook provider)")
	}
	if len(brings) == 0 {
		return
	}
	m.unsupported.Do(func() {
		text := "The plugin " + m.name + " brings " + strings.Join(brings, " and ") + ", which lathe does not support. " +
			"Log in with `lathe auth login`, or describe the provider in the setting provider."
		m.hub.opt.Log.Warn("a plugin has hooks that are not supported", "plugin", m.name, "auth", o.Auth, "provider", o.Provider)
		m.hub.opt.Publish(&lathe.TUIToast{Title: "Plugins", Message: text, Variant: "warning", Duration: 10000})
	})
}

// lookPath finds a program by the PATH of an environment, which need not be ours.
func lookPath(dir string, env []string, name string) (string, error) {
	if filepath.Base(name) != name {
		return executable(pathOf(dir, name))
	}
	if path := environ.Find(env, "", name); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("%s is not installed, or not on the PATH", name)
}
